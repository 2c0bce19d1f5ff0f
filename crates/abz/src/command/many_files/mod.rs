//! The main loop over all inputs, in order. All threads together process each large input; small inputs between them
//! are processed in parallel, each on one thread.

pub(crate) mod join;
pub(crate) mod limits;
pub(crate) mod reports;
pub(crate) mod sandbox;

use std::io::Write;
use std::sync::OnceLock;

use abz::program::{Report, RunOptions, at_work};
use abz::{Pool, Tools};
use anabranch::ReportSlot;

use self::limits::Parallelism;
use self::reports::Reports;
use super::action::{Action, Setting, Terms};
use super::archive;
use super::bench;
use super::input::Input;
use super::list::Listing;
use super::messages::Messages;
use super::output::{Attributes, Output};
use super::recover;
use super::request::{Asked, Destination, List, Outputs, Reporting, Request, Source, Talk};
use crate::command::input::walk::{self, Walk};
use crate::command::messages::console::Console;
use crate::command::messages::problem::Problem;
use crate::command::messages::progress::Progress;
use crate::command::messages::stdout;
use crate::command::output::prompt;

/// The largest number of files that are open at once.
const MAX_OPEN: usize = 128;

/// Runs the request of the command line.
pub fn run(asked: &Asked, console: &mut Console) {
    let Asked { request, talk, note, .. } = asked;
    let progress = match shows_progress(asked) {
        true if matches!(request, Request::Archive(_) | Request::Access(_)) => Progress::new(None),
        true => Progress::new(walk::total(request.inputs())),
        false => Progress::hidden(),
    };
    console.share(progress.clone());
    if let Some(note) = note {
        console.tell_problem(note);
    }
    match request {
        Request::Compress(request) => work(request, talk, &progress, console),
        Request::Decompress(request) => work(request, talk, &progress, console),
        Request::Test(request) => work(request, talk, &progress, console),
        Request::Index(request) => work(request, talk, &progress, console),
        Request::Access(request) => work(request, talk, &progress, console),
        Request::Explain(request) => work(request, talk, &progress, console),
        Request::List(request) => list(request, talk, &progress, console),
        Request::Recover(request) => recover::run(request, talk, &progress, console),
        Request::Archive(request) => archive::make(request, &progress, console),
        Request::Extract(request) => archive::take_apart(request, talk, &progress, console),
        Request::Bench(request) => bench::run(request, console),
    }
    progress.end();
    if let Err(problem) = stdout::end() {
        console.tell_problem(&problem);
    }
}

/// Runs an action on each input, and writes the reports that are requested.
fn work(action: &dyn Action, talk: &Talk, progress: &Progress, console: &mut Console) {
    let Terms { inputs, reporting, .. } = action.terms();
    let reports = match Reports::open(reporting.unwrap_or(&Reporting::default()), inputs, progress) {
        Ok(reports) => reports,
        Err(problem) => return console.tell_problem(&problem),
    };
    let setting = Setting { talk, progress, asks: prompt::can_ask(talk, inputs) };
    let files = ManyFiles { action, setting, reports, pool: OnceLock::new() };
    files.run(console);
    for problem in files.reports.end() {
        console.tell_problem(&problem);
    }
}

/// Returns `true` if a progress bar is useful: on a terminal, unless output is suppressed or the data itself goes to
/// the terminal.
fn shows_progress(asked: &Asked) -> bool {
    use std::io::IsTerminal;
    let sources = &asked.request.inputs().sources;
    let data_is_shown = asked.request.outputs().is_some_and(|outputs| match outputs.destination {
        Destination::Stdout => true,
        Destination::Beside | Destination::Folder { .. } => sources.contains(&Source::Stdin),
        Destination::File(_) => false,
    });
    asked.talk.is_chatty()
        && !matches!(asked.request, Request::Explain(_) | Request::Bench(_))
        && std::io::stderr().is_terminal()
        && !(data_is_shown && std::io::stdout().is_terminal())
}

struct ManyFiles<'a> {
    action: &'a dyn Action,
    setting: Setting<'a>,
    reports: Reports,
    /// Created on first use.
    pool: OnceLock<Pool>,
}

