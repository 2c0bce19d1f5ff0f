//! The steps in which the files of all formats are decoded. A stream runs them, or a reader on its caller's thread.

use std::any::Any;
use std::io::{self, Read, Write};
use std::marker::PhantomData;
use std::mem;
use std::ops::Range;

use abz_codec::access::Part;
use anabranch::{Plan, Recycled, Recycler, TryStream};

use super::inputs::{Input, Inputs, Telling};
use super::{Item, Threads, WRITE, begin, carry_out, hide, unhide};
use crate::error::Error;
use crate::run_options::RunOptions;

/// Joins decoded pieces, in order.
pub(crate) trait Join<D>: Send {
    /// Returns the contents of a decoded piece, if it has any.
    fn next(&mut self, decoded: D) -> Result<Option<Contents>, Error>;

    /// Returns the contents that are left at the end of the file. Call it until it returns `None`.
    fn finish(&mut self) -> Result<Option<Contents>, Error> {
        Ok(None)
    }

    /// Returns true if [`part`](Self::part) tells the part of all contents.
    fn finds_parts(&self) -> bool {
        false
    }

    /// The part of the file that holds the contents that were returned last, if it can be decoded by itself. `contents` is
    /// their place among all contents, in bytes.
    fn part(&self, _contents: Range<u64>) -> Option<Part> {
        None
    }
}

/// Contents of a file.
pub(crate) enum Contents {
    Bytes(Recycled<Vec<u8>>),
    /// Contents that are larger than what they are made of, and are made while they are written.
    Folded(Box<dyn Fold>),
    /// The contents of a damaged part before the damage, and the damage.
    Damaged(Recycled<Vec<u8>>, Error),
}

/// See [`Contents::Folded`].
pub(crate) trait Fold: Send {
    fn unfold_to(self: Box<Self>, output: &mut dyn Write) -> io::Result<()>;
}

impl From<Recycled<Vec<u8>>> for Contents {
    fn from(bytes: Recycled<Vec<u8>>) -> Self {
        Contents::Bytes(bytes)
    }
}

impl Contents {
    /// Writes the contents, and returns the damage after them.
    pub(crate) fn write_to(self, mut output: impl Write) -> Result<(), Error> {
        match self {
            Contents::Bytes(bytes) => output.write_all(&bytes).map_err(Error::Write),
            Contents::Folded(folded) => folded.unfold_to(&mut output).map_err(Error::Write),
            Contents::Damaged(bytes, damage) => {
                output.write_all(&bytes).map_err(Error::Write)?;
                Err(damage)
            }
        }
    }

    /// Replaces the contents of `data` by these, and returns the damage after them. The allocation of `data` is used
    /// again.
    pub(crate) fn move_to(self, data: &mut Vec<u8>) -> Option<Error> {
        match self {
            Contents::Bytes(mut bytes) => mem::swap(data, &mut bytes),
            Contents::Damaged(mut bytes, damage) => {
                mem::swap(data, &mut bytes);
                return Some(damage);
            }
            Contents::Folded(folded) => {
                data.clear();
                folded.unfold_to(data).expect("a vector takes all bytes");
            }
        }
        None
    }
}

/// Passes contents on that need no joining.
pub(crate) struct InOrder;

impl<D: Into<Contents>> Join<D> for InOrder {
    fn next(&mut self, data: D) -> Result<Option<Contents>, Error> {
        Ok(Some(data.into()))
    }
}

/// How a file of a format is decoded: its bytes are split into pieces, in order; any thread decodes a piece; and the results
/// are joined, in order. The types of pieces and results are hidden.
pub(crate) struct Steps<'a> {
    /// The first two steps.
    pub(crate) farm: Farm<'a>,
    /// The step that joins decoded pieces.
    pub(crate) join: Box<dyn Join<Item>>,
    pub(crate) sizes: Sizes,
    /// Whether the steps report progress and handle pauses. Otherwise the bytes that are read are the progress.
    reports: bool,
}

/// The sizes of a stream that decodes.
pub(crate) struct Sizes {
    /// The buffers into which the file is read.
    pub(crate) inputs: Recycler<Vec<u8>>,
    pub(crate) workers: usize,
    /// The maximum number of pieces in memory at once.
    pub(crate) window: usize,
}

/// The steps that split and decode.
pub(crate) struct Farm<'a> {
    /// The name of the step that splits.
    name: &'static str,
    /// Makes what decodes pieces of input on a guess, before they are split.
    guesses: Option<Guesses<'a>>,
    pub(crate) split: Split<'a>,
    /// Makes decoders.
    pub(crate) decoders: Box<dyn Fn() -> Decoder<'a> + Send + Sync + 'a>,
}

/// Takes the next piece from the front of an input. Returns `None` if all of the input was taken.
type Split<'a> = Box<dyn FnMut(&mut Input) -> Result<Option<Item>, Error> + Send + 'a>;

/// Makes functions that decode the bytes of an input on a guess, for [`Input::guessed`].
type Guesses<'a> = Box<dyn Fn() -> Box<dyn FnMut(&[u8]) -> Item + Send + 'a> + Send + Sync + 'a>;

/// Decodes pieces.
pub(crate) type Decoder<'a> = Box<dyn FnMut(Item) -> Result<Item, Error> + Send + 'a>;

/// Takes contents, and the step that joins, which may tell their part.
type Sink<'a> = dyn FnMut(&dyn Join<Item>, Contents) -> Result<(), Error> + Send + 'a;

/// The pieces of a file as they are read.
type Source<'a> = Box<dyn Iterator<Item = Result<Input, Error>> + Send + 'a>;

