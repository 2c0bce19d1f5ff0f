//! One input from start to end.

use std::io::{self, Seek, SeekFrom, Write};

use abz::{Compression, Conduct, Decompression, Error, Expected, Format, Speculation, Tools, Written, lzip};

use super::arguments::Explained;
use super::ask;
use super::checksum::Checksum;
use super::crew::Crew;
use super::input::Input;
use super::interrupt;
use super::list::{self, lzip_contents, saved};
use super::manners::Lists;
use super::options::{Action, Destination, Options};
use super::output::{Attributes, Output};
use super::problem::{Problem, Severity};
use super::progress::Progress;
use super::stdout::print;
use super::sums::Summed;
use super::target::Target;
use super::told::Told;
use super::verify::{self, Failure};
use super::volumes;
use super::ways;

/// A compressed file of fewer bytes is not worth a second thread.
const SMALL: u64 = 64 << 10;

/// What is the same for all inputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting<'a> {
    pub(super) options: &'a Options,
    pub(super) progress: &'a Progress,
    /// There is somebody who says whether a file shall be overwritten.
    pub(super) asks: bool,
}

impl Setting<'_> {
    /// Compresses, decompresses or tests one input, and says what is to be told of it.
    ///
    /// After an error the input is kept, and the output is not there. (Standard output may have got the part
    /// before an error.) Of a warning after the work is done the same cannot be said: then both may be there.
    pub(super) fn run(&self, input: Input, crew: Crew<'_>) -> Told {
        let mut told = Told::default();
        let result = self.convert_file(input, crew, &mut told);
        told.add(result);
        told
    }

    fn convert_file(&self, input: Input, crew: Crew<'_>, told: &mut Told) -> Result<(), Problem> {
        let options = self.options;
        if let Some(form) = options.explain {
            return explain(&input, options, form);
        }
        if let Some(span) = &options.span {
            return self.take_span(span, &input, crew, told);
        }
        if options.action == Action::Index {
            return self.make_index(&input, crew, told);
        }
        if let Some(size) = options.volume_size
            && volumes::are_asked_for(&input, options)
        {
            return self.make_volumes(size, &input, crew, told);
        }
        let target = match Target::of(&input, options, told) {
            // What lies in a folder need not be of the right kind.
            Err(problem) if input.was_found && !options.is_verbose() && !problem.is_error() => return Ok(()),
            target => target?,
        };
        let is_alone = matches!(crew, Crew::Alone(_));
        let checksum = match options.checksum {
            true => Some(Checksum::open(&target, is_alone, &input, options)?),
            false => None,
        };
        let to_memory = is_alone && target == Target::Stdout;
        let mut output = match to_memory {
            true => Output::Memory(Vec::new()),
            false => {
                let overwrite =
                    options.force || self.asks && ask::may_overwrite(&target, options, self.progress);
                Output::open_over(target, options, input.metadata.is_file(), overwrite)?
            }
        };
        let (input_name, output_name) = (input.to_string(), output.to_string());

        let done = self.convert(&input, &mut output, crew);
        if let Output::Memory(bytes) = output {
            told.output = bytes;
            output = Output::Nowhere;
        }
        let judged = self.judge(done, (&input_name, &output_name), told);
        let judged = judged.and_then(|(done, garbage)| match garbage {
            Some(error) if error.is_error() => Err(error),
            garbage => Ok((done, garbage)),
        });
        if options.manners.stops_at_failure && options.action != Action::Test && judged.is_err() {
            told.is_hopeless = true;
        }
        let (done, garbage) = judged?;
        told.add(output.commit(Attributes::Of(&input), options));
        if told.has_failed() {
            return Ok(());
        }
        if let (Some(checksum), Some(sum)) = (checksum, &done.sha256) {
            checksum.tell(sum, &input, options, told);
        }
        let stores = options.action == Action::Compress && options.naming.stores;
        if let Some(severity) = options.manners.severities.time
            && options.compression.format == Written::GZIP
            && stores
            && !input.has_a_time_to_store()
        {
            let message = "the time cannot be stored: gzip has those from 1970 to 2106";
            told.add(Err(Problem::new(severity, &input_name, message).afterwards()));
        }
        let members = self.members(&input)?;
        if !options.keep {
            input.remove()?;
        }
        if options.is_verbose() {
            match members {
                Some(members) => members.into_iter().for_each(|member| told.say(member)),
                None => told.say(summary(&input_name, &output_name, options, &done)),
            }
        }
        garbage.map_or(Ok(()), Err)
    }

    /// Converts an input to the end of an output of the given name. Gives what is to be told of bytes behind its last member.
    pub(super) fn convert_open(
        &self,
        input: &Input,
        (output, name): (&mut Output, &str),
        conduct: Conduct<'_>,
        told: &mut Told,
    ) -> Result<Option<Problem>, Problem> {
        let done = self.convert(input, output, Crew::Together(conduct));
        let input_name = input.to_string();
        let (done, garbage) = self.judge(done, (&input_name, name), told)?;
        if self.options.is_verbose() {
            told.say(summary(&input_name, name, self.options, &done));
        }
        Ok(garbage)
    }

    /// What is told of the members of a file that was tested, under the name of lzip.
    fn members(&self, input: &Input) -> Result<Option<Vec<String>>, Problem> {
        let options = self.options;
        if !options.detailed || options.action != Action::Test || options.manners.lists != Lists::Lzip {
            return Ok(None);
        }
        let contents = lzip_contents(input, options)?;
        Ok(contents.map(|contents| list::lzip::tested(&input.to_string(), &contents)))
    }

    /// What came of a run, and what is to be told of bytes behind the last member.
    fn judge(
        &self,
        done: Result<Option<Done>, Failure>,
        (input, output): (&str, &str),
        told: &mut Told,
    ) -> Result<(Done, Option<Problem>), Problem> {
        let options = self.options;
        let done = done.map_err(|failure| {
            let error = match &failure {
                Failure::Run(error) => error,
                Failure::Check(found) => return Problem::of_verification(output, found),
            };
            failed(error, input, output, options, told)
        })?;
        let Some(done) = done else {
            let format = options.manners.first_read();
            return Err(Problem::new(Severity::Damage, input, format_args!("not in the format {format}")));
        };
        if let Some(member) = done.mistaken
            && options.is_verbose()
        {
            let message = "is not of the size that its header seems to say; from there on one thread decodes";
            told.say(format!("{input}: member {member} {message}"));
        }
        let severities = &options.manners.severities;
        if let (Some(severity), true) = (severities.lone_byte, done.is_lone_byte) {
            let message =
                "unexpected end of file: one byte follows the last member, where another one may begin";
            return Err(Problem::new(severity, input, message));
        }
        let garbage = severities.garbage.zip(done.garbage_at);
        let garbage = garbage.map(|(severity, at)| Problem::trailing_garbage(severity, input, at));
        Ok((done, garbage))
    }

    /// Runs the pipeline from an open input to an open output. `None`: the input is of no format that is read.
    fn convert(&self, input: &Input, output: &mut Output, crew: Crew<'_>) -> Result<Option<Done>, Failure> {
        let options = self.options;
        // Together they tell what is done themselves; of a small file it is as good as what is read.
        let tell = |bytes| self.progress.advance(bytes);
        let (crew, counts) = match crew {
            Crew::Together(conduct) => (Crew::Together(Conduct { progress: Some(&tell), ..conduct }), false),
            alone => (alone, true),
        };
        if let Crew::Together(conduct) = crew
            && let Some(done) = self.convert_in_parts(input, output, conduct)?
        {
            return Ok(Some(done));
        }
        let hidden = Progress::hidden();
        let reader = if counts { self.progress } else { &hidden }.of(&input.file);
        if options.action == Action::Compress {
            let compression = compression(input, options);
            let mut plain =
                Summed::new(reader).with_fingerprint(options.verify).with_sha256(options.checksum);
            let done = match crew {
                crew if options.verify => verify::compress(
                    &compression,
                    &mut plain,
                    output,
                    crew,
                    &Decompression { workers: compression.workers, ..options.decompression() },
                )?,
                Crew::Alone(tools) => tools.compress(&compression, &mut plain, output)?,
                Crew::Together(conduct) => compression.conduct(conduct, &mut plain, output)?,
            };
            let (written, sha256) = (done.written, plain.sha256());
            return Ok(Some(Done {
                plain: done.read,
                compressed: written,
                garbage_at: None,
                is_lone_byte: false,
                mistaken: None,
                sha256,
            }));
        }
        let mut plain = Summed::new(output).with_sha256(options.checksum);
        // Like `cat` for what is not compressed, as `zcat -f` has always been.
        let copies = options.force && options.destination == Destination::Stdout;
        let start = (&input.file).stream_position().ok();
        let (format, reader) = Format::sniff(reader).map_err(Error::Read)?;
        let format = format.filter(|format| options.manners.read(*format));
        if copies && format.is_none() {
            let copied = io::copy(&mut self.progress.of(reader), &mut plain).map_err(Error::Write)?;
            let sha256 = plain.sha256();
            return Ok(Some(Done {
                plain: copied,
                compressed: copied,
                garbage_at: None,
                is_lone_byte: false,
                mistaken: None,
                sha256,
            }));
        }
        // Under its own name the decoder says what is wrong.
        if format.is_none() && options.manners.are_foreign() {
            return Ok(None);
        }
        let done = match crew {
            Crew::Alone(tools) => tools.decompress(&decompression(input, options), reader, &mut plain),
            Crew::Together(conduct) => decompression(input, options).conduct(conduct, reader, &mut plain),
        };
        if let (Err(error), Some(start)) = (&done, start)
            && error.damage::<lzip::DecodeError>().is_some()
            && options.manners.gives_what_it_can
            && options.destination == Destination::Stdout
        {
            give_what_is_left(input, start, &mut plain, options)?;
        }
        let done = done?;
        let (mut written, mut garbage_at) = (done.written, done.garbage_at);
        // Of a pipe the rest has been read already.
        if let (true, Some(start), Some(garbage)) = (copies, start, garbage_at) {
            let mut file = &input.file;
            file.seek(SeekFrom::Start(start + garbage)).map_err(Error::Read)?;
            written += io::copy(&mut file, &mut plain).map_err(Error::Write)?;
            garbage_at = None;
        }
        if let (true, Some(start), Some(garbage)) = (options.manners.takes_mixed, start, garbage_at)
            && let Some(more) = self.decode_behind(input, start + garbage, &mut plain)?
        {
            written += more;
            garbage_at = None;
        }
        let sha256 = plain.sha256();
        let is_lone_byte = garbage_at.zip(input.len()).is_some_and(|(at, len)| at + 1 == len);
        Ok(Some(Done {
            plain: written,
            compressed: done.read,
            garbage_at,
            is_lone_byte,
            mistaken: done.mistaken,
            sha256,
        }))
    }
}