impl ManyFiles<'_> {
    fn run(&self, console: &mut Console) {
        let tell = |report: &Report| self.reports.tell(report);
        let report = self.reports.is_wanted.then_some(&tell as &dyn Fn(&Report));
        let run_options = RunOptions { report, traces: self.reports.traces, ..RunOptions::default() };
        if let Some(outputs) = join::is_asked_for(self.action) {
            let run_options = RunOptions { pool: Some(self.pool()), ..run_options };
            return join::run(self.action, outputs, self.setting, run_options, console);
        }
        let inputs = self.action.terms().inputs;
        let is_only_one = inputs.sources.len() == 1 && !inputs.recursive;
        let mut inputs = Walk::new(inputs).peekable();
        loop {
            // A single small file is not worth the pipeline.
            if !is_only_one && inputs.peek().is_some_and(|input| self.is_small(input)) {
                let small = std::iter::from_fn(|| inputs.next_if(|input| self.is_small(input)));
                if !self.run_small(small, console) {
                    return;
                }
            }
            let messages = match inputs.next() {
                None => return,
                Some(Err(problem)) => Err(problem).into(),
                Some(Ok(input)) => {
                    let pool = (!is_only_one).then(|| self.pool());
                    self.take(input, RunOptions { pool, ..run_options })
                }
            };
            console.tell(&messages);
            if messages.is_hopeless {
                return;
            }
        }
    }

    /// Processes one input.
    fn take(&self, input: Input, run_options: RunOptions<'_>) -> Messages {
        take(self.action, self.setting, input, run_options)
    }

    /// Processes small files in parallel, each on one thread. Returns `false` if the remaining inputs would fail too.
    fn run_small(
        &self,
        inputs: impl Iterator<Item = Result<Input, Problem>> + Send,
        console: &mut Console,
    ) -> bool {
        let (action, setting) = (self.action, self.setting);
        let Terms { outputs, workers_side_by_side: workers, .. } = action.terms();
        let workers = at_work(workers);
        // Results for standard output wait in memory, and waiting inputs are open files.
        let to_stdout = outputs.is_some_and(|outputs| outputs.destination == Destination::Stdout);
        let each = if to_stdout { 4 } else { 16 };
        let most = Parallelism { workers, window: (each * workers).min(MAX_OPEN) };
        let Parallelism { workers, window } = most.within(limits::free());
        let mut stdout = None;
        let stream = anabranch::Source::new(inputs)
            .named("open")
            .into_stream()
            .title("abz files")
            .workers(workers)
            .window(window)
            .pool(self.pool())
            .named("convert")
            .map_init(Tools::new, move |tools, input| match input {
                Ok(input) => {
                    let run_options = RunOptions { tools: Some(tools), ..RunOptions::default() };
                    take(action, setting, input, run_options)
                }
                Err(problem) => Err(problem).into(),
            });
        const END: &str = "finish";
        let end = |messages: Messages| {
            console.tell(&messages);
            if let Some(outputs) = outputs.filter(|_| !messages.output.is_empty()) {
                write_out(&mut stdout, &messages.output, outputs)
                    .inspect_err(|problem| console.tell_problem(problem))
                    .map_err(drop)?;
            }
            if messages.is_hopeless { Err(()) } else { Ok(()) }
        };
        let result = match self.reports.is_wanted {
            false => stream.named(END).try_for_each(end),
            true => {
                let stream = if self.reports.traces { stream.trace() } else { stream };
                let slot = ReportSlot::new();
                let result = stream.report_to(&slot).named(END).try_for_each(end);
                if let Some(report) = slot.take() {
                    self.reports.tell(&report);
                }
                result
            }
        };
        if let Some((stdout, outputs)) = stdout.zip(outputs)
            && let Err(problem) = stdout.commit(Attributes::Usual, outputs)
        {
            console.tell_problem(&problem);
        }
        result.is_ok()
    }

    fn pool(&self) -> &Pool {
        self.pool.get_or_init(|| Pool::with_name(at_work(self.action.terms().workers), "abz"))
    }

    /// Returns `true` for inputs that one thread processes: files of at most one block, and inputs that cannot be
    /// opened.
    fn is_small(&self, input: &Result<Input, Problem>) -> bool {
        match input {
            Ok(input) => {
                let is_small = input.len().is_some_and(|len| len <= self.action.terms().inputs.small);
                is_small && input.is_file() && self.action.may_be_side_by_side(input)
            }
            Err(_) => true,
        }
    }
}

/// Processes one input.
fn take(action: &dyn Action, setting: Setting<'_>, input: Input, run_options: RunOptions<'_>) -> Messages {
    let mut messages = Messages::default();
    let result = setting.convert_file(action, input, run_options, &mut messages);
    messages.add(result);
    messages
}

/// Writes the result of a file to standard output, which is opened for the first one.
fn write_out(stdout: &mut Option<Output>, bytes: &[u8], outputs: &Outputs) -> Result<(), Problem> {
    let output = match stdout {
        Some(output) => output,
        None => stdout.insert(Output::open_stdout(outputs)?),
    };
    output.write_all(bytes).map_err(|error| {
        crate::command::system::interrupt::end_if_broken_pipe(&error);
        Problem::of_run("", &output.to_string(), &abz::Error::Write(error))
    })
}

fn list(request: &List, talk: &Talk, progress: &Progress, console: &mut Console) {
    let mut listing = Listing::new(request, talk);
    for input in Walk::new(&request.inputs) {
        if let Err(problem) = input.and_then(|input| listing.add(&input, progress)) {
            console.tell_problem(&problem);
        }
    }
    if let Err(problem) = listing.end() {
        console.tell_problem(&problem);
    }
}
