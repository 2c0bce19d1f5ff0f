//! How much is under way on a line, and how much should be.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

/// A measured rate is kept for at least so long, and for so many round trips.
const MEMORY: Duration = Duration::from_secs(1);
const MEMORY_TRIPS: u32 = 8;

/// Measures the rate at which something arrives, and the shortest time that it was under way.
///
/// The rate of one arrival is what has arrived since it was sent, divided by the time since then, as in BBR
/// (<https://datatracker.ietf.org/doc/html/draft-cardwell-iccrg-bbr-congestion-control>). The greatest one of the last round trips
/// is that of the narrowest place of the line.
#[derive(Debug)]
pub(crate) struct Meter {
    arrived: f64,
    shortest: Option<Duration>,
    /// The greatest rate before `since`, and after.
    rates: [f64; 2],
    since: Instant,
}

/// The moment at which something was sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    at: Instant,
    arrived: f64,
}

impl Meter {
    pub(crate) fn new() -> Self {
        Self { arrived: 0.0, shortest: None, rates: [0.0; 2], since: Instant::now() }
    }

    pub(crate) fn sent(&self) -> Mark {
        Mark { at: Instant::now(), arrived: self.arrived }
    }

    /// `is_limited` says that less was under way than could have been, so that the line may be quicker than what is measured.
    pub(crate) fn arrived(&mut self, mark: Mark, amount: f64, is_limited: bool) {
        self.arrived += amount;
        let time = mark.at.elapsed().max(Duration::from_micros(1));
        let shortest = self.shortest.map_or(time, |shortest| shortest.min(time));
        self.shortest = Some(shortest);
        if self.since.elapsed() > MEMORY.max(shortest * MEMORY_TRIPS) && !is_limited {
            self.rates = [self.rates[1], 0.0];
            self.since = Instant::now();
        }
        let rate = (self.arrived - mark.arrived) / time.as_secs_f64();
        self.rates[1] = self.rates[1].max(rate);
    }

    /// The bytes that arrive in a second. Zero if nothing is known.
    pub(crate) fn rate(&self) -> f64 {
        self.rates[0].max(self.rates[1])
    }

    /// The shortest time that anything was under way.
    pub(crate) fn shortest(&self) -> Option<Duration> {
        self.shortest
    }
}

/// How long bytes may wait on a line for those before them. It keeps the line busy, and what is sent next prompt.
const SPARE: Duration = Duration::from_millis(250);

/// The bounds of what may be under way, in bytes.
const LEAST: usize = 128 << 10;
const MOST: usize = 8 << 20;

/// The bytes that may be under way on a line so quick that they are more than [`TRIPS`] round trips carry.
const QUICK: usize = 2 << 20;
const TRIPS: f64 = 4.0;

/// The bytes under way before anything is known.
const FIRST: usize = 256 << 10;

/// Bounds the bytes that are under way on a line: no more than the line carries in one round trip and [`SPARE`]. Its clones are the
/// same flow.
#[derive(Debug, Clone)]
pub(crate) struct Flow(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    meter: Meter,
    under_way: usize,
    /// The senders that wait for their turn, by the numbers of their calls, and how many bytes they have.
    waiting: BTreeMap<(u64, u64), (usize, oneshot::Sender<Pass>)>,
    next: u64,
}

/// Whether a line with this window is quick: it carries much, and its trips are so short that it needs no larger window.
pub(super) fn is_quick(window: usize) -> bool {
    window == QUICK
}

impl State {
    fn window(&self) -> usize {
        let Some(shortest) = self.meter.shortest() else { return FIRST };
        let rate = self.meter.rate();
        // A quick line needs no more than a few round trips, and less memory.
        let most = ((rate * TRIPS * shortest.as_secs_f64()) as usize).clamp(QUICK, MOST);
        ((rate * (shortest + SPARE).as_secs_f64()) as usize).clamp(LEAST, most)
    }

    fn has_room(&self, bytes: usize) -> bool {
        self.under_way == 0 || self.under_way + bytes <= self.window()
    }
}

/// Bytes that are under way until this is dropped.
#[derive(Debug)]
pub(crate) struct Pass {
    flow: Flow,
    bytes: usize,
    mark: Mark,
    /// How many bytes have arrived.
    arrived: Option<usize>,
}

