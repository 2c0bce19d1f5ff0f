//! Checks one case against the contract.

use super::case::{Case, End};
use super::model::{Seen, plain_loop};
use super::pipeline::{Executor, Observed, run, run_pooled};
use super::{process, watchdog};

/// Runs a case as a loop, inline and with threads, and reports how they differ.
pub fn hold(case: &Case) -> Result<(), String> {
    watchdog::hush();
    let (plain, whole) = plain_loop(case);
    let inline = run(case, Executor::Inline);
    compare("inline", &inline, &plain, whole)?;
    // A source that never waits is asked for blocks. The stream behind an iterator runs ahead of it, and each result may stand
    // for several items of the source.
    let in_blocks = if case.in_blocks { case.window } else { 0 };
    let in_results = if case.end == End::Iter { case.window * case.gathered() } else { 0 };
    let ahead = in_blocks + in_results;
    // What a stage drops does not wait for a reader that has stopped.
    let runs_on = case.end == End::Iter && case.drops();
    let too_many = inline.seen.asked > plain.asked + ahead && !runs_on;
    if inline.seen.asked < plain.asked || too_many {
        return Err(format!("inline asked for {} items, the loop for {}", inline.seen.asked, plain.asked));
    }
    let threads = run(case, Executor::Threads);
    compare("threads", &threads, &plain, whole)?;
    if threads.seen.asked > plain.asked + case.bound() && !case.drops_before_a_window() && !runs_on {
        return Err(format!("the source gave {} items, the loop's {}", threads.seen.asked, plain.asked));
    }
    // An iterator is taken on a thread that is no worker.
    if threads.threads > case.workers + usize::from(case.end == End::Iter) {
        return Err(format!("{} threads ran for {} workers", threads.threads, case.workers));
    }
    // The system may need a moment until a thread that has ended is gone.
    let gone = || process::threads_named(&format!("{}-", threads.title)) == 0;
    if !watchdog::comes_true(watchdog::LIMIT / 2, gone) {
        return Err("threads outlive the call".into());
    }
    Ok(())
}

/// Runs a case as a loop, and with the threads of a pool alone, and reports how they differ.
pub fn hold_pooled(case: &Case, threads: usize) -> Result<(), String> {
    watchdog::hush();
    let (plain, whole) = plain_loop(case);
    let pooled = run_pooled(case, threads);
    compare("pooled", &pooled, &plain, whole)?;
    // The box before the end has a window of its own.
    let bound = case.bound() + case.window;
    if pooled.seen.asked > plain.asked + bound && !case.drops() {
        return Err(format!("the source gave {} items, the loop's {}", pooled.seen.asked, plain.asked));
    }
    Ok(())
}

/// Like [`hold_pooled`]. A hang is an error too.
pub fn hold_pooled_in_time(case: &Case, threads: usize) -> Result<(), String> {
    let ours = case.clone();
    watchdog::finishes_within(watchdog::LIMIT, move || hold_pooled(&ours, threads))
        .unwrap_or_else(|| Err(format!("hangs: not finished after {:?}", watchdog::LIMIT)))
}

fn compare(who: &str, ours: &Observed, plain: &Seen, whole: bool) -> Result<(), String> {
    if !ours.violations.is_empty() {
        return Err(format!("{who}: {:?}", ours.violations));
    }
    let seen = &ours.seen;
    if seen.result() != plain.result() {
        return Err(format!("{who}: {:?}\nthe loop: {:?}", seen.result(), plain.result()));
    }
    for (at, (ours, theirs)) in seen.serial.iter().zip(&plain.serial).enumerate() {
        // A serial stage may have run ahead of what stopped the stream, but must have seen the right items.
        if !ours.starts_with(theirs) || (whole && ours.len() > theirs.len()) {
            return Err(format!("{who}: serial stage {at} saw {ours:?}\nin the loop {theirs:?}"));
        }
    }
    Ok(())
}

/// Like [`hold`]. A hang is an error too.
pub fn hold_in_time(case: &Case) -> Result<(), String> {
    let ours = case.clone();
    watchdog::finishes_within(watchdog::LIMIT, move || hold(&ours))
        .unwrap_or_else(|| Err(format!("hangs: not finished after {:?}", watchdog::LIMIT)))
}
