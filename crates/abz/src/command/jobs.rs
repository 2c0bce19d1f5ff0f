//! All inputs, in order: large ones one after another with all threads, and between them the small ones side by
//! side, each on one thread.

use std::io::Write;
use std::sync::OnceLock;

use abz::{Conduct, Format, Pool, Report, Tools};
use anabranch::Stream;

use super::archive;
use super::ask;
use super::bench;
use super::console::Console;
use super::crew::Crew;
use super::input::Input;
use super::job::Setting;
use super::join;
use super::list::Listing;
use super::options::{Action, Destination, Options, Source};
use super::output::Output;
use super::problem::{Problem, Severity};
use super::progress::Progress;
use super::recover;
use super::reports::Reports;
use super::target::Target;
use super::told::Told;
use super::walk::{self, Walk};

/// The most files that are open at once, for a window that would be wider.
const MAX_OPEN: usize = 128;

/// Does all that the command line asks for.
pub fn run(options: &Options, console: &mut Console) {
    let progress = match shows_progress(options) {
        true if options.archiving.is_some() || options.span.is_some() => Progress::new(None),
        true => Progress::new(walk::total(options)),
        false => Progress::hidden(),
    };
    console.share(progress.clone());
    if let Some((before, after)) = options.adjusted {
        let (before, after) = (before.div_ceil(1 << 20), after >> 20);
        let message =
            format_args!("{before} MiB are more than the limit of memory allows: {after} MiB are taken");
        console.tell_problem(&Problem::new(Severity::Note, "the dictionary", message));
    }
    match (&options.archiving, &options.extract, options.action) {
        (Some(archiving), ..) => archive::make(options, archiving, &progress, console),
        (_, Some(folder), _) => archive::take_apart(options, folder, &progress, console),
        _ if options.recover.is_some() => recover::run(options, &progress, console),
        (.., Action::List) => list(options, &progress, console),
        (.., Action::Bench) => bench::run(options, console),
        _ => work(options, &progress, console),
    }
    progress.end();
}

/// Compresses, decompresses, tests or explains, and reports on it if that is asked for.
fn work(options: &Options, progress: &Progress, console: &mut Console) {
    let reports = match Reports::open(options, progress) {
        Ok(reports) => reports,
        Err(problem) => return console.tell_problem(&problem),
    };
    let setting = Setting { options, progress, asks: ask::can_ask(options) };
    let jobs = Jobs { setting, reports, pool: OnceLock::new() };
    jobs.run(console);
    for problem in jobs.reports.end() {
        console.tell_problem(&problem);
    }
}

/// A bar is for people who look on, and have not asked for silence, nor for the data itself.
fn shows_progress(options: &Options) -> bool {
    use std::io::IsTerminal;
    let data_is_shown = options.destination == Destination::Stdout
        || matches!(options.destination, Destination::Beside | Destination::Folder(_))
            && options.sources.contains(&Source::Stdin);
    options.is_chatty()
        && options.explain.is_none()
        && options.action != Action::Bench
        && std::io::stderr().is_terminal()
        && !(data_is_shown && std::io::stdout().is_terminal())
}

struct Jobs<'a> {
    setting: Setting<'a>,
    reports: Reports,
    /// Made when a run first needs it.
    pool: OnceLock<Pool>,
}