impl<'a> Steps<'a> {
    /// Creates the steps: `split`, of this name, takes the next piece from the front of an input, or returns `None` if all of
    /// the input was taken; each thread makes its tables by `make` and decodes pieces by `decode`; and `join` joins the
    /// results.
    pub(crate) fn new<P: Any + Send, T: Send + 'a, D: Any + Send>(
        (name, mut split): (&'static str, impl FnMut(&mut Input) -> Result<Option<P>, Error> + Send + 'a),
        make: impl Fn() -> T + Send + Sync + 'a,
        decode: impl Fn(&mut T, P) -> Result<D, Error> + Clone + Send + Sync + 'a,
        join: impl Join<D> + 'static,
        sizes: Sizes,
    ) -> Self {
        let split = Box::new(move |input: &mut Input| Ok(split(input)?.map(hide)));
        let decoders = Box::new(move || -> Decoder<'a> {
            let (mut tables, decode) = (make(), decode.clone());
            Box::new(move |piece| decode(&mut tables, unhide(piece)).map(hide))
        });
        let farm = Farm { name, guesses: None, split, decoders };
        Steps { farm, join: Box::new(Hidden { join, piece: PhantomData }), sizes, reports: false }
    }

    /// Lets threads decode pieces of input before it is split, on a guess. Each thread makes its tables by `make`.
    pub(crate) fn guessing<T: Send + 'a, G: Any + Send>(
        mut self,
        make: impl Fn() -> T + Send + Sync + 'a,
        guess: impl Fn(&mut T, &[u8]) -> Option<G> + Clone + Send + Sync + 'a,
    ) -> Self {
        self.farm.guesses = Some(Box::new(move || {
            let (mut tables, guess) = (make(), guess.clone());
            Box::new(move |bytes| hide(guess(&mut tables, bytes)))
        }));
        self
    }

    /// The steps report progress and handle pauses.
    pub(crate) fn reporting(self) -> Self {
        Steps { reports: true, ..self }
    }

    /// Decodes a file, and passes its contents to `write`.
    pub(crate) fn run(
        self,
        options: &RunOptions<'a>,
        input: &'a mut (dyn Read + Send),
        write: &mut Sink<'_>,
    ) -> Result<(), Error> {
        let Steps { farm, mut join, sizes: Sizes { inputs, workers, window }, reports } = self;
        let source: Source<'a> = match reports {
            true => Box::new(Inputs::new(input, inputs).telling(options.pauses())),
            false => Box::new(Inputs::new(Telling::new(input, options.advance()), inputs)),
        };
        let mut add = |decoded| match join.next(decoded)? {
            Some(contents) => write(&*join, contents),
            None => Ok(()),
        };
        match options.is_alone() {
            true => alone(source, farm, &mut add)?,
            false => {
                let source =
                    begin(source, "read", "abz decompress", Threads { workers, window, pool: options.pool });
                carry_out(stream(source, farm, Box::new(|_| ())), WRITE, options, &mut add)?;
            }
        }
        while let Some(contents) = join.finish()? {
            write(&*join, contents)?;
        }
        Ok(())
    }

    /// Returns the plan of [`run`](Self::run).
    pub(crate) fn plan(self) -> Plan {
        let Sizes { inputs, workers, window } = self.sizes;
        let source: Source<'_> = Box::new(Inputs::new(io::empty(), inputs));
        let source = begin(source, "read", "abz decompress", Threads { workers, window, pool: None });
        stream(source, self.farm, Box::new(|_| ())).named(WRITE).plan()
    }
}

/// Does what the stream does on the calling thread, which has no use for guesses. A stream costs as much as the other steps of a
/// small file together.
fn alone(
    source: Source<'_>,
    farm: Farm<'_>,
    add: &mut dyn FnMut(Item) -> Result<(), Error>,
) -> Result<(), Error> {
    let Farm { mut split, decoders, .. } = farm;
    let mut decode = decoders();
    for input in source {
        let mut input = input?;
        while let Some(piece) = split(&mut input)? {
            add(decode(piece)?)?;
        }
    }
    Ok(())
}

/// Joins pieces whose types are hidden.
struct Hidden<J, D> {
    join: J,
    piece: PhantomData<fn(D)>,
}

impl<J: Join<D>, D: 'static> Join<Item> for Hidden<J, D> {
    fn next(&mut self, decoded: Item) -> Result<Option<Contents>, Error> {
        self.join.next(unhide(decoded))
    }

    fn finish(&mut self) -> Result<Option<Contents>, Error> {
        self.join.finish()
    }

    fn finds_parts(&self) -> bool {
        self.join.finds_parts()
    }

    fn part(&self, contents: Range<u64>) -> Option<Part> {
        self.join.part(contents)
    }
}

/// Runs the first two steps on the inputs of `source`. Calls `note` for each piece that was found (`true`), and for each input
/// of which all was taken (`false`).
pub(crate) fn stream<'a>(
    source: TryStream<'a, Input, Error>,
    farm: Farm<'a>,
    note: Box<dyn Fn(bool) + Send + 'a>,
) -> TryStream<'a, Item, Error> {
    let Farm { name, guesses, split, decoders } = farm;
    let source = match guesses {
        Some(guesses) => source.named("guess").map_init(guesses, |guess, input: Input| input.guessed(guess)),
        None => source,
    };
    source
        .named(name)
        .try_serial_spread(split, move |split, input| {
            let piece = split(input)?;
            note(piece.is_some());
            Ok(piece)
        })
        .named("decode")
        .try_map_init(decoders, |decode, piece| decode(piece))
}