impl Setting<'_> {
    /// Decodes what begins at `offset`, if it is a file of another format than gzip. (Of a pipe it has been read already.) Gives
    /// the size of its contents in bytes.
    fn decode_behind(
        &self,
        input: &Input,
        offset: u64,
        plain: &mut Summed<&mut Output>,
    ) -> Result<Option<u64>, Failure> {
        let mut file = &input.file;
        if !input.metadata.is_file() {
            return Ok(None);
        }
        file.seek(SeekFrom::Start(offset)).map_err(Error::Read)?;
        let (format, reader) = Format::sniff(file).map_err(Error::Read)?;
        let is_another = |format: &Format| *format != Format::GZIP && self.options.manners.read(*format);
        if format.filter(is_another).is_none() {
            return Ok(None);
        }
        let done = Tools::new().decompress(&decompression(input, self.options), reader, plain)?;
        Ok(Some(done.written))
    }

    /// As [`convert`](Self::convert), where workers read or write files themselves. `None` if they had better not.
    fn convert_in_parts(
        &self,
        input: &Input,
        output: &mut Output,
        conduct: Conduct<'_>,
    ) -> Result<Option<Done>, Error> {
        let (options, progress, files) = (self.options, self.progress, (input, output));
        let done = match options.action {
            Action::Compress => {
                ways::compress(&compression(input, options), conduct, files, options, progress).transpose()?
            }
            _ => ways::decompress(&decompression(input, options), conduct, files, options, progress)?,
        };
        Ok(done.map(|done| Done {
            plain: done.read,
            compressed: done.written,
            garbage_at: None,
            is_lone_byte: false,
            mistaken: None,
            sha256: None,
        }))
    }
}

