//! A case as another program reads it, and the record that the program writes of its run. The steps of the case are in the program,
//! or it reads them too.

use std::fmt::Write;

use super::case::{Case, Delay, Kind};
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
