//! Makes a stream of the builder from a line, and returns its plan or runs it.
//!
//! In the builder, each chain of stages has a type of its own. A line is made at run time and can only use a
//! fixed number of types. So neighbouring parallel stages are one unit, and every serial stage returns the
//! same type of stream.

use std::sync::{Arc, PoisonError};

use anabranch::posts::{Batched, Shape, Single};
use anabranch::{Apply, May, Plan, Progress, Report, Stream};

use crate::border::{Failure, Given, Owned};
use crate::line::{Border, Ended, Group, Host, Items, Line, Measured, Settings, ShowReport};

/// See [`Measured`].
pub(crate) const MEASURED: Measured = Measured { single: measured::<Single>, batched: measured::<Batched> };

/// The use of a stream after it was built.
trait End<'env> {
    type Out;

    fn of<U>(self, stream: Stream<'env, U, May<Failure>>, last: Option<Border<'env>>) -> Self::Out
    where
        U: Apply<Failure, Out = Owned> + Send + 'env;
}

impl Line {
    /// The plan that would run.
    pub(crate) fn plan(&self) -> Plan {
        let source = self.source(|| Ok(None));
        if self.settings.never_waits {
            self.build(source.never_waits(), None, Draw)
        } else {
            self.build(source, None, Draw)
        }
    }

    /// Runs the items of `next` through the line, on the calling thread and its workers.
    pub(crate) fn run<'env, N>(&'env self, next: N) -> Ended
    where
        N: FnMut() -> Given + Send + 'env,
    {
        let source = self.source(next);
        match (self.settings.never_waits, self.settings.measured) {
            (true, None) => plain(self, source.never_waits(), None),
            (true, Some(measured)) => (measured.batched)(self, source.never_waits(), None),
            (false, None) => plain(self, source, None),
            (false, Some(measured)) => (measured.single)(self, source, None),
        }
    }

    /// Runs the items of `stream` through the line, on the calling thread and its workers.
    pub(crate) fn run_posted<'env>(&'env self, stream: Items<'env, Batched>, host: Host<'env>) -> Ended {
        match self.settings.measured {
            None => plain(self, stream, Some(host)),
            Some(measured) => (measured.batched)(self, stream, Some(host)),
        }
    }

    /// The stream of the items of `next`, without stages.
    fn source<'env, N>(&'env self, next: N) -> Items<'env, Single>
    where
        N: FnMut() -> Given + Send + 'env,
    {
        Stream::try_from_fn(next)
    }

    fn build<'env, S: Shape, V>(
        &'env self,
        stream: Items<'env, S>,
        host: Option<Host<'env>>,
        end: V,
    ) -> V::Out
    where
        V: End<'env>,
    {
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
            stream = match group {
                None if unordered => stream.unordered().try_serial_filter_map(call),
                None => stream.try_serial_filter_map(call),
                Some(group) => hop(stream, group).try_serial_filter_map(call),
            }
            .name(name);
        }
        match group {
            None => end.of(stream, last),
            Some(group) => end.of(hop(stream, group), last),
        }
    }
}

/// Runs a line.
fn plain<'env, S: Shape>(line: &'env Line, stream: Items<'env, S>, host: Option<Host<'env>>) -> Ended {
    let result = line.build(stream, host, Run(&line.settings));
    Ended { result: without_end(result), report: None }
}

/// Runs a line, and measures the run.
fn measured<'env, S: Shape>(line: &'env Line, stream: Items<'env, S>, host: Option<Host<'env>>) -> Ended {
    let (result, report) = line.build(stream, host, Measure(&line.settings));
    let show = move |format| match format {
        0 => Some(report.to_string()),
        1 => Some(report.to_json()),
        3 => Some(report.to_svg()),
        4 => Some(report.to_trace()),
        _ => None,
    };
    Ended { result: without_end(result), report: Some(ShowReport(Box::new(show))) }
}

