//! The actions that decompress and test.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::time::Duration;

use abz::program::{RunOptions, decompress_with, in_two_tries, sniff};
use abz::{Decompressed, Decompression, Error, Format, decompress, lzip};

use super::indices::Indexed;
use super::io_mode;
use super::sums::Summed;
use crate::command::action::{Action, Done, Failure, Setting, Terms, fits, replaces_one_by_one};
use crate::command::input::Input;
use crate::command::list::{self, lzip_contents};
use crate::command::messages::Messages;
use crate::command::messages::problem::Problem;
use crate::command::output::Output;
use crate::command::request::behaviour::{Behaviour, Lists};
use crate::command::request::{Decoding, Decompress, Destination, Test};

/// An input counts as paused after this time without bytes. Decoded data is then written within a tenth of a second.
const PAUSE: Duration = Duration::from_millis(40);

impl Action for Decompress {
    fn terms(&self) -> Terms<'_> {
        let Decoding { decompression, checksum, .. } = &self.decoding;
        let terms = Terms::to_decode(&self.inputs, Some(&self.outputs), &self.reporting, decompression);
        Terms { joins: true, tells_checksum: *checksum, ..terms }
    }

    fn may_be_side_by_side(&self, input: &Input) -> bool {
        // The contents of a small compressed file may be large, and must not wait in memory.
        self.outputs.destination != Destination::Stdout
            // No input after a failed one may be processed.
            && !self.outputs.behaviour.stops_at_failure
            && !replaces_one_by_one(&self.outputs)
            && fits(input, self.decoding.decompression.memory_limit)
    }

    fn convert(
        &self,
        input: &Input,
        output: &mut Output,
        run_options: RunOptions<'_>,
        setting: Setting<'_>,
        messages: &mut Messages,
    ) -> Result<Option<Done>, Failure> {
        self.decoding.convert(input, output, run_options, setting, messages)
    }
}

impl Action for Test {
    fn terms(&self) -> Terms<'_> {
        let Decoding { decompression, checksum, .. } = &self.decoding;
        let terms = Terms::to_decode(&self.inputs, None, &self.reporting, decompression);
        Terms { tells_checksum: *checksum, ..terms }
    }

    fn may_be_side_by_side(&self, input: &Input) -> bool {
        fits(input, self.decoding.decompression.memory_limit)
    }

    fn convert(
        &self,
        input: &Input,
        output: &mut Output,
        run_options: RunOptions<'_>,
        setting: Setting<'_>,
        messages: &mut Messages,
    ) -> Result<Option<Done>, Failure> {
        self.decoding.convert(input, output, run_options, setting, messages)
    }

    /// Returns the lines about the members of a tested file, when called as lzip.
    fn details(&self, input: &Input, setting: Setting<'_>) -> Result<Option<Vec<String>>, Problem> {
        if !self.detailed || setting.talk.behaviour.lists != Lists::Lzip {
            return Ok(None);
        }
        let contents = lzip_contents(input, self.decoding.decompression.lzip)?;
        Ok(contents.map(|contents| list::lzip::tested(&input.to_string(), &contents)))
    }
}

impl Decoding {
    fn convert(
        &self,
        input: &Input,
        output: &mut Output,
        run_options: RunOptions<'_>,
        setting: Setting<'_>,
        messages: &mut Messages,
    ) -> Result<Option<Done>, Failure> {
        let decompression = input.decompression(&self.decompression);
        let (progress, behaviour) = (setting.progress, &setting.talk.behaviour);
        let tell = |bytes| progress.advance(bytes);
        let run_options = RunOptions { progress: Some(&tell), ..run_options };
        if run_options.tools.is_none()
            && !self.checksum
            && self.indexing.made.is_none()
            && let Some(done) = io_mode::decompress(
                &decompression,
                run_options,
                (input, &mut *output),
                self.io_modes,
                progress,
            )?
        {
            return Ok(Some(Done::new(done.written, done.read)));
        }
        let mut plain = Summed::new(output).with_sha256(self.checksum);
        let start = input.position();
        if input.format().is_some_and(|format| behaviour.read(format))
            && let Some(done) =
                self.by_index((&decompression, input), run_options, &mut plain, setting, messages)?
        {
            return self.finish(done, start, input, plain, setting).map(Some);
        }
        let (format, reader) = sniff(input.reader()).map_err(Error::Read)?;
        let format = format.filter(|format| behaviour.read(*format));
        // With `-cdf`, `zcat` copies input that is not compressed.
        if self.copies && format.is_none() {
            let copied = io::copy(&mut progress.of(reader), &mut plain).map_err(Error::Write)?;
            if copied == 0 && !behaviour.copies_empty {
                return Ok(None);
            }
            return Ok(Some(Done { sha256: plain.sha256(), ..Done::new(copied, copied) }));
        }
        // When called as `abz`, the decoder reports the error.
        if format.is_none() && behaviour.is_foreign() {
            return Ok(None);
        }
        let first = |how: &Decompression, plain: &mut (dyn Write + Send)| {
            let pauses = || input.file.pauses_for(PAUSE);
            let pauses = (!input.metadata.is_file()).then_some(&pauses as &(dyn Fn() -> bool + Sync));
            decompress_with(reader, plain, how, RunOptions { pauses, ..run_options })
        };
        let done = in_two_tries(&decompression, &mut plain, first, |how, plain| {
            let reader = input.again(start)?.map_err(Error::Read);
            Some(reader.and_then(|reader| alone(how, reader, plain)))
        });
        if let (Err(error), Some(start)) = (&done, start)
            && self.gives_what_it_can
            && error.damage::<lzip::DecodeError>().is_some()
        {
            give_what_is_left(input, start, &mut plain, decompression.lzip)?;
        }
        self.finish(done?, start, input, plain, setting).map(Some)
    }