impl Flow {
    pub(crate) fn new() -> Self {
        let state = State { meter: Meter::new(), under_way: 0, waiting: BTreeMap::new(), next: 0 };
        Self(Arc::new(Mutex::new(state)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many bytes may be under way.
    pub(crate) fn window(&self) -> usize {
        self.state().window()
    }

    /// The shortest time that bytes were under way, or zero if nothing is known.
    pub(crate) fn shortest(&self) -> Duration {
        self.state().meter.shortest().unwrap_or_default()
    }

    /// Sends bytes now, if there is room for them.
    pub(crate) fn try_enter(&self, bytes: usize) -> Option<Pass> {
        let mut state = self.state();
        (state.waiting.is_empty() && state.has_room(bytes)).then(|| self.pass(&mut state, bytes))
    }

    /// A number for something that consists of several parts. A sender with an earlier number passes first.
    pub(crate) fn number(&self) -> u64 {
        let mut state = self.state();
        state.next += 1;
        state.next
    }

    /// Waits until there is room for bytes of what has this number.
    pub(crate) async fn enter(&self, number: u64, bytes: usize) -> Pass {
        let turn = {
            let mut state = self.state();
            if state.waiting.is_empty() && state.has_room(bytes) {
                return self.pass(&mut state, bytes);
            }
            let (give, turn) = oneshot::channel();
            state.next += 1;
            let key = (number, state.next);
            state.waiting.insert(key, (bytes, give));
            turn
        };
        turn.await.expect("a flow that has something under way serves those that wait")
    }

    fn pass(&self, state: &mut State, bytes: usize) -> Pass {
        state.under_way += bytes;
        Pass { flow: self.clone(), bytes, mark: state.meter.sent(), arrived: None }
    }

    /// Lets those go on for whom there is room now.
    fn serve(&self) {
        loop {
            let (give, pass) = {
                let mut state = self.state();
                let Some((_, &(bytes, _))) = state.waiting.first_key_value() else { return };
                if !state.has_room(bytes) {
                    return;
                }
                let Some((_, (bytes, give))) = state.waiting.pop_first() else { return };
                let pass = self.pass(&mut state, bytes);
                (give, pass)
            };
            // If nobody waits any more, the pass is dropped here, which serves the next one.
            drop(give.send(pass));
        }
    }
}

impl Pass {
    /// The bytes have arrived.
    pub(crate) fn arrived(self) {
        let bytes = self.bytes;
        self.arrived_as(bytes);
    }

    /// The bytes have arrived, and are so many.
    pub(crate) fn arrived_as(mut self, bytes: usize) {
        self.arrived = Some(bytes);
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        {
            let mut state = self.flow.state();
            if let Some(bytes) = self.arrived {
                // A message that took long had to wait for others, so the line carries no more.
                let was_quick =
                    self.mark.at.elapsed() < 2 * state.meter.shortest().unwrap_or_default() + SPARE;
                let is_limited =
                    was_quick && state.waiting.is_empty() && state.under_way < state.window() / 2;
                state.meter.arrived(self.mark, bytes as f64, is_limited);
            }
            state.under_way -= self.bytes;
        }
        self.flow.serve();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_are_given_in_order_and_one_that_nobody_takes_is_given_to_the_next() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let flow = Flow::new();
            // More than the window, but nothing else is under way.
            let first = flow.enter(0, 2 * MOST).await;
            assert!(flow.try_enter(1).is_none());
            let given_up = tokio::spawn({
                let flow = flow.clone();
                async move { flow.enter(1, MOST).await }
            });
            tokio::task::yield_now().await;
            let second = tokio::spawn({
                let flow = flow.clone();
                async move { flow.enter(2, MOST).await.bytes }
            });
            tokio::task::yield_now().await;
            given_up.abort();
            tokio::task::yield_now().await;
            drop(first);
            assert_eq!(second.await.unwrap(), MOST);
            assert_eq!(flow.state().under_way, 0);
        });
    }

    #[test]
    fn a_rate_that_was_too_great_is_forgotten_when_bytes_take_long() {
        let flow = Flow::new();
        flow.try_enter(LEAST).unwrap().arrived();
        assert_eq!(flow.window(), QUICK);
        let late = |flow: &Flow, age: Duration| {
            let mut pass = flow.try_enter(1_000).unwrap();
            let past = Instant::now().checked_sub(age).unwrap();
            pass.mark.at = past;
            flow.state().meter.since = past;
            pass.arrived();
        };
        late(&flow, 2 * MEMORY);
        late(&flow, 2 * MEMORY);
        assert_eq!(flow.window(), LEAST);
    }

    #[test]
    fn a_quick_line_has_more_under_way() {
        let flow = Flow::new();
        let before = flow.window();
        flow.try_enter(before).unwrap().arrived();
        assert!(flow.window() > before);
    }
}
