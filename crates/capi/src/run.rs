//! Makes a stream of the builder from a line, and returns its plan or runs it.
//!
//! In the builder, each chain of stages has a type of its own. A line is made at run time and can only use a
//! fixed number of types. So neighbouring parallel stages are one unit, and every serial stage returns the
//! same type of stream.

use std::sync::{Arc, PoisonError};

use anabranch::{Apply, May, Plan, Pool, Progress, Report, Stream};

use crate::border::{Failure, Given, Owned};
use crate::line::{Border, Ended, Group, Line, Settings};

/// Ends the source of a stream early.
type Stop<'h> = &'h (dyn Fn() + Sync);

/// The threads and settings of a line whose items are sent.
pub(crate) struct Host<'h> {
    pub(crate) pool: &'h Pool,
    pub(crate) workers: usize,
    /// The window, in items. `None` means the default of the builder.
    pub(crate) window: Option<usize>,
    /// Ends the source, which may be waiting for the caller, as soon as a stage has failed.
    pub(crate) stop: Stop<'h>,
}

/// The use of a stream after it was built.
trait End<'env> {
    type Out;

    fn of<U>(
        self,
        stream: Stream<'env, U, May<Failure>>,
        last: Option<Border<'env>>,
        stop: Stop<'env>,
    ) -> Self::Out
    where
        U: Apply<Failure, Out = Owned> + Send + 'env;
}

impl Line {
    /// The plan that would run.
    pub(crate) fn plan(&self) -> Plan {
        self.build(|| Ok(None), None, Draw)
    }

    /// Runs the line on the calling thread and its workers.
    pub(crate) fn run<'env, N>(&'env self, next: N, host: Option<Host<'env>>) -> Ended
    where
        N: FnMut() -> Given + Send + 'env,
    {
        let mut ended = self.build(next, host, Run(&self.settings));
        if let Err(Failure::End) = ended.result {
            ended.result = Ok(());
        }
        ended
    }

    fn build<'env, N, V>(&'env self, next: N, host: Option<Host<'env>>, end: V) -> V::Out
    where
        N: FnMut() -> Given + Send + 'env,
        V: End<'env>,
    {
        let mut segments = self.segments();
        let (group, last) = segments.pop().unwrap_or((None, None));
        let mut stream = Stream::try_from_fn(next);
        if let Some((bytes, weigher)) = &self.settings.weigher {
            stream = stream.window_bytes(*bytes, |item| weigher.weigh(item));
        }
        stream = set(stream, &self.settings);
        let mut stop: Stop<'env> = &|| ();
        if let Some(host) = host {
            stop = host.stop;
            stream = stream.pool(host.pool).workers(host.workers);
            if let Some(window) = host.window {
                stream = stream.window(window);
            }
        }
        for (group, border) in segments {
            let mut border = border.expect("only the last segment has no serial stage");
            let (name, unordered) = (border.name().to_owned(), border.unordered);
            let call = move |item| border.call(item).inspect_err(|_| stop());
            stream = match group {
                None if unordered => stream.unordered().try_serial_filter_map(call),
                None => stream.try_serial_filter_map(call),
                Some(group) => hop(stream, group, stop).try_serial_filter_map(call),
            }
            .name(name);
        }
        match group {
            None => end.of(stream, last, stop),
            Some(group) => end.of(hop(stream, group, stop), last, stop),
        }
    }
}

/// Applies the settings of the user to a stream of the builder.
fn set<'env, U>(
    mut stream: Stream<'env, U, May<Failure>>,
    settings: &'env Settings,
) -> Stream<'env, U, May<Failure>>
where
    U: Apply<Failure, Out = Owned> + Send + 'env,
{
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
    stop: Stop<'env>,
) -> Stream<'env, impl Apply<Failure, Out = Owned, To = U::To> + Send + 'env, May<Failure>>
where
    U: Apply<Failure, Out = Owned> + Send + 'env,
{
    let stream = if group.unordered { stream.unordered() } else { stream };
    let (name, replicas) = (group.name(), group.replicas());
    let group = Arc::new(group);
    let of_locals = Arc::clone(&group);
    let stream = stream
        .try_map_with(
            move || of_locals.locals(),
            move |locals, item| group.call(locals, item).inspect_err(|_| stop()),
        )
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

    fn of<U>(self, stream: Stream<'env, U, May<Failure>>, last: Option<Border<'env>>, _: Stop<'env>) -> Plan
    where
        U: Apply<Failure, Out = Owned> + Send + 'env,
    {
        match last {
            Some(last) => stream.name_end(last.name()).plan(),
            None => stream.plan(),
        }
    }
}

struct Run<'env>(&'env Settings);

impl<'env> End<'env> for Run<'env> {
    type Out = Ended;

    fn of<U>(
        self,
        mut stream: Stream<'env, U, May<Failure>>,
        mut last: Option<Border<'env>>,
        stop: Stop<'env>,
    ) -> Ended
    where
        U: Apply<Failure, Out = Owned> + Send + 'env,
    {
        if let Some(progress) = &self.0.progress {
            stream = stream.on_progress(|Progress { items, elapsed, .. }| {
                let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
                progress.tell(items, u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX));
            });
        }
        let stream = match &last {
            Some(last) if last.unordered => stream.unordered().name_end(last.name()),
            Some(last) => stream.name_end(last.name()),
            None => stream,
        };
        let take = move |item| match &mut last {
            Some(last) => last.call(item).map(drop).inspect_err(|_| stop()),
            None => Ok(()),
        };
        if self.0.reports {
            let (result, report): (Result<(), Failure>, Report) = stream.report().try_for_each(take);
            Ended { result, report: Some(report) }
        } else {
            Ended { result: stream.try_for_each(take), report: None }
        }
    }
}
