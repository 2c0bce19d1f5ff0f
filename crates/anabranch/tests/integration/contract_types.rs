//! Sharing that would be a data race does not compile (C8), and sound sharing does (C7). Each program that
//! must not compile has a twin that compiles and differs in one thing only, so it cannot be rejected for
//! another reason.
//!
//! The programs are compiled with the compiler and the library of this test.

use std::fs;
use std::process::Output;

use crate::compiler;
use crate::contract_support::watchdog::within;

/// Compiles a program whose `main` is `body`, as far as its types.
fn compile(name: &str, body: &str) -> Output {
    let folder = compiler::folder("contract-types");
    let source = folder.join(format!("{name}.rs"));
    let uses = "use anabranch::Stream;\nuse std::cell::{Cell, RefCell};\nuse std::rc::Rc;\n";
    fs::write(&source, format!("{uses}fn main() {{\n{body}\n}}\n")).unwrap();
    let output = compiler::compile(&source, &folder);
    let _ = fs::remove_file(&source);
    output
}

/// `refused` must not compile, with this error; `twin` must.
fn refuses(name: &'static str, error: &'static str, refused: &'static str, twin: &'static str) {
    within(move || {
        let good = compile(&format!("{name}_twin"), twin);
        assert!(good.status.success(), "the twin: {}", String::from_utf8_lossy(&good.stderr));
        let bad = compile(name, refused);
        let text = String::from_utf8_lossy(&bad.stderr);
        assert!(!bad.status.success(), "this compiles:\n{refused}");
        assert!(text.contains(error), "not for the reason {error}: {text}");
    });
}

#[test]
fn a_parallel_stage_may_not_change_what_it_captures() {
    refuses(
        "changes",
        "E0594",
        "let mut sum = 0; Stream::from_iter(0..9).map(|n| { sum += n; n }).count();",
        "let mut sum = 0; Stream::from_iter(0..9).serial_map(|n| { sum += n; n }).count();",
    );
}

#[test]
fn a_parallel_stage_may_not_use_a_ref_cell() {
    refuses(
        "ref_cell",
        "E0277",
        "let sum = RefCell::new(0); Stream::from_iter(0..9).map(|n| *sum.borrow_mut() += n).count();",
        "let sum = std::sync::Mutex::new(0); Stream::from_iter(0..9).map(|n| *sum.lock().unwrap() += n).count();",
    );
}

#[test]
fn a_filter_may_not_use_a_cell() {
    refuses(
        "cell",
        "E0277",
        "let seen = Cell::new(0); Stream::from_iter(0..9).filter(|&n| seen.replace(n) < n).count();",
        "let mut seen = Cell::new(0); Stream::from_iter(0..9).serial_map(move |n| seen.replace(n) < n).count();",
    );
}

#[test]
fn an_rc_is_no_item() {
    refuses(
        "rc_item",
        "E0277",
        "Stream::from_iter([Rc::new(1)]).count();",
        "Stream::from_iter([std::sync::Arc::new(1)]).count();",
    );
}

#[test]
fn a_stage_may_not_give_an_rc() {
    refuses(
        "rc_result",
        "E0277",
        "Stream::from_iter(0..9).map(Rc::new).count();",
        "Stream::from_iter(0..9).map(Box::new).count();",
    );
}

#[test]
fn a_serial_stage_may_not_give_an_rc() {
    refuses(
        "rc_serial",
        "E0277",
        "Stream::from_iter(0..9).serial_map(Rc::new).count();",
        "Stream::from_iter(0..9).serial_map(Box::new).count();",
    );
}

#[test]
fn a_flat_map_may_not_give_rcs() {
    refuses(
        "rc_flat",
        "E0277",
        "Stream::from_iter(0..9).flat_map(|n| vec![Rc::new(n)]).count();",
        "Stream::from_iter(0..9).flat_map(|n| vec![Box::new(n)]).count();",
    );
}

