//! The threads executor: the caller and its helpers walk the line until its sink closes.

use anabranch_record::sync::thread;

use super::assembly::Line;
use super::run::Run;
use super::worker::{Worker, attend};

/// Runs a line with `workers` threads, the calling one among them, and one more for each dedicated stage.
/// Returns when every one of them has left.
pub(crate) fn run(line: &Line<'_>, run: &Run, workers: usize, window: u64, name: &str) {
    thread::scope(|scope| {
        for (at, station) in stations(line).enumerate() {
            if station.own.is_some() {
                spawn(scope, format!("{name}-stage-{at}"), move || attend(station, run));
            }
        }
        for helper in 1..workers {
            spawn(scope, format!("{name}-{helper}"), move || Worker::new(line, run, window).work());
        }
        Worker::new(line, run, window).work();
    });
}

fn stations<'l, 'env>(line: &'l Line<'env>) -> impl Iterator<Item = &'l super::assembly::Station<'env>> {
    std::iter::once(&line.source).chain(line.links.iter().map(|link| &link.station))
}

/// Spawns a named thread. A system that gives no more threads makes the run slower, not wrong: the caller
/// can finish it alone, unless the thread was to be a stage's own.
#[cfg(not(any(loom, shuttle)))]
fn spawn<'scope, 'env>(
    scope: &'scope thread::Scope<'scope, 'env>,
    name: String,
    body: impl FnOnce() + Send + 'scope,
) {
    let spawned = thread::Builder::new().name(name).spawn_scoped(scope, body);
    drop(spawned);
}

#[cfg(any(loom, shuttle))]
fn spawn<'scope, 'env>(
    scope: &'scope thread::Scope<'scope, 'env>,
    _: String,
    body: impl FnOnce() + Send + 'scope,
) {
    scope.spawn(body);
}