/// The end that a function of the user has asked for is not a failure.
fn without_end(result: Result<(), Failure>) -> Result<(), Failure> {
    match result {
        Err(Failure::End) => Ok(()),
        result => result,
    }
}

/// Applies the settings of the user to a stream of the builder.
fn set<'env, S: Shape>(mut stream: Items<'env, S>, settings: &'env Settings) -> Items<'env, S> {
    if let Some((bytes, weigher)) = &settings.weigher {
        stream = stream.window_bytes(*bytes, |item| weigher.weigh(item));
    }
    stream = stream.name(settings.source.as_deref().unwrap_or("source"));
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
        stream = stream.spin();
    }
    if settings.inline {
        stream = stream.inline();
    }
    if settings.traces {
        stream = stream.trace();
    }
    settings.tokens.iter().fold(stream, Stream::cancel)
}

/// Adds a group to the stream.
fn hop<'env, U>(
    stream: Stream<'env, U, May<Failure>>,
    group: Group<'env>,
) -> Stream<'env, impl Apply<Failure, Out = Owned, To = U::To> + Send + 'env, May<Failure>>
where
    U: Apply<Failure, Out = Owned> + Send + 'env,
{
    let stream = if group.unordered { stream.unordered() } else { stream };
    let (name, replicas) = (group.name(), group.replicas());
    let group = Arc::new(group);
    let of_locals = Arc::clone(&group);
    let stream = stream
        .try_map_with(move || of_locals.locals(), move |locals, item| group.call(locals, item))
        .name(name);
    let stream = match replicas {
        Some(replicas) => stream.replicate(replicas),
        None => stream,
    };
    stream.filter_map(|given| given).name("drop")
}

struct Draw;

impl<'env> End<'env> for Draw {
    type Out = Plan;

    fn of<U>(self, stream: Stream<'env, U, May<Failure>>, last: Option<Border<'env>>) -> Plan
    where
        U: Apply<Failure, Out = Owned> + Send + 'env,
    {
        match last {
            Some(last) => stream.name_end(last.name()).plan(),
            None => stream.plan(),
        }
    }
}

/// Adds the progress and the end to a stream.
fn closed<'env, U>(
    mut stream: Stream<'env, U, May<Failure>>,
    settings: &'env Settings,
    last: Option<&Border<'env>>,
) -> Stream<'env, U, May<Failure>>
where
    U: Apply<Failure, Out = Owned> + Send + 'env,
{
    if let Some(progress) = &settings.progress {
        stream = stream.on_progress(|Progress { items, elapsed, .. }| {
            let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
            progress.tell(items, u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX));
        });
    }
    match last {
        Some(last) if last.unordered => stream.unordered().name_end(last.name()),
        Some(last) => stream.name_end(last.name()),
        None => stream,
    }
}

/// The function of the end.
fn take<'env>(mut last: Option<Border<'env>>) -> impl FnMut(Owned) -> Result<(), Failure> + Send + 'env {
    move |item| match &mut last {
        Some(last) => last.call(item).map(drop),
        None => Ok(()),
    }
}

struct Run<'env>(&'env Settings);

impl<'env> End<'env> for Run<'env> {
    type Out = Result<(), Failure>;

    fn of<U>(self, stream: Stream<'env, U, May<Failure>>, last: Option<Border<'env>>) -> Self::Out
    where
        U: Apply<Failure, Out = Owned> + Send + 'env,
    {
        closed(stream, self.0, last.as_ref()).try_for_each(take(last))
    }
}

struct Measure<'env>(&'env Settings);

impl<'env> End<'env> for Measure<'env> {
    type Out = (Result<(), Failure>, Report);

    fn of<U>(self, stream: Stream<'env, U, May<Failure>>, last: Option<Border<'env>>) -> Self::Out
    where
        U: Apply<Failure, Out = Owned> + Send + 'env,
    {
        closed(stream, self.0, last.as_ref()).report().try_for_each(take(last))
    }
}
