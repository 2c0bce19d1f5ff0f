//! The common part of the scanners of all formats. A scanner takes the bytes of a file as they come, holds some until
//! there are enough, goes back over some of them, and gives out the data that it has decoded, also before it fails.
//!
//! A scanner has a [`Feed`] and is a state machine ([`States`]); [`next`] and [`finish`] run it.

use std::mem;

use crate::behind::{Beginning, Search};
use crate::damage::{Damage, DecodeError, Fault, Remedy};
use crate::parts::{Giving, Scanned};

/// The bytes on their way into a scanner, and the data on its way out.
#[derive(Debug)]
pub(crate) struct Feed<E> {
    /// The offset in the file of the first byte that is not yet processed.
    pub(crate) offset: u64,
    /// Bytes from `offset` on that are kept until more of the file has come.
    pub(crate) held: Vec<u8>,
    /// Bytes that are read again before any other input, and the index of the first of them.
    again: (Vec<u8>, usize),
    /// The index in `again` from which the bytes are to be read once more.
    back_to: Option<usize>,
    /// Decoded data that was not yet given out, and its length in bytes.
    pub(crate) chunk: Vec<u8>,
    pub(crate) filled: usize,
    /// The error to return once the rest of the data was given out.
    failed: Option<E>,
    /// The error of bytes behind the last part, returned when the file ends, and the search for another part among
    /// them.
    behind: Option<(E, Search)>,
    pub(crate) giving: Giving,
}

/// The result of a step of a scanner.
pub(crate) enum Step<F> {
    Found(F),
    /// The step is done; go on with the next one.
    On,
    /// All of the input was taken, and more is needed.
    Starved,
}

/// A scanner as a state machine.
pub(crate) trait States {
    /// An item that the scanner finds.
    type Found;
    type Fault: Fault;

    /// The bytes with which any part begins that can follow another one.
    const BEGINNING: Beginning;

    /// Whether data is given out when the input runs out, even if [`Giving::prompt`] is not set.
    const IS_EAGER: bool = false;

    /// Whether the chunk that was being filled is dropped at an error, if [`Giving::verified`] is set.
    const WITHHOLDS: bool = false;

    fn feed(&mut self) -> &mut Feed<DecodeError<Self::Fault>>;

    /// Takes a step through `input`. It may use the allocation of `data`.
    fn step(
        &mut self,
        input: &mut &[u8],
        data: &mut Vec<u8>,
    ) -> Result<Step<Self::Found>, DecodeError<Self::Fault>>;

    /// Ends the scanner: nothing is found from here on.
    fn end(&mut self);

    /// Gives out the chunk in `data`, if it has any bytes that are not known to be wrong.
    fn give_rest(&mut self, data: &mut Vec<u8>) -> Option<Self::Found>;

    /// Called where the file ends and nothing more was found. Interprets the held bytes as something else, if that is
    /// possible; if they are the start of a part that was cut, lets it be decoded as it comes.
    fn reconsider(&mut self, _data: &mut Vec<u8>) -> Result<Step<Self::Found>, DecodeError<Self::Fault>> {
        Ok(Step::Starved)
    }

    /// Called where the input pauses: lets a held part be decoded as it comes, if some of its contents are useful
    /// before it is complete.
    fn pause(&mut self) -> Result<(), DecodeError<Self::Fault>> {
        Ok(())
    }

    /// Returns the error of a file that ends here, if it must not.
    fn cut(&mut self) -> Option<DecodeError<Self::Fault>>;
}

/// Goes on through `input`, and then without input. See [`Scan::next`](crate::parts::Scan::next).
pub(crate) fn next<S: States>(
    scanner: &mut S,
    input: &mut &[u8],
    data: &mut Vec<u8>,
) -> Result<Option<S::Found>, DecodeError<S::Fault>> {
    if let Some(error) = scanner.feed().failed.take() {
        return Err(error);
    }
    if scanner.feed().behind.is_some() {
        return look_behind(scanner, input).map(|()| None);
    }
    loop {
        let step = match scanner.feed().is_replaying() {
            true => step_again(scanner, data),
            false => scanner.step(input, data),
        };
        match step {
            Ok(Step::Found(found)) => return Ok(Some(found)),
            Ok(Step::On) => {}
            Ok(Step::Starved) if S::IS_EAGER || scanner.feed().giving.prompt => {
                return Ok(scanner.give_rest(data));
            }
            Ok(Step::Starved) => return Ok(None),
            Err(error) => {
                scanner.end();
                let is_behind = error.remedy() == Remedy::Ignore;
                if S::WITHHOLDS && scanner.feed().giving.verified {
                    scanner.feed().filled = 0;
                }
                // The data decoded before the error comes first.
                let rest = scanner.give_rest(data);
                if is_behind {
                    let feed = scanner.feed();
                    feed.behind = Some((error, Search::at(feed.offset)));
                } else if rest.is_some() {
                    scanner.feed().failed = Some(error);
                } else {
                    return Err(error);
                }
                return match rest {
                    Some(rest) => Ok(Some(rest)),
                    None => look_behind(scanner, input).map(|()| None),
                };
            }
        }
    }
}

/// Goes on through the bytes behind the last part, and fails if another part begins in them.
fn look_behind<S: States>(scanner: &mut S, input: &mut &[u8]) -> Result<(), DecodeError<S::Fault>> {
    let feed = scanner.feed();
    let Some((_, search)) = &mut feed.behind else { return Ok(()) };
    let held = mem::take(&mut feed.held);
    let (again, from) = mem::take(&mut feed.again);
    let found = [&held[..], &again[from..], mem::take(input)]
        .into_iter()
        .find_map(|bytes| search.look(bytes, &S::BEGINNING));
    match found.zip(feed.behind.take_if(|_| found.is_some())) {
        Some((at, (error, _))) => Err(error.hiding(at)),
        None => Ok(()),
    }
}