/// What was done.
pub(super) struct Done {
    /// The size of the contents in bytes.
    pub(super) plain: u64,
    /// The size of the compressed file in bytes.
    pub(super) compressed: u64,
    garbage_at: Option<u64>,
    /// That is one byte.
    is_lone_byte: bool,
    /// The first member that is not as large as its header says.
    mistaken: Option<u64>,
    /// Of the contents, if it was asked for.
    sha256: Option<String>,
}

/// What is told of a run that failed.
pub(super) fn failed(
    error: &Error,
    input: &str,
    output: &str,
    options: &Options,
    told: &mut Told,
) -> Problem {
    if let Error::Write(error) = error {
        told.is_hopeless = options.destination == Destination::Stdout;
        interrupt::end_if_broken_pipe(error);
    }
    let problem = Problem::of_run(input, output, error);
    let Some(words) = (options.manners.words)(error) else { return problem };
    if options.is_verbose() {
        told.say(problem.to_string());
    }
    Problem::of_gzip(input, words)
}

/// Writes what can be decoded of a damaged file of lzip, which begins at `start`, behind what is written of it already.
fn give_what_is_left(
    input: &Input,
    start: u64,
    plain: &mut Summed<&mut Output>,
    options: &Options,
) -> Result<(), Error> {
    let mut file = &input.file;
    file.seek(SeekFrom::Start(start)).map_err(Error::Read)?;
    let mut reader = lzip::Reader::with(lzip::Scanner::streaming(options.lzip), file);
    let (written, mut passed, mut data) = (plain.len(), 0, Vec::new());
    // What ends it has been found before.
    while let Ok(true) = reader.read_into(&mut data) {
        let len = data.len() as u64;
        let done = written.saturating_sub(passed).min(len);
        plain.write_all(&data[done as usize..]).map_err(Error::Write)?;
        passed += len;
    }
    Ok(())
}

