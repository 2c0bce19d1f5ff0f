//! A serial node: one thread at a time takes its baton and serves the cells that are ready (rules 5 to 7).

use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{Arc, Ordering, fence};
use anabranch_record::{Baton, Word};

use super::node::{Poked, SerialNode};
use super::quantum::{Quantum, Served};
use crate::engine::state::site::Site;

// This mutant takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_LOOK_AFTER_SERVE: Mutant = Mutant("no_look_after_serve");

/// The code of a serial node.
pub(crate) trait Serving: Sync {
    /// The state that only the holder of the baton touches.
    type State;
    /// Whether a serving may block, so that a worker that is alone looks for other work before it serves (rule 16).
    const MAY_BLOCK: bool = false;
    /// Whether a serving counts its cells itself.
    const COUNTS_CELLS: bool = false;

    fn site(&self) -> &Site;

    /// Takes cells until none is ready, the quantum is used up, or the stream stops here.
    fn serve(&self, state: &mut Self::State, quantum: &mut Quantum) -> Served;

    /// Whether a serving would find something to do. Only looks.
    fn has_work(&self) -> bool;

    /// Whether a serving needs room, which other threads make.
    fn needs_room(&self) -> bool;

    /// How many cells were taken.
    fn cells(&self) -> u64;

    /// Whether the cell that closed the node was an item too.
    fn is_closed_by_an_item(&self) -> bool {
        false
    }

    /// How many indices were given, if that differs from the number that was taken.
    fn given(&self) -> Option<u64> {
        None
    }
}

/// A serial node with its baton.
pub(crate) struct ServedNode<C: Serving> {
    baton: Baton<C::State>,
    code: C,
}

impl<C: Serving> ServedNode<C> {
    pub(crate) fn new(code: C, state: C::State) -> Self {
        Self { baton: Baton::new(state), code }
    }

    /// Like [`new`](Self::new), if other nodes have got the word of the baton already.
    pub(crate) fn with_word(code: C, state: C::State, word: Arc<Word>) -> Self {
        Self { baton: Baton::with_word(word, state), code }
    }
}

impl<C: Serving<State: Send>> SerialNode for ServedNode<C> {
    fn poke(&self, elsewhere: &dyn Fn() -> bool) -> Poked {
        let Some(mut held) = self.baton.try_acquire() else { return Poked::Elsewhere };
        let site = self.code.site();
        let _entered = site.enter();
        let mut has_other_work = false;
        if C::MAY_BLOCK {
            // As in the poke of a source (rule 16).
            fence(Ordering::SeqCst);
            has_other_work = site.is_alone() && elsewhere();
        }
        let mut quantum = Quantum::begin(site);
        let mut looks = false;
        loop {
            let served =
                if has_other_work { Served::Quantum } else { self.code.serve(held.state(), &mut quantum) };
            match served {
                Served::Drained => match held.release() {
                    Some(again) => held = again,
                    None => break,
                },
                Served::Quantum => {
                    held.let_go();
                    looks = !NO_LOOK_AFTER_SERVE.is_on();
                    break;
                }
                Served::Closed => {
                    quantum.closed = true;
                    held.close();
                    return quantum.end(site, C::COUNTS_CELLS);
                }
            }
        }
        if self.code.needs_room() {
            // A thread that made room while this thread held the baton has woken nobody, so this thread looks
            // again (rule 7).
            fence(Ordering::SeqCst);
            looks = true;
        }
        if looks && self.is_ready() {
            site.run.event.notify();
        }
        quantum.end(site, C::COUNTS_CELLS)
    }

    fn is_ready(&self) -> bool {
        self.baton.word().is_free() && self.code.has_work()
    }

    fn is_held(&self) -> bool {
        let word = self.baton.word();
        !word.is_free() && !word.is_closed()
    }

    fn taken(&self) -> u64 {
        // The cell that closed the node is mostly not an item.
        let is_extra = self.baton.word().is_closed() && !self.code.is_closed_by_an_item();
        self.code.cells().saturating_sub(u64::from(is_extra))
    }

    fn given(&self) -> u64 {
        self.code.given().unwrap_or_else(|| self.taken())
    }

    fn mean_ns(&self) -> u64 {
        0
    }
}
