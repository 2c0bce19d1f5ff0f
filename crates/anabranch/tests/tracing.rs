//! The spans of the feature `tracing`: one for each run, one for each unit in it, entered and left in pairs.
//!
//! A program of its own: the listener hears every thread of the process, so it would hear other tests' runs
//! too.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use anabranch::Stream;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Heard>>);

#[derive(Default)]
struct Heard {
    /// The kind, the fields and the parent of each span.
    spans: HashMap<u64, (&'static str, String, Option<u64>)>,
    entered: HashMap<u64, usize>,
    left: HashMap<u64, usize>,
}

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        *self.0 += &format!("{field}={value:?} ");
    }
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "anabranch"
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut fields = String::new();
        attributes.record(&mut Fields(&mut fields));
        let mut heard = self.0.lock().unwrap();
        let id = heard.spans.len() as u64 + 1;
        let parent = attributes.parent().map(Id::into_u64);
        heard.spans.insert(id, (attributes.metadata().name(), fields, parent));
        Id::from_u64(id)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, id: &Id) {
        *self.0.lock().unwrap().entered.entry(id.into_u64()).or_default() += 1;
    }

    fn exit(&self, id: &Id) {
        *self.0.lock().unwrap().left.entry(id.into_u64()).or_default() += 1;
    }
}

#[test]
fn a_run_has_a_span_and_each_unit_has_one_in_it() {
    let listener = Listener::default();
    // The listener is for all threads, since helpers have none of their own.
    tracing::subscriber::set_global_default(listener.clone()).unwrap();
    for workers in [1, 3] {
        *listener.0.lock().unwrap() = Heard::default();
        let sum = Stream::from_iter(0..1_000u64)
            .title("told")
            .workers(workers)
            .named("work")
            .map(|n| n + 1)
            .fold(0, |sum, n| sum + n);
        assert_eq!(sum, 500_500);
        let heard = listener.0.lock().unwrap();
        let (run, _) = heard.spans.iter().find(|(_, span)| span.0 == "run").expect("a span for the run");
        assert!(heard.spans[run].1.contains("told"), "{}", heard.spans[run].1);
        let stages: Vec<_> = heard.spans.values().filter(|span| span.0 == "stage").collect();
        assert_eq!(stages.len(), 3);
        assert!(stages.iter().all(|span| span.2 == Some(*run)));
        for name in ["from_iter", "work", "fold"] {
            assert!(
                stages.iter().any(|span| span.1.contains(&format!("name={name:?}"))),
                "{name}: {stages:?}"
            );
        }
        assert_eq!(heard.entered.len(), 4, "each of them was entered");
        assert_eq!(heard.entered, heard.left);
    }
}
