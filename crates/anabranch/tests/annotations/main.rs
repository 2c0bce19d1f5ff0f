//! Annotated loops: each function is compiled with its annotations and without them, and must do the same.

#[path = "../contract_support/mod.rs"]
mod contract_support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;

use anabranch::stream;
use contract_support::watchdog::within;

/// The same functions twice: annotated, and as plain loops.
macro_rules! twice {
    ($($(#[$attr:meta])* fn $name:ident $([$($generics:tt)*])? ($($args:tt)*) $(-> $result:ty)? $body:block)*) => {
        mod annotated {
            #![allow(unused)]
            use super::*;
            $(#[stream] $(#[$attr])* pub fn $name $(<$($generics)*>)? ($($args)*) $(-> $result)? $body)*
        }
        mod plain {
            #![allow(unused, clippy::never_loop, clippy::explicit_counter_loop)]
            use super::*;
            $(#[stream(off)] $(#[$attr])* pub fn $name $(<$($generics)*>)? ($($args)*) $(-> $result)? $body)*
        }
    };
}

/// Both forms, with these arguments each, give the same.
macro_rules! same {
    ($name:ident($($arg:expr),*)) => {{
        let plain = within(move || plain::$name($($arg),*));
        let annotated = within(move || annotated::$name($($arg),*));
        assert_eq!(annotated, plain, "{}", stringify!($name($($arg),*)));
        plain
    }};
}

mod names;

/// Work that takes a while, and not always the same.
fn hash(n: u64) -> u64 {
    (0..n % 97).fold(n, |hash, k| hash.rotate_left(5) ^ (k.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
}

fn parse(text: &str) -> Result<u64, std::num::ParseIntError> {
    text.parse()
}

fn lines(bad: Option<usize>) -> Vec<String> {
    let line = |n| if Some(n) == bad { "x".to_owned() } else { n.to_string() };
    (0..500).map(line).collect()
}

twice! {
    fn for_loop(count: u64) -> Vec<u64> {
        let mut out = Vec::new();
        #[to_stream]
        for n in 0..count {
            #[stage(replicate)]
            let h = hash(n);
            #[stage]
            out.push(h);
        }
        out
    }

    fn while_loop(count: u64) -> (u64, Vec<(u64, u64)>) {
        let mut n = 0;
        let mut out = Vec::new();
        #[to_stream]
        while n < count {
            n += 1;
            let now = n;
            #[stage(replicate = 3)]
            let h = hash(now);
            #[stage]
            {
                out.push((now, h));
            }
        }
        (n, out)
    }

    fn while_let(mut stack: Vec<u64>) -> u64 {
        let mut sum = 0u64;
        #[to_stream]
        while let Some(n) = stack.pop() {
            if n == 3 {
                continue;
            }
            #[stage(replicate)]
            let h = hash(n);
            sum = sum.wrapping_mul(31).wrapping_add(h);
        }
        sum
    }

    fn endless_loop(mut input: &'static [u8]) -> Vec<u8> {
        let mut output = Vec::new();
        #[to_stream(window = 4, workers = 3)]
        loop {
            let mut block = vec![0; 7];
            let length = input.read(&mut block).unwrap();
            block.truncate(length);
            if block.is_empty() {
                break;
            }
            #[stage(replicate)]
            block.make_ascii_uppercase();
            #[stage]
            output.write_all(&block).unwrap();
        }
        output
    }

    fn several_stages(count: u64) -> (u64, String) {
        let mut total = 0u64;
        let mut text = String::new();
        #[to_stream(unordered, window = 16)]
        for n in (0..count).filter(|n| n % 2 == 0) {
            let m = n + 1;
            #[stage(replicate, name = "first")]
            let (a, b) = { let a = hash(n); (a, hash(m)) };
            #[stage(replicate = 2)]
            let c = a ^ b;
            #[stage(name = "count")]
            total = total.wrapping_add(c);
            let d = c % 2;
            #[stage(replicate)]
            if d == 0 { continue; }
            #[stage]
            { text.push('.'); }
        }
        (total, text)
    }

    fn question_marks(lines: Vec<String>) -> Result<Vec<u64>, Box<dyn std::error::Error>> {
        let mut out = Vec::new();
        #[to_stream]
        for line in &lines {
            #[stage(replicate)]
            let number = parse(line)?;
            #[stage]
            out.push(number);
        }
        Ok(out)
    }

    fn seen_before_an_error(lines: &[String], out: &mut String) -> Result<(), io::Error> {
        #[to_stream]
        for (at, line) in lines.iter().enumerate() {
            #[stage(replicate)]
            let number = parse(line).map_err(|error| io::Error::other(format!("line {at}: {error}")))?;
            #[stage]
            write!(out, "{number},").map_err(io::Error::other)?;
        }
        Ok(())
    }

    fn options(lines: &[String]) -> Option<u64> {
        let mut sum = 0;
        #[to_stream]
        for line in lines {
            #[stage(replicate)]
            let number = parse(line).ok()?;
            #[stage]
            sum += number;
        }
        Some(sum)
    }

    fn control_flow(lines: &[String]) -> ControlFlow<String, u64> {
        let mut sum = 0;
        #[to_stream]
        for line in lines {
            #[stage(replicate)]
            let number = match parse(line) {
                Ok(number) => ControlFlow::Continue(number),
                Err(_) => ControlFlow::Break(line.clone()),
            }?;
            #[stage]
            sum += number;
        }
        ControlFlow::Continue(sum)
    }

    fn break_with_a_value(from: u64) -> (u64, Vec<u64>) {
        let mut n = from;
        let mut seen = Vec::new();
        let found = #[to_stream] loop {
            let now = n;
            n += 1;
            #[stage(replicate)]
            let h = hash(now);
            #[stage]
            seen.push(now);
            if h % 50 == 7 { break h; }
        };
        (found, seen)
    }

    fn breaks_in_a_replicated_stage(limit: u64) -> Vec<u64> {
        let mut seen = Vec::new();
        #[to_stream]
        for n in 0.. {
            #[stage(replicate)]
            if n >= limit { break; }
            #[stage]
            seen.push(n);
        }
        seen
    }

    fn returns_from_everywhere(lines: &[String], at: u64) -> String {
        let mut seen = String::new();
        #[to_stream]
        for line in lines {
            if line == "400" { return "source".to_owned(); }
            #[stage(replicate)]
            let number = match parse(line) {
                Ok(number) => number,
                Err(error) => return error.to_string(),
            };
            #[stage]
            for k in 0..number {
                if k == at {
                    return format!("{k} of {number}");
                }
                if k > 10 { break; }
            }
        }
        "end".to_owned()
    }

    fn labels(rows: &[Vec<u64>]) -> Vec<u64> {
        let mut sums = Vec::new();
        'rows: for row in rows {
            let mut sum = 0u64;
            #[to_stream]
            'row: for &n in row {
                if n == 1 { continue 'row; }
                #[stage(replicate)]
                let h = {
                    let mut h = 0u64;
                    'inner: for k in 0..n {
                        if k == 5 { continue 'inner; }
                        if k == 9 { break 'inner; }
                        if n == 77 { continue 'row; }
                        if n == 78 { continue 'rows; }
                        if n == 79 { break 'row; }
                        if n == 80 { break 'rows; }
                        h = h.wrapping_add(hash(k));
                    }
                    h
                };
                #[stage]
                sum = sum.wrapping_add(h);
            }
            sums.push(sum);
        }
        sums
    }

    fn continue_from_a_nested_loop(count: u64) -> Vec<u64> {
        let mut out = Vec::new();
        let mut n = 0;
        #[to_stream]
        'items: while n < count {
            n += 1;
            let now = n;
            for k in 2..now {
                if now % k == 0 { continue 'items; }
            }
            #[stage(replicate)]
            let h = hash(now);
            #[stage]
            out.push((now, h).0);
        }
        out
    }

    fn shadowing(count: u64) -> Vec<(u64, String)> {
        let mut out = Vec::new();
        #[to_stream]
        for x in 0..count {
            let y = x.to_string();
            #[stage(replicate)]
            let x = { let y = hash(x); y + 1 };
            #[stage(replicate)]
            let y = { let x = &y; format!("{x}!") };
            #[stage]
            let z = (x, y);
            out.push(z);
        }
        out
    }

    fn declared_before(count: u64) -> u64 {
        let mut sum = 0u64;
        #[to_stream]
        for n in 0..count {
            let h;
            let text: String;
            #[stage(replicate)]
            { h = hash(n); text = format!("{h}"); }
            #[stage]
            { sum = sum.wrapping_add(h).wrapping_add(text.len() as u64); }
        }
        sum
    }

    fn let_else(lines: &[String]) -> u64 {
        let mut sum = 0;
        #[to_stream]
        for line in lines {
            #[stage(replicate)]
            let Ok(number) = line.parse::<u64>() else { continue };
            #[stage]
            sum += number;
        }
        sum
    }

    fn state_by_name(words: &[String]) -> Vec<usize> {
        let mut buffer = String::new();
        let mut count = 0usize;
        let mut out = Vec::new();
        #[to_stream]
        for word in words {
            #[stage(replicate = 2, state(buffer = String::with_capacity(8), count = 0))]
            let length = {
                buffer.clear();
                buffer.push_str(word);
                count += 1;
                buffer.push_str(word);
                buffer.len()
            };
            out.push(length);
        }
        out
    }

    fn state_found(words: &[String]) -> Vec<usize> {
        let mut buffer = String::new();
        let mut out = Vec::new();
        #[to_stream(schedule = dealt)]
        for word in words {
            #[stage(replicate = 3, state = || String::new())]
            let length = {
                buffer.clear();
                buffer.push_str(word);
                if buffer.len() == 2 { continue; }
                buffer.len()
            };
            out.push(length);
        }
        out
    }

    fn in_a_block(count: u64) -> u64 {
        let mut sum = 0u64;
        #[to_stream]
        {
            let offset = 7;
            for n in 0..count {
                #[stage(replicate)]
                let h = hash(n + offset);
                #[stage]
                sum = sum.wrapping_add(h);
            }
            sum += offset;
        }
        sum
    }

    fn macros_in_the_body(words: &[String]) -> String {
        let mut out = String::new();
        let suffix = "!";
        #[to_stream]
        for word in words {
            let width = word.len() + 1;
            #[stage(replicate)]
            let text = format!("{word:>width$}{suffix}{}", vec![width, hash(width as u64) as usize][0]);
            #[stage]
            writeln!(out, "{text} {width}").unwrap();
        }
        out
    }

    fn generic [T: Send + Sync + Clone, F: Fn(&T) -> R + Sync, R: Send] (items: &[T], f: F) -> Vec<R> {
        let mut out = Vec::new();
        #[to_stream]
        for item in items {
            #[stage(replicate)]
            let result = f(item);
            #[stage]
            out.push(result);
        }
        out
    }

    fn impl_trait(items: impl Iterator<Item = u64> + Send, out: &mut (impl Write + Send)) -> io::Result<usize> {
        let mut count = 0;
        #[to_stream]
        for n in items {
            #[stage(replicate)]
            let line = format!("{}\n", hash(n));
            #[stage]
            out.write_all(line.as_bytes())?;
            count += 1;
        }
        Ok(count)
    }

    fn two_streams(count: u64) -> (Vec<u64>, Vec<u64>) {
        let mut first = Vec::new();
        #[to_stream]
        for n in 0..count {
            #[stage(replicate)]
            let h = hash(n);
            #[stage]
            first.push(h);
        }
        let mut second = Vec::new();
        #[to_stream]
        for h in &first {
            #[stage(replicate)]
            let n = hash(*h);
            #[stage]
            second.push(n);
        }
        (first, second)
    }

    fn nested(rows: &[Vec<String>]) -> Result<Vec<u64>, String> {
        let mut sums = Vec::new();
        #[to_stream]
        for row in rows {
            #[stage(replicate = 2)]
            let sum = {
                let mut sum = 0u64;
                #[to_stream(workers = 2)]
                for text in row {
                    #[stage(replicate)]
                    let number = parse(text).map_err(|error| format!("{text}: {error}"))?;
                    #[stage]
                    sum = sum.wrapping_add(hash(number));
                }
                sum
            };
            #[stage]
            sums.push(sum);
        }
        Ok(sums)
    }

    fn last_stage_replicated(count: u64) -> u64 {
        let sum = std::sync::atomic::AtomicU64::new(0);
        #[to_stream]
        for n in 0..count {
            #[stage(replicate)]
            {
                if n % 3 == 0 { continue; }
                sum.fetch_add(hash(n) % 1_000, std::sync::atomic::Ordering::Relaxed);
            }
        }
        sum.into_inner()
    }

    fn collisions(items: u64, result: u64) -> (u64, u64) {
        // Names that an expansion might use.
        let value = 1;
        let item = 2;
        let mut report = 0u64;
        let mut state = 0u64;
        #[to_stream]
        for stream in 0..items {
            #[stage(replicate)]
            let residual = hash(stream + value + item);
            #[stage]
            { report = report.wrapping_add(residual); state += result; }
        }
        (report, state)
    }

    fn inputs_and_outputs(count: u64) -> u64 {
        let mut sum = 0u64;
        #[to_stream]
        for n in 0..count {
            let m = 2 * n;
            #[stage(replicate, input(n, m), output(h))]
            let h = hash(n + m);
            #[stage(input(h, sum))]
            sum = sum.wrapping_add(h);
        }
        sum
    }

    fn items_in_the_body(count: u64) -> Vec<u64> {
        let mut out = Vec::new();
        #[to_stream]
        for n in 0..count {
            const STEP: u64 = 3;
            fn step(n: u64) -> u64 { n + STEP }
            macro_rules! twice_over { ($e:expr) => { step(step($e)) } }
            #[stage(replicate)]
            let m = twice_over!(n);
            #[stage]
            out.push(m + STEP);
        }
        out
    }

    fn patterns(pairs: &[(u64, Option<String>)]) -> Vec<String> {
        struct Both { left: u64, right: String }
        let mut out = Vec::new();
        #[to_stream]
        for &(n, ref text) in pairs {
            let Some(text) = text else { continue };
            let [a, .., z] = [n, 5, n + 1];
            #[stage(replicate)]
            let Both { left, right: mut name } = Both { left: a * z, right: text.clone() };
            #[stage(replicate)]
            match left {
                0 => name.push('0'),
                low @ 1..=9 if low != n => name.push_str(&low.to_string()),
                _ => name.insert(0, '#'),
            }
            #[stage]
            if let (last, Some(first)) = (out.last(), name.chars().next()) && last != Some(&name) && first != '!' {
                out.push(name);
            }
        }
        out
    }

    fn moved_in_and_out(count: usize) -> Vec<Box<[u8]>> {
        let mut spare = vec![Vec::new(); 3];
        let mut out = Vec::new();
        let mut left = count;
        #[to_stream(may_run_ahead)]
        while left > 0 {
            left -= 1;
            let mut buffer = spare.pop().unwrap_or_default();
            buffer.resize(left, left as u8);
            #[stage(replicate)]
            let boxed = { buffer.reverse(); buffer.into_boxed_slice() };
            #[stage]
            out.push(boxed);
            if out.len() == 50 { break; }
        }
        out
    }

    fn in_a_closure(count: u64) -> Result<u64, String> {
        let run = |offset: u64| -> Result<u64, std::num::ParseIntError> {
            let mut sum = 0u64;
            #[to_stream]
            for n in 0..count {
                #[stage(replicate)]
                let m: u64 = (n + offset).to_string().parse()?;
                #[stage]
                sum = sum.wrapping_add(hash(m));
            }
            Ok(sum)
        };
        let first = run(1).map_err(|error| error.to_string())?;
        Ok(first ^ run(2).map_err(|error| error.to_string())?)
    }

    fn into_impl(count: u64) -> impl Iterator<Item = u64> {
        let mut out = Vec::new();
        #[to_stream]
        for n in 0..count {
            #[stage(replicate)]
            let h = hash(n);
            #[stage]
            out.push(h);
        }
        out.into_iter()
    }

    fn raw_names(count: u64) -> u64 {
        let mut r#type = 0u64;
        #[to_stream]
        for r#match in 0..count {
            #[stage(replicate)]
            let r#in = hash(r#match);
            #[stage]
            { r#type = r#type.wrapping_add(r#in); }
        }
        r#type
    }

    fn nothing_to_do() -> u32 {
        let mut count = 0;
        #[to_stream]
        for _ in [(); 0] {
            #[stage(replicate)]
            let () = ();
            #[stage]
            count += 1;
        }
        count
    }
}

#[test]
fn loops_of_each_kind_are_the_loop() {
    assert_eq!(same!(for_loop(1_000)).len(), 1_000);
    same!(while_loop(300));
    same!(while_let((0..200).collect()));
    assert_eq!(same!(endless_loop(b"down the river and up again")), b"DOWN THE RIVER AND UP AGAIN");
    same!(in_a_block(100));
    same!(nothing_to_do());
    same!(last_stage_replicated(1_000));
}

#[test]
fn stages_and_what_crosses_their_borders() {
    let (total, text) = within(|| plain::several_stages(600));
    let (annotated, dots) = within(|| annotated::several_stages(600));
    assert_eq!((annotated, dots.len()), (total, text.len()));
    same!(shadowing(200));
    same!(declared_before(200));
    same!(let_else(&lines(Some(40))));
    same!(macros_in_the_body(&lines(None)));
    same!(collisions(100, 3));
    same!(inputs_and_outputs(100));
    same!(items_in_the_body(100));
    same!(patterns(&(0..200).map(|n| (n % 7, (n % 3 > 0).then(|| format!("n{n}")))).collect::<Vec<_>>()));
    same!(moved_in_and_out(80));
    same!(raw_names(100));
}

#[test]
fn states_are_made_for_each_worker() {
    same!(state_by_name(&lines(None)));
    same!(state_found(&lines(None)));
}

#[test]
fn every_way_out_is_the_loops() {
    for bad in [None, Some(0), Some(123), Some(499)] {
        let text = |result: Result<Vec<u64>, Box<dyn std::error::Error>>| result.map_err(|e| e.to_string());
        assert_eq!(text(annotated::question_marks(lines(bad))), text(plain::question_marks(lines(bad))));
        let seen = |f: fn(&[String], &mut String) -> io::Result<()>| {
            let mut out = String::new();
            let result = f(&lines(bad), &mut out).map_err(|error| error.to_string());
            (result, out)
        };
        assert_eq!(seen(annotated::seen_before_an_error), seen(plain::seen_before_an_error));
        same!(options(&lines(bad)));
        let _ = same!(control_flow(&lines(bad)));
        for at in [0, 5, 1_000] {
            same!(returns_from_everywhere(&lines(bad), at));
        }
    }
    same!(break_with_a_value(1_000));
    same!(breaks_in_a_replicated_stage(77));
    same!(continue_from_a_nested_loop(200));
    let row = |special: u64| (0..50).chain([special]).chain(0..20).collect::<Vec<u64>>();
    for special in 76..=80 {
        same!(labels(&[row(7), row(special), row(8)]));
    }
}

#[test]
fn functions_of_each_kind() {
    same!(generic(&[3u64, 5, 7], |n: &u64| hash(*n)));
    let written = |f: fn(std::ops::Range<u64>, &mut Vec<u8>) -> io::Result<usize>| {
        let mut out = Vec::new();
        let count = f(0..200, &mut out).unwrap();
        (count, out)
    };
    assert_eq!(written(annotated::impl_trait), written(plain::impl_trait));
    same!(two_streams(100));
    let _ = same!(in_a_closure(100));
    assert!(annotated::into_impl(100).eq(plain::into_impl(100)));
    for bad in [None, Some(3)] {
        let rows =
            move || (0..5).map(|row| lines(bad.filter(|&bad| bad == row)).split_off(450)).collect::<Vec<_>>();
        let _ = same!(nested(&rows()));
    }
}

trait Sums {
    fn weight(&self, n: u64) -> u64;

    #[stream]
    fn sum(&self, count: u64) -> u64
    where
        Self: Sync,
    {
        let mut sum = 0u64;
        #[to_stream]
        for n in 0..count {
            #[stage(replicate)]
            let weight = self.weight(n);
            sum += weight;
        }
        sum
    }
}

impl Sums for u64 {
    fn weight(&self, n: u64) -> u64 {
        self * n
    }
}

#[test]
fn methods_of_traits() {
    assert_eq!(within(|| 3u64.sum(100)), 14_850);
}

/// Counts words: methods that change their `self` in a serial stage.
#[derive(Default)]
struct Counter {
    counts: BTreeMap<String, usize>,
    fold: bool,
}

impl Counter {
    #[stream]
    fn count(&mut self, text: &str) -> usize {
        let mut words = 0;
        let fold = self.fold;
        #[to_stream]
        for line in text.lines() {
            #[stage(replicate)]
            let found: Vec<String> = line
                .split_whitespace()
                .map(|word| if fold { word.to_lowercase() } else { word.to_owned() })
                .collect();
            #[stage]
            for word in found {
                *self.counts.entry(word).or_default() += 1;
                words += 1;
            }
        }
        words
    }

    #[stream]
    fn most(&self, least: usize) -> Option<&str> {
        let mut most = None;
        #[to_stream]
        for (word, &count) in &self.counts {
            #[stage(replicate)]
            if count < least || self.fold && word.is_empty() {
                continue;
            }
            #[stage]
            if most.is_none_or(|(_, other)| other < count) {
                most = Some((word, count));
            }
        }
        most.map(|(word, _)| word.as_str())
    }
}

#[test]
fn methods_with_self() {
    within(|| {
        let mut counter = Counter { fold: true, ..Counter::default() };
        assert_eq!(counter.count("the river and The sea\nand the rain"), 8);
        assert_eq!(counter.most(2), Some("the"));
        assert_eq!(counter.most(9), None);
    });
}

#[test]
fn a_panic_comes_with_its_payload_and_line() {
    #[stream]
    fn panics(n: u64) -> u64 {
        let mut sum = 0;
        #[to_stream]
        for k in 0..1_000 {
            #[stage(replicate)]
            let h = if k == n { panic!("item {k}") } else { k };
            #[stage]
            sum += h;
        }
        sum
    }
    within(|| {
        let payload = std::panic::catch_unwind(|| panics(500)).unwrap_err();
        assert_eq!(payload.downcast_ref::<String>().unwrap(), "item 500");
        assert_eq!(panics(5_000), 499_500);
    });
}

#[test]
fn settings_reach_the_stream() {
    let pool = anabranch::Pool::new(2);
    let token = anabranch::CancelToken::new();
    let mut texts = Vec::new();
    #[stream]
    fn run(pool: &anabranch::Pool, token: &anabranch::CancelToken, texts: &mut Vec<String>) -> u64 {
        let mut sum = 0;
        #[to_stream(
            pool = pool, cancel = token, window = 8, burst = 1, title = "settings", wait = park,
            schedule = on_demand, dedicated, report = |report| texts.push(format!("{report}"))
        )]
        for n in 0..100u64 {
            #[stage(replicate = 2, name = "square")]
            let square = n * n;
            #[stage(dedicated, name = "sum")]
            sum += square;
        }
        sum
    }
    assert_eq!(run(&pool, &token, &mut texts), 328_350);
    let report = &texts[0];
    assert!(report.contains("2 workers") && report.contains("square") && report.contains("sum"), "{report}");
}
