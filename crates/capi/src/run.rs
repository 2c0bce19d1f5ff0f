//! Makes a stream of the builder from a line, and returns its plan or runs it.
//!
//! Neighbouring parallel stages of the user become one stage of the builder, so an item passes from one to the next
//! without being stored.

use std::sync::{Arc, PoisonError};

use anabranch::plan::Wait;
use anabranch::{Plan, Progress, ReportSlot, Source, Stream, Watch, annotation};

use crate::border::{Failure, Given, Owned};
use crate::line::{Border, Ended, Group, Host, Items, Line, Settings, ShowReport};

impl Line {
    /// Returns the plan that would run.
    pub(crate) fn plan(&self) -> Plan {
        let (stream, last) = self.build(self.source(|| Ok(None)), None);
        match last {
            Some(last) => stream.named(last.name()).plan(),
            None => stream.plan(),
        }
    }

    /// Runs the items of `next` through the line, on the calling thread and its workers.
    pub(crate) fn run<'env, N>(&'env self, next: N) -> Ended
    where
        N: FnMut() -> Given + Send + 'env,
    {
        self.settings.measured.unwrap_or(plain)(self, self.source(next), None)
    }

    /// Runs the items of `stream` through the line, on the calling thread and its workers.
    pub(crate) fn run_posted<'env>(&'env self, stream: Items<'env>, host: Host<'env>) -> Ended {
        self.settings.measured.unwrap_or(plain)(self, stream, Some(host))
    }

    /// Returns the stream of the items of `next`, without stages.
    fn source<'env, N>(&'env self, mut next: N) -> Items<'env>
    where
        N: FnMut() -> Given + Send + 'env,
    {
        let settings = &self.settings;
        let source = Source::try_new(std::iter::from_fn(move || next().transpose()));
        let mut source = source.named(settings.source_name());
        if settings.in_blocks {
            source = source.in_blocks();
        }
        if let Some((bytes, weigher)) = &settings.weigher {
            source = source.window_bytes(*bytes, |item| weigher.weigh(item));
        }
        source.into_stream()
    }

    /// Adds the stages to a stream. Returns it with the stage that becomes its end, if there is one.
    fn build<'env>(
        &'env self,
        stream: Items<'env>,
        host: Option<Host<'env>>,
    ) -> (Items<'env>, Option<Border<'env>>) {
        let mut segments = self.segments();
        let (group, last) = segments.pop().unwrap_or((None, None));
        let mut stream = set(stream, &self.settings);
        if let Some(Host { pool, workers, window }) = host {
            stream = stream.pool(pool).workers(workers).window(window);
        }
        for (group, border) in segments {
            let mut border = border.expect("only the last segment has no serial stage");
            let (name, unordered) = (border.name().to_owned(), border.unordered);
            let call = move |item| border.call(item);
            let before = match group {
                None if unordered => stream.unordered(),
                None => stream,
                Some(group) => hop(stream, group),
            };
            stream = before.named(name).try_serial_filter_map(call);
        }
        let stream = match group {
            None => stream,
            Some(group) => hop(stream, group),
        };
        (stream, last)
    }
}

/// Runs a line.
fn plain<'env>(line: &'env Line, stream: Items<'env>, host: Option<Host<'env>>) -> Ended {
    let (stream, last) = line.build(stream, host);
    let result = end(closed(stream, &line.settings, last.as_ref()), last);
    Ended { result: without_end(result), report: None }
}

/// Runs a line, and measures the run.
pub(crate) fn measured<'env>(line: &'env Line, stream: Items<'env>, host: Option<Host<'env>>) -> Ended {
    let (stream, last) = line.build(stream, host);
    let slot = ReportSlot::new();
    let result = end(closed(stream, &line.settings, last.as_ref()).report_to(&slot), last);
    let report = slot.take().expect("a run that has ended has its report");
    let show = move |format| match format {
        0 => Some(report.to_string()),
        1 => Some(report.to_json()),
        3 => Some(report.to_svg()),
        4 => Some(report.to_trace()),
        _ => None,
    };
    Ended { result: without_end(result), report: Some(ShowReport(Box::new(show))) }
}

/// Runs a stream whose end is `last`.
fn end<'env>(stream: Items<'env>, last: Option<Border<'env>>) -> Result<(), Failure> {
    match &last {
        Some(border) => stream.named(border.name()).try_for_each(take(last)),
        None => stream.try_for_each(take(last)),
    }
}

/// Turns the end that a function of the user has asked for into success.
fn without_end(result: Result<(), Failure>) -> Result<(), Failure> {
    match result {
        Err(Failure::End) => Ok(()),
        result => result,
    }
}

/// Applies the settings of the user to a stream of the builder.
fn set<'env>(mut stream: Items<'env>, settings: &'env Settings) -> Items<'env> {
    if let Some(title) = &settings.title {
        stream = stream.title(title);
    }
    if let Some(workers) = settings.workers {
        stream = stream.workers(workers);
    }
    if let Some(window) = settings.window {
        stream = stream.window(window);
    }
    if let Some(burst) = settings.burst {
        stream = stream.burst(burst);
    }
    if settings.spin {
        stream = stream.with_plan(|plan| plan.settings.wait = Wait::Spin);
    }
    if settings.inline {
        stream = stream.inline();
    }
    if settings.traces {
        stream = stream.trace();
    }
    // A stage that needs no more items does not fail: what it has passed on is finished.
    let stream = annotation::leaving(stream, |failure| matches!(failure, Failure::End));
    settings.tokens.iter().fold(stream, Stream::cancel_by)
}

/// Adds a group to the stream.
fn hop<'env>(stream: Items<'env>, group: Group<'env>) -> Items<'env> {
    let stream = if group.unordered { stream.unordered() } else { stream };
    let (name, replicas) = (group.name(), group.replicas());
    let group = Arc::new(group);
    let of_locals = Arc::clone(&group);
    let make = move || of_locals.locals();
    let stream = stream.named(name).replicas(replicas);
    let stream = stream.try_map_init(make, move |locals, item| group.call(locals, item));
    stream.named("drop").filter_map(|given| given)
}

/// Adds the progress and the end to a stream.
fn closed<'env>(
    mut stream: Items<'env>,
    settings: &'env Settings,
    last: Option<&Border<'env>>,
) -> Items<'env> {
    if let Some(progress) = &settings.progress {
        stream = stream.watch(Watch::progress(|Progress { items, elapsed, .. }| {
            let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
            progress.tell(items, u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX));
        }));
    }
    match last {
        Some(last) if last.unordered => stream.unordered(),
        _ => stream,
    }
}

/// Returns the function of the end.
fn take<'env>(mut last: Option<Border<'env>>) -> impl FnMut(Owned) -> Result<(), Failure> + Send + 'env {
    move |item| match &mut last {
        Some(last) => last.call(item).map(drop),
        None => Ok(()),
    }
}
