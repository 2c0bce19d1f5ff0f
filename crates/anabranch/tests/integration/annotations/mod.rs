//! Annotated loops: each function is compiled with its annotations and without them, and must do the same.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;

use crate::contract_support::watchdog::within;
use anabranch::stream;

/// Compiles the same functions twice: with their annotations, and as plain loops.
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

/// Checks that both forms give the same result for these arguments.
macro_rules! same {
    ($name:ident($($arg:expr),*)) => {{
        let plain = within(move || plain::$name($($arg),*));
        let annotated = within(move || annotated::$name($($arg),*));
        assert_eq!(annotated, plain, "{}", stringify!($name($($arg),*)));
        plain
    }};
}

mod borders;
mod early;
mod exits;
mod functions;
mod loops;
mod moves;
mod names;
mod random;
mod states;

/// Work that takes some time, which differs from item to item.
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
            pool = pool, cancel_by = token, window = 8, burst = 1, title = "settings", wait = park,
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