/// How to compress `input`: with no more workers than it has blocks.
pub(super) fn compression(input: &Input, options: &Options) -> Compression {
    let mut compression = options.compression.clone();
    if options.naming.stores {
        compression.origin = input.origin();
    }
    if let Some(len) = input.len() {
        let blocks = len.div_ceil(compression.block_len() as u64).max(1);
        compression.workers = compression.workers.min(usize::try_from(blocks).unwrap_or(usize::MAX));
        // Of standard input some may have been read.
        compression.contents = (&input.file).stream_position().ok().and_then(|at| len.checked_sub(at));
    }
    compression
}

/// How to decompress `input`.
pub(super) fn decompression(input: &Input, options: &Options) -> Decompression {
    let is_small = input.len().is_some_and(|len| len < SMALL);
    let mut decompression = options.decompression();
    if is_small {
        decompression.workers = 1;
    }
    decompression
}

/// Prints the plan that would run.
fn explain(input: &Input, options: &Options, form: Explained) -> Result<(), Problem> {
    let plan = match options.action {
        Action::Compress => compression(input, options).plan(),
        _ => decompression(input, options).plan(input.format().unwrap_or_default()),
    };
    let choice = choice(input, options);
    print(|out| match form {
        Explained::Text => writeln!(out, "{input}:\n\n{plan}{choice}"),
        Explained::Dot => out.write_all(plan.to_dot().as_bytes()),
        Explained::Svg => out.write_all(plan.to_svg().as_bytes()),
        Explained::Json => writeln!(out, "{}", plan.to_json()),
    })
}

/// Why a file of gzip is decoded as the plan says; nothing of any other.
fn choice(input: &Input, options: &Options) -> String {
    if options.action == Action::Compress || input.format().unwrap_or_default() != Format::GZIP {
        return String::new();
    }
    let decompression = decompression(input, options);
    let (workers, speculation) = (decompression.workers_within(), decompression.speculation);
    let way = match (speculation, speculation.is_done(workers)) {
        (Speculation::Auto, true) => "with guesses, because",
        (Speculation::Auto, false) => "by one worker, because",
        (Speculation::Always, _) => "with guesses, as --speculate says;",
        (Speculation::Never, _) => "by one worker, as --speculate says;",
    };
    let expected = Expected::with(workers);
    format!("\nA member that does not say where its blocks are is decoded {way} {expected}.")
}

/// What was done, in the words of gzip.
fn summary(input: &str, output: &str, options: &Options, done: &Done) -> String {
    let saved = saved(done.compressed, done.plain);
    match (options.action, options.keep) {
        (Action::Test, _) => format!("{input}: OK"),
        (_, true) => format!("{input}: {saved:.1}% -- created {output}"),
        (_, false) => format!("{input}: {saved:.1}% -- replaced with {output}"),
    }
}