/// Takes one step through the bytes that are read again.
fn step_again<S: States>(
    scanner: &mut S,
    data: &mut Vec<u8>,
) -> Result<Step<S::Found>, DecodeError<S::Fault>> {
    let (again, from) = mem::take(&mut scanner.feed().again);
    let mut rest = &again[from..];
    let step = scanner.step(&mut rest, data);
    let from = again.len() - rest.len();
    let feed = scanner.feed();
    let from = feed.back_to.take().unwrap_or(from);
    match feed.is_replaying() {
        // The step went back over the bytes that it held, which lie before the rest.
        true => feed.again.0.extend_from_slice(&again[from..]),
        false => feed.again = (again, from),
    }
    match step {
        Ok(Step::Starved) => Ok(Step::On),
        step => step,
    }
}

/// Handles a pause of the input. See [`Scan::pause`](crate::parts::Scan::pause).
pub(crate) fn pause<S: States>(
    scanner: &mut S,
    data: &mut Vec<u8>,
) -> Result<Option<S::Found>, DecodeError<S::Fault>> {
    match scanner.pause() {
        Ok(()) => next(scanner, &mut &[][..], data),
        Err(error) => {
            scanner.end();
            Err(error)
        }
    }
}

/// Handles the end of the file. See [`Scan::finish`](crate::parts::Scan::finish).
pub(crate) fn finish<S: States>(
    scanner: &mut S,
    data: &mut Vec<u8>,
) -> Result<Option<S::Found>, DecodeError<S::Fault>> {
    loop {
        if let Some(found) = next(scanner, &mut &[][..], data)? {
            return Ok(Some(found));
        }
        match scanner.reconsider(data) {
            Ok(Step::Found(found)) => return Ok(Some(found)),
            Ok(Step::On) => {}
            Ok(Step::Starved) => break,
            Err(error) => {
                scanner.end();
                return Err(error);
            }
        }
    }
    if let Some(rest) = scanner.give_rest(data) {
        return Ok(Some(rest));
    }
    if let Some((error, search)) = scanner.feed().behind.take() {
        return Err(match search.finish(&S::BEGINNING) {
            Some(at) => error.hiding(at),
            None => error,
        });
    }
    match scanner.cut() {
        None => Ok(None),
        Some(error) => {
            scanner.end();
            Err(error)
        }
    }
}

impl<E> Feed<E> {
    /// Creates the feed of a file that continues at byte `offset`.
    pub(crate) fn at(offset: u64) -> Self {
        Feed {
            offset,
            held: Vec::new(),
            again: (Vec::new(), 0),
            back_to: None,
            chunk: Vec::new(),
            filled: 0,
            failed: None,
            behind: None,
            giving: Giving::default(),
        }
    }

    /// Takes from the input until `wanted` bytes are held. Returns whether they are.
    pub(crate) fn hold(&mut self, input: &mut &[u8], wanted: usize) -> bool {
        let missing = wanted.saturating_sub(self.held.len()).min(input.len());
        let (taken, rest) = input.split_at(missing);
        self.held.extend_from_slice(taken);
        *input = rest;
        self.held.len() >= wanted
    }

    /// Drops the held bytes and moves `offset` behind them.
    pub(crate) fn release(&mut self) {
        self.offset += self.held.len() as u64;
        self.held.clear();
    }

    /// Moves the held bytes out, and keeps the allocation of `data` in their place. `offset` stays where it is.
    pub(crate) fn take_held(&mut self, data: &mut Vec<u8>) -> Vec<u8> {
        data.clear();
        mem::replace(&mut self.held, mem::take(data))
    }

    /// Makes the held bytes from index `from` on be read again. The bytes before it stay held.
    pub(crate) fn replay(&mut self, from: usize) {
        let again = mem::take(&mut self.held);
        self.held.extend_from_slice(&again[..from]);
        self.again = (again, from);
    }

    /// Makes the bytes that are read again be read once more, from the index `from`. To be called in a step through
    /// such bytes.
    pub(crate) fn replay_again(&mut self, from: usize) {
        self.back_to = Some(from);
    }

    /// Returns whether there are bytes to read again.
    pub(crate) fn is_replaying(&self) -> bool {
        self.again.1 < self.again.0.len()
    }

    /// Moves the chunk to `data` and reports it as found.
    pub(crate) fn found<W>(&mut self, data: &mut Vec<u8>) -> Step<Scanned<W>> {
        self.give_out(data);
        Step::Found(Scanned::Data)
    }

    /// Does the same at the end of a part, so that no chunk has data of two parts. An empty chunk is not reported.
    pub(crate) fn found_rest<W>(&mut self, data: &mut Vec<u8>) -> Step<Scanned<W>> {
        if self.filled > 0 { self.found(data) } else { Step::On }
    }

    /// Moves the chunk to `data`, if it is not empty.
    pub(crate) fn give_rest<W>(&mut self, data: &mut Vec<u8>) -> Option<Scanned<W>> {
        (self.filled > 0).then(|| {
            self.give_out(data);
            Scanned::Data
        })
    }

    /// Puts the chunk into `data`.
    pub(crate) fn give_out(&mut self, data: &mut Vec<u8>) {
        self.chunk.truncate(mem::take(&mut self.filled));
        mem::swap(data, &mut self.chunk);
    }
}