impl Jobs<'_> {
    fn run(&self, console: &mut Console) {
        if join::is_asked_for(self.setting.options) {
            let tell = |report: &Report| self.reports.tell(report);
            let report = self.reports.is_wanted.then_some(&tell as &dyn Fn(&Report));
            let conduct = Conduct {
                pool: Some(self.pool()),
                report,
                traces: self.reports.traces,
                ..Conduct::default()
            };
            return join::run(self.setting, conduct, console);
        }
        let mut inputs = Walk::new(self.setting.options).peekable();
        let is_only_one = self.setting.options.sources.len() == 1 && !self.setting.options.recursive;
        loop {
            // One small file needs no company.
            if !is_only_one && inputs.peek().is_some_and(|input| self.is_small(input)) {
                let small = std::iter::from_fn(|| inputs.next_if(|input| self.is_small(input)));
                if !self.run_small(small, console) {
                    return;
                }
            }
            let told = match inputs.next() {
                None => return,
                Some(Err(problem)) => Err(problem).into(),
                Some(Ok(input)) => {
                    let pool = (!is_only_one).then(|| self.pool());
                    let tell = |report: &Report| self.reports.tell(report);
                    let report = self.reports.is_wanted.then_some(&tell as &dyn Fn(&Report));
                    let conduct = Conduct { pool, report, traces: self.reports.traces, ..Conduct::default() };
                    self.setting.run(input, Crew::Together(conduct))
                }
            };
            console.tell(&told);
            if told.is_hopeless {
                return;
            }
        }
    }

    /// Runs small files on all threads, each on one; true if there is a point in going on.
    fn run_small(
        &self,
        inputs: impl Iterator<Item = Result<Input, Problem>> + Send,
        console: &mut Console,
    ) -> bool {
        let setting = self.setting;
        let options = setting.options;
        let workers = match options.action {
            // They were counted before.
            Action::Compress => options.compression.workers,
            _ => options.decompression().workers_within(),
        };
        // What waits for standard output is in memory, and what waits for a thread is open.
        let each = if options.destination == Destination::Stdout { 4 } else { 16 };
        let window = (each * workers).min(MAX_OPEN);
        let mut stdout = None;
        let stream = Stream::from_iter(inputs)
            .name("open")
            .name_end("finish")
            .title("abz files")
            .workers(workers)
            .window(window)
            .pool(self.pool())
            .map_with(Tools::new, |tools, input| match input {
                Ok(input) => setting.run(input, Crew::Alone(tools)),
                Err(problem) => Err(problem).into(),
            })
            .name("convert");
        let end = |told: Told| {
            console.tell(&told);
            if !told.output.is_empty() {
                write_out(&mut stdout, &told.output, options)
                    .inspect_err(|problem| console.tell_problem(problem))
                    .map_err(drop)?;
            }
            if told.is_hopeless { Err(()) } else { Ok(()) }
        };
        match self.reports.is_wanted {
            false => stream.try_for_each(end).is_ok(),
            true => {
                let stream = if self.reports.traces { stream.trace() } else { stream };
                let (result, report) = stream.report().try_for_each(end);
                self.reports.tell(&report);
                result.is_ok()
            }
        }
    }

    fn pool(&self) -> &Pool {
        self.pool.get_or_init(|| Pool::with_name(self.setting.options.compression.workers, "abz"))
    }

    /// True of what is done on one thread: files of no more than a block, and what cannot be taken at all.
    fn is_small(&self, input: &Result<Input, Problem>) -> bool {
        let options = self.setting.options;
        // What comes out of a small compressed file may be large, and must not wait in memory.
        if options.explain.is_some()
            || options.action != Action::Compress && options.destination == Destination::Stdout
            // Behind one that fails nothing is touched.
            || options.manners.stops_at_failure && options.action == Action::Decompress
            // The last file of a name is the one that stays there.
            || options.force && matches!(options.destination, Destination::Folder(_))
        {
            return false;
        }
        match input {
            // Side by side, files that have windows would take the limit of memory many times.
            Ok(input) if options.memory_limit.is_some() && options.action != Action::Compress => {
                !input.format().is_some_and(Format::asks_for_memory) && self.is_small_file(input)
            }
            Ok(input) => self.is_small_file(input),
            Err(_) => true,
        }
    }

    fn is_small_file(&self, input: &Input) -> bool {
        let most = self.setting.options.compression.block_len() as u64;
        input.is_file() && input.len().is_some_and(|len| len <= most)
    }
}

/// Writes what a file gave to standard output, which is opened for the first.
fn write_out(stdout: &mut Option<Output>, bytes: &[u8], options: &Options) -> Result<(), Problem> {
    let output = match stdout {
        Some(output) => output,
        None => stdout.insert(Output::open_stdout(options)?),
    };
    output.write_all(bytes).map_err(|error| {
        super::interrupt::end_if_broken_pipe(&error);
        Problem::of_run("", &output.to_string(), &abz::Error::Write(error))
    })
}

fn list(options: &Options, progress: &Progress, console: &mut Console) {
    let mut listing = Listing::new(options);
    for input in Walk::new(options) {
        let result = input.and_then(|input| match Target::of(&input, options, &mut Told::default()) {
            Err(_) if input.was_found => Ok(()),
            _ => listing.add(&input, progress),
        });
        if let Err(problem) = result {
            console.tell_problem(&problem);
        }
    }
    if let Err(problem) = listing.end() {
        console.tell_problem(&problem);
    }
}