#[test]
fn an_error_must_be_send() {
    refuses(
        "rc_error",
        "E0277",
        "let _: Result<Vec<u32>, Rc<u32>> = Stream::from_iter(0..9u32).try_map(|n| if n > 9 { Err(Rc::new(n)) } else { Ok(n) }).collect();",
        "let _: Result<Vec<u32>, Box<u32>> = Stream::from_iter(0..9u32).try_map(|n| if n > 9 { Err(Box::new(n)) } else { Ok(n) }).collect();",
    );
}

#[test]
fn a_serial_stage_may_not_hold_an_rc() {
    refuses(
        "rc_state",
        "E0277",
        "let rc = Rc::new(1); Stream::from_iter(0..9).serial_map(move |n| n + *rc).count();",
        "let rc = std::sync::Arc::new(1); Stream::from_iter(0..9).serial_map(move |n| n + *rc).count();",
    );
}

#[test]
fn a_source_that_is_not_send_is_refused() {
    refuses(
        "rc_source",
        "E0277",
        "let rc = Rc::new(1); Stream::from_iter((0..9).map(move |n| n + *rc)).count();",
        "let rc = std::sync::Arc::new(1); Stream::from_iter((0..9).map(move |n| n + *rc)).count();",
    );
}

#[test]
fn a_sink_that_is_not_send_is_refused() {
    refuses(
        "rc_sink",
        "E0277",
        "let mut log = Rc::new(Cell::new(0)); Stream::from_iter(0..9).for_each(|n| log.set(n));",
        "let mut log = Cell::new(0); Stream::from_iter(0..9).for_each(move |n| log.set(n));",
    );
}

#[test]
fn a_state_of_a_worker_may_be_an_rc_but_its_factory_may_not_share_one() {
    refuses(
        "rc_factory",
        "E0277",
        "let rc = Rc::new(1); Stream::from_iter(0..9).map_init(|| Rc::clone(&rc), |_, n| n).count();",
        "Stream::from_iter(0..9).map_init(|| Rc::new(RefCell::new(1)), |_, n| n).count();",
    );
}

#[test]
fn a_state_of_a_worker_does_not_leave_it() {
    refuses(
        "state_leaves",
        "lifetime may not live long enough",
        "Stream::from_iter(0..9).map_init(|| 1, |state, _| state).count();",
        "Stream::from_iter(0..9).map_init(|| 1, |state, _| *state).count();",
    );
}

#[test]
fn a_serial_stage_and_the_source_may_not_change_the_same_thing() {
    refuses(
        "two_writers",
        "E0499",
        "let mut n = 0; Stream::from_iter(std::iter::from_fn(|| { n += 1; (n < 9).then_some(n) })).serial_map(|k| { n += 1; k }).count();",
        "let (mut n, mut m) = (0, 0);
         Stream::from_iter(std::iter::from_fn(|| { n += 1; (n < 9).then_some(n) })).serial_map(|k| { m += 1; k }).count();",
    );
}

#[test]
fn what_a_serial_stage_changes_cannot_be_read_by_a_parallel_one() {
    refuses(
        "reader_and_writer",
        "E0502",
        "let mut seen = 0; Stream::from_iter(0..9).serial_map(|n| { seen += 1; n }).map(|n| n + seen).count();",
        "let seen = 0; Stream::from_iter(0..9).serial_map(|n| n + seen).map(|n| n + seen).count();",
    );
}

#[test]
fn what_is_borrowed_must_outlive_the_call() {
    refuses(
        "outlives",
        "E0597",
        "let stream = { let word = String::from(\"a\"); Stream::from_iter(0..9).map(|_| word.len()) }; stream.count();",
        "let word = String::from(\"a\"); let stream = { Stream::from_iter(0..9).map(|_| word.len()) }; stream.count();",
    );
}

#[test]
fn errors_of_two_types_need_a_conversion() {
    refuses(
        "two_errors",
        "E0308",
        "let _ = Stream::from_iter(0..9).try_map(|n| if n > 9 { Err(1u8) } else { Ok(n) })
            .try_map(|n| if n > 9 { Err('a') } else { Ok(n) }).count();",
        "let _ = Stream::from_iter(0..9).try_map(|n| if n > 9 { Err('b') } else { Ok(n) })
            .try_map(|n| if n > 9 { Err('a') } else { Ok(n) }).count();",
    );
}
