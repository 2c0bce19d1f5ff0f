//! Functions that run in the process of the program.

use anabranch::{ReportSlot, Stream, TryStream};
use anabranch_cluster::{Cluster, Error, Functions, RemoteError, prelude::*};

use crate::support::{Act, Fault, Job, function, functions, work};

#[derive(Debug, PartialEq)]
enum Failure {
    Input(u64),
    Remote(RemoteError<Fault>),
}

impl From<RemoteError<Fault>> for Failure {
    fn from(error: RemoteError<Fault>) -> Self {
        Self::Remote(error)
    }
}

#[test]
fn results_are_those_of_the_loop() {
    let jobs = (0..500).map(|n| Job::new(n).sized(n as usize, 1 + n as usize % 40));
    let expected: Vec<_> = jobs.clone().map(|job| work(job).unwrap()).collect();
    let results = Stream::from_iter(jobs).map_remote(&function(&Cluster::local())).collect::<Vec<_>>();
    assert_eq!(results.unwrap(), expected);
}

#[test]
fn the_first_failure_is_typed_and_ends_the_stream() {
    let work = function(&Cluster::local());
    for (act, failure) in [
        (Act::Fail, RemoteError::Own(Fault(7))),
        (Act::Panic, RemoteError::Panic { item: 7, message: "job 7 panics".to_owned() }),
    ] {
        let jobs = (0..20).map(move |n| Job::new(n).act(if n % 8 == 7 { act.clone() } else { Act::Compute }));
        let mut seen = 0;
        let run = Stream::from_iter(jobs).map_remote(&work).for_each(|_| seen += 1);
        assert_eq!((seen, run), (7, Err(failure)));
    }
}

#[test]
fn a_stream_that_fails_with_its_own_error_takes_remote_ones_by_from() {
    let work = function(&Cluster::local());
    let stream = |bad: u64, act: Act| -> TryStream<'_, _, Failure> {
        let jobs = (0..9).map(move |n| if n == bad { Err(Failure::Input(n)) } else { Ok(Job::new(n)) });
        let jobs =
            jobs.map(move |job| job.map(|job| if job.number == 5 { job.act(act.clone()) } else { job }));
        Stream::try_from_iter(jobs).map_remote(&work)
    };
    assert_eq!(stream(3, Act::Fail).count(), Err(Failure::Input(3)));
    assert_eq!(stream(8, Act::Fail).count(), Err(Failure::Remote(RemoteError::Own(Fault(5)))));
    let slot = ReportSlot::new();
    let count = stream(10, Act::Compute).report_to(&slot).count();
    let report = slot.take().unwrap();
    assert_eq!(count, Ok(9));
    assert!(report.to_string().contains("try_map_async"));
}

#[test]
fn a_function_that_is_not_there_or_has_other_types_is_an_error_that_names_both() {
    let local = Cluster::local();
    let error = local.function::<Job, bytes::Bytes, Fault>(&functions(), "walk").unwrap_err();
    let text = "there is no function \"walk\" in tests 1.0 with work(Job) -> Result<Bytes, Fault>";
    assert_eq!(error.to_string(), text);
    let error = local.function::<u32, bytes::Bytes, Fault>(&functions(), "work").unwrap_err();
    assert!(matches!(error, Error::OtherTypes { .. }));
    let text = "the function is work(Job) -> Result<Bytes, Fault>, and this program asks for work(u32) -> Result<Bytes, Fault>";
    assert_eq!(error.to_string(), text);
}

#[test]
fn mistakes_panic_at_the_call() {
    let message = |f: fn() -> Functions| {
        let panic = std::panic::catch_unwind(f).unwrap_err();
        panic.downcast_ref::<String>().unwrap().clone()
    };
    let twice = || functions().function("work", |n: u8| Ok::<_, ()>(n));
    assert_eq!(message(twice), "tests has a function \"work\" already");
    assert!(message(|| Functions::new("a b", "1")).contains("\"a b\" is not"));
}