    /// Decodes with an index or makes one, if either is required. Returns `None` if neither is.
    fn by_index(
        &self,
        (decompression, input): (&Decompression, &Input),
        run_options: RunOptions<'_>,
        plain: &mut Summed<&mut Output>,
        setting: Setting<'_>,
        messages: &mut Messages,
    ) -> Result<Option<Decompressed>, Failure> {
        let run_options = RunOptions { progress: None, ..run_options };
        let workers = if run_options.tools.is_some() { 1 } else { decompression.workers };
        let decompression = &Decompression { workers, ..decompression.clone() };
        let source = io_mode::source(input, self.io_modes.input, setting.progress);
        let indexed = Indexed { decompression, indexing: &self.indexing, run_options, source, setting };
        indexed.decode(input, plain, messages)
    }

    /// Processes the bytes after the decoded members, if the tool does so, and returns the result.
    fn finish(
        &self,
        done: Decompressed,
        start: Option<u64>,
        input: &Input,
        mut plain: Summed<&mut Output>,
        setting: Setting<'_>,
    ) -> Result<Done, Failure> {
        let (decompression, behaviour) = (input.decompression(&self.decompression), &setting.talk.behaviour);
        // Other programs call zeros garbage, too.
        let padding_at = done.padding_at.filter(|_| behaviour.is_foreign());
        let (mut written, mut garbage_at) = (done.written, done.garbage_at.or(padding_at));
        // The rest of a pipe has been read already. For xz, other bytes after the end are damage.
        let copies_rest = self.copies && behaviour.lists != Lists::Xz;
        if let (true, Some(start), Some(garbage)) = (copies_rest, start, garbage_at) {
            let mut file = &input.file;
            file.seek(SeekFrom::Start(start + garbage)).map_err(Error::Read)?;
            written += io::copy(&mut file, &mut plain).map_err(Error::Write)?;
            garbage_at = None;
        }
        if let (true, Some(start), Some(garbage)) = (behaviour.takes_mixed, start, garbage_at)
            && let Some(more) =
                decode_behind(input, start + garbage, &mut plain, (&decompression, behaviour))?
        {
            written += more;
            garbage_at = None;
        }
        let is_lone_byte = garbage_at.zip(input.len()).is_some_and(|(at, len)| at + 1 == len);
        Ok(Done {
            garbage_at,
            is_lone_byte,
            mistaken: done.mistaken,
            sha256: plain.sha256(),
            ..Done::new(written, done.read)
        })
    }
}

/// Decodes a file of another format than gzip that begins at `offset`, if there is one, and returns the size of its
/// contents in bytes. Does nothing for a pipe, whose bytes have been read already.
fn decode_behind(
    input: &Input,
    offset: u64,
    plain: &mut Summed<&mut Output>,
    (decompression, behaviour): (&Decompression, &Behaviour),
) -> Result<Option<u64>, Failure> {
    let mut file = &input.file;
    if !input.metadata.is_file() {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(offset)).map_err(Error::Read)?;
    let (format, reader) = sniff(file).map_err(Error::Read)?;
    if format.filter(|format| *format != Format::Gzip && behaviour.read(*format)).is_none() {
        return Ok(None);
    }
    Ok(Some(alone(decompression, reader, plain)?.written))
}

/// Decompresses on the calling thread.
fn alone(
    decompression: &Decompression,
    input: impl Read + Send,
    output: impl Write + Send,
) -> Result<Decompressed, Error> {
    decompress(input, output, &Decompression { workers: 1, ..decompression.clone() })
}

/// Writes as much as possible of a damaged lzip file that begins at `start`, except the contents already written.
fn give_what_is_left(
    input: &Input,
    start: u64,
    plain: &mut Summed<&mut Output>,
    strictness: lzip::Strictness,
) -> Result<(), Error> {
    let mut file = &input.file;
    file.seek(SeekFrom::Start(start)).map_err(Error::Read)?;
    let mut reader = lzip::Reader::with(lzip::Scanner::streaming(strictness), file);
    let (written, mut passed, mut data) = (plain.len(), 0, Vec::new());
    // The error at the end has been found before.
    while let Ok(true) = reader.read_into(&mut data) {
        let len = data.len() as u64;
        let done = written.saturating_sub(passed).min(len);
        plain.write_all(&data[done as usize..]).map_err(Error::Write)?;
        passed += len;
    }
    Ok(())
}
