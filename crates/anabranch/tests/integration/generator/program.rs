//! A case as another program reads it, and the record that the program writes of its run. The steps of the case are in the program,
//! or it reads them too.

use std::fmt::Write;

use super::case::{Case, Delay, Kind, Step};
use super::compare::Seen;
use super::model::{Ended, Loop, Place};

/// The data of a case beside its steps, as numbers with a space behind each.
pub fn told(case: &Case, plain: &Loop) -> String {
    // How many rounds of computing a call takes, and how many microseconds of sleep, at most.
    let (rounds, nap_micros) = match case.delay {
        Delay::Work { rounds } => (rounds, 0),
        Delay::Up { micros } => (0, micros),
        _ => (0, 0),
    };
    let mut text = format!("{} {} {} ", case.items, case.window, case.threads());
    write!(text, "{} {rounds} {nap_micros} {} ", case.burst.unwrap_or(1), case.count_nodes()).unwrap();
    let before: &[usize] = if case.is_gated { &plain.before } else { &[] };
    write!(text, "{} ", before.len()).unwrap();
    before.iter().for_each(|count| write!(text, "{count} ").unwrap());
    write!(text, "{} ", case.faults.len()).unwrap();
    for fault in &case.faults {
        let kind = match fault.kind {
            Kind::Error => 0,
            Kind::Panic => 1,
            Kind::Cancel => 2,
            Kind::CancelAndPanic => 3,
            Kind::Drain => 4,
        };
        let child = fault.child.unwrap_or(u64::MAX);
        write!(text, "{} {} {child} {kind} ", fault.node, fault.origin).unwrap();
    }
    text
}

/// The records of runs that a program has written, one after the other. A program that stops early has written fewer.
pub fn records(written: &str, cases: &[Case]) -> Result<Vec<Seen>, String> {
    let mut lines = written.lines();
    let seen = cases.iter().map(|case| record(&mut lines, case.count_nodes()));
    seen.collect::<Option<_>>().ok_or_else(|| format!("the program wrote\n{written}"))
}

/// One record. Its last line says how the run ended.
fn record<'t>(lines: &mut impl Iterator<Item = &'t str>, nodes: usize) -> Option<Seen> {
    let mut seen = Seen {
        delivered: Vec::new(),
        ended: Ended::Complete,
        logs: vec![Vec::new(); nodes],
        asked: 0,
        violations: Vec::new(),
        threads: 0,
        title: String::new(),
    };
    loop {
        let line = lines.next()?;
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut numbers = rest.split_whitespace().map_while(|word| word.parse::<u64>().ok());
        let mut place =
            || -> Option<Place> { Some((numbers.next()? as usize, numbers.next()?, numbers.next()?)) };
        let ended = match name {
            "violation" => {
                seen.violations.push(rest.to_owned());
                continue;
            }
            "delivered" => {
                seen.delivered = numbers.collect();
                continue;
            }
            "log" => {
                let node = numbers.next()? as usize;
                *seen.logs.get_mut(node)? = numbers.collect();
                continue;
            }
            "asked" => {
                seen.asked = numbers.next()? as usize;
                continue;
            }
            "complete" => Ended::Complete,
            "found" => Ended::Found(numbers.next()?),
            "error" => Ended::Error(place()?),
            "panic" => Ended::Panic(place()?),
            _ => return None,
        };
        return Some(Seen { ended, ..seen });
    }
}

/// How many smaller cases are tried.
const ATTEMPTS: usize = 200;

/// Leaves things out of a case that fails, for as long as it still does. Returns the smallest case that was found, and how it fails.
pub fn shrunk(
    mut case: Case,
    mut what: String,
    mut fails: impl FnMut(&Case) -> Option<String>,
) -> (Case, String) {
    let mut left = ATTEMPTS;
    'smaller: loop {
        for candidate in smaller(&case) {
            let Some(fewer) = left.checked_sub(1) else { return (case, what) };
            left = fewer;
            if let Some(reason) = fails(&candidate) {
                (case, what) = (candidate, reason);
                continue 'smaller;
            }
        }
        return (case, what);
    }
}

/// Cases that have something less each.
fn smaller(case: &Case) -> Vec<Case> {
    let all = |count: usize, change: fn(&mut Case, usize)| {
        (0..count).map(move |at| {
            let mut smaller = case.clone();
            change(&mut smaller, at);
            smaller
        })
    };
    let without_a_step = all(case.steps.len(), |case, at| {
        case.steps.remove(at);
        // The settings stay at their steps.
        case.settings.retain_mut(|(place, _)| {
            let is_kept = *place != at + 1;
            *place -= usize::from(*place > at);
            is_kept
        });
    });
    let plainer = all(case.steps.len(), |case, at| case.steps[at] = Step::Map)
        .filter(|smaller| smaller.steps != case.steps);
    let without_a_fault = all(case.faults.len(), |case, at| _ = case.faults.remove(at));
    let without_a_setting = all(case.settings.len(), |case, at| _ = case.settings.remove(at));
    let is_delayed = !matches!(case.delay, Delay::None);
    let without_delay = all(usize::from(is_delayed), |case, _| case.delay = Delay::None);
    let ungated = all(usize::from(case.is_gated), |case, _| case.is_gated = false);
    let fewer = all(if case.items > 0 { 2 } else { 0 }, |case, at| {
        case.items = if at == 0 { case.items / 2 } else { case.items - 1 };
    });
    let steps = without_a_step.chain(plainer);
    let others = without_a_fault.chain(without_a_setting).chain(without_delay).chain(ungated).chain(fewer);
    steps.chain(others).collect()
}
