//! What the scanners of all formats do alike: they take the bytes of a file as they come, hold some until there are enough, go
//! back to some of them, and give out what they have decoded, also before they fail.
//!
//! A scanner has a [`Feed`], and is a series of [`States`]; [`next`] and [`finish`] go through them.

use std::mem;

use crate::behind::{Beginning, Search};
use crate::damage::{Damage, Remedy};
use crate::parts::{Giving, Scanned};

/// Bytes on their way into a scanner, and data on its way out.
#[derive(Debug)]
pub(crate) struct Feed<E> {
    /// The offset in the file of the first byte that is not done with.
    pub(crate) offset: u64,
    /// Bytes from `offset` on that wait for those behind them.
    pub(crate) held: Vec<u8>,
    /// Bytes, from the given place on, that come again before any other input.
    again: (Vec<u8>, usize),
    /// They come again from that place on, once more.
    back_to: Option<usize>,
    /// Decoded data that was not yet given out, and how much there is of it.
    pub(crate) chunk: Vec<u8>,
    pub(crate) filled: usize,
    /// Comes when that was given out.
    failed: Option<E>,
    /// Behind the last part there are other bytes: the error that comes at their end, and a search for a part among them.
    behind: Option<(E, Search)>,
    pub(crate) giving: Giving,
}

/// What a step of a scanner came to.
pub(crate) enum Step<F> {
    Found(F),
    /// On with the next step.
    On,
    /// All of the input was taken, and more is needed.
    Starved,
}

/// The states of a scanner, and what it does in each.
pub(crate) trait States {
    /// What it finds.
    type Found;
    type Error: Damage;

    /// How each part of a file begins that may follow another one.
    const BEGINNING: Beginning;

    /// Data is given out when there is no more input, also if [that](Giving::prompt) was not asked for.
    const IS_EAGER: bool = false;

    /// Data that was decoded before damage is given out only if all decoded data is.
    const WITHHOLDS: bool = false;

    fn feed(&mut self) -> &mut Feed<Self::Error>;

    /// Takes a step through `input`. `data` is an allocation to use again.
    fn step(&mut self, input: &mut &[u8], data: &mut Vec<u8>) -> Result<Step<Self::Found>, Self::Error>;

    /// From here on nothing is found.
    fn end(&mut self);

    /// Gives out the chunk, in `data`, if there is anything in it that is right as far as anybody knows.
    fn give_rest(&mut self, data: &mut Vec<u8>) -> Option<Self::Found>;

    /// The file ends here, and nothing more was found: takes what is held for something else, if that is possible, or, if it is the
    /// start of a part that was cut, lets it be decoded as it comes.
    fn reconsider(&mut self, _data: &mut Vec<u8>) -> Result<Step<Self::Found>, Self::Error> {
        Ok(Step::Starved)
    }

    /// The input pauses here: lets a part that is held be decoded as it comes, if some of it may be of use before it is whole.
    fn pause(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// The error of bytes behind the last part, among which another one begins at the byte `at`.
    fn hides(error: Self::Error, at: u64) -> Self::Error;

    /// What is wrong if the file ends here.
    fn cut(&mut self) -> Option<Self::Error>;
}

/// Goes on through `input`, and then through nothing: as [`Scan::next`](crate::parts::Scan::next).
pub(crate) fn next<S: States>(
    scanner: &mut S,
    input: &mut &[u8],
    data: &mut Vec<u8>,
) -> Result<Option<S::Found>, S::Error> {
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
                if S::WITHHOLDS && !scanner.feed().giving.prompt {
                    scanner.feed().filled = 0;
                }
                // What was decoded before comes first.
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

/// Goes on through what follows the last part, and fails if another part begins in it.
fn look_behind<S: States>(scanner: &mut S, input: &mut &[u8]) -> Result<(), S::Error> {
    let feed = scanner.feed();
    let Some((_, search)) = &mut feed.behind else { return Ok(()) };
    let held = mem::take(&mut feed.held);
    let (again, from) = mem::take(&mut feed.again);
    let found = [&held[..], &again[from..], mem::take(input)]
        .into_iter()
        .find_map(|bytes| search.look(bytes, &S::BEGINNING));
    match found.zip(feed.behind.take_if(|_| found.is_some())) {
        Some((at, (error, _))) => Err(S::hides(error, at)),
        None => Ok(()),
    }
}

/// One step through what comes again.
fn step_again<S: States>(scanner: &mut S, data: &mut Vec<u8>) -> Result<Step<S::Found>, S::Error> {
    let (again, from) = mem::take(&mut scanner.feed().again);
    let mut rest = &again[from..];
    let step = scanner.step(&mut rest, data);
    let from = again.len() - rest.len();
    let feed = scanner.feed();
    let from = feed.back_to.take().unwrap_or(from);
    match feed.is_replaying() {
        // The step went back to what it held, which lies before the rest.
        true => feed.again.0.extend_from_slice(&again[from..]),
        false => feed.again = (again, from),
    }
    match step {
        Ok(Step::Starved) => Ok(Step::On),
        step => step,
    }
}

/// The input pauses here: as [`Scan::pause`](crate::parts::Scan::pause).
pub(crate) fn pause<S: States>(scanner: &mut S, data: &mut Vec<u8>) -> Result<Option<S::Found>, S::Error> {
    match scanner.pause() {
        Ok(()) => next(scanner, &mut &[][..], data),
        Err(error) => {
            scanner.end();
            Err(error)
        }
    }
}

/// The file ends here: as [`Scan::finish`](crate::parts::Scan::finish).
pub(crate) fn finish<S: States>(scanner: &mut S, data: &mut Vec<u8>) -> Result<Option<S::Found>, S::Error> {
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
            Some(at) => S::hides(error, at),
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
    /// Of a file that goes on at the byte `offset`.
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

    /// Takes from the input until `wanted` bytes are held; true if they are.
    pub(crate) fn hold(&mut self, input: &mut &[u8], wanted: usize) -> bool {
        let missing = wanted.saturating_sub(self.held.len()).min(input.len());
        let (taken, rest) = input.split_at(missing);
        self.held.extend_from_slice(taken);
        *input = rest;
        self.held.len() >= wanted
    }

    /// What is held is done with.
    pub(crate) fn release(&mut self) {
        self.offset += self.held.len() as u64;
        self.held.clear();
    }

    /// Takes what is held into the allocation that was in `data`. It is not done with.
    pub(crate) fn take_held(&mut self, data: &mut Vec<u8>) -> Vec<u8> {
        data.clear();
        mem::replace(&mut self.held, mem::take(data))
    }

    /// Lets what is held from `from` on come again. What is before that stays held.
    pub(crate) fn replay(&mut self, from: usize) {
        let again = mem::take(&mut self.held);
        self.held.extend_from_slice(&again[..from]);
        self.again = (again, from);
    }

    /// Lets what comes again come once more, from that place of what was held. It is called in a step through such bytes.
    pub(crate) fn replay_again(&mut self, from: usize) {
        self.back_to = Some(from);
    }

    /// True if there are bytes that come again.
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
