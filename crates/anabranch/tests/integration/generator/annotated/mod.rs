//! Cases as loops with annotations: the steps are written as the text of a function, which the compiler turns into a stream. It
//! runs as a program of its own with other items, faults and settings of the same steps, and must give what the plain loop gives.
//!
//! `ANNOTATED_CASES=600 cargo test -p anabranch --test integration many_cases_as_annotated -- --ignored --nocapture` compiles more.

use std::fmt::Write;
use std::fs;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::case::{Case, End, From, How, Kind, Lie, Setting, Step, Way, cases};
use super::compare::compare;
use super::model::plain_loop;
use super::program::{records, shrunk, told};
use crate::compiler;
use crate::contract_support::random;
use crate::contract_support::watchdog::{LIMIT, finishes_within};

/// The program around the functions.
const BEGINNING: &str = r#"#![allow(warnings)]
mod contract_support {
    #[path = "HERE/contract_support/planted.rs"]
    pub mod planted;
}
#[path = "HERE/generator/keys.rs"]
mod keys;
#[path = "HERE/generator/annotated/world.rs"]
mod world;
use anabranch::stream;
use contract_support::planted::mix;
use world::{Ended, Item, Local, Tried, World, children, keeps};
"#;

/// The place of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the body of the loop, so it may be a stage.
    Loop,
    /// In a loop inside of the last stage.
    Inner,
    /// In one of several branches of a statement.
    Branch,
}

/// A step as text. In it, `SKIP` stands for the statements that go on with the next item, and `LEAVE` for those that leave the
/// loop.
struct Form {
    text: String,
    /// It runs for several items at once, so it is one statement.
    is_parallel: bool,
    /// The step is the last one of its loop: those after it are in the loop that it opens.
    opens: bool,
}

/// The text of a step, or `None` if a loop with annotations has none for it there.
fn form(step: &Step, n: usize, place: Place) -> Option<Form> {
    let of = |text: String, is_parallel: bool| Some(Form { text, is_parallel, opens: false });
    let parallel = |text: String| of(text, true);
    let serial = |text: String| of(text, false);
    let opens = |calls: &str, child: &str| {
        let text = format!("{calls} for number in 0..children(item.key, {n}) {{ let item = world.{child};");
        (place != Place::Branch).then_some(Form { text, is_parallel: false, opens: true })
    };
    let (child, try_child) =
        (format!("child({n}, &item, number)"), format!("try_child({n}, &item, number)?"));
    let kept = format!("if keeps(item.key, {n}) {{ Some(item.marked({n})) }} else {{ None }}");
    let some = |calls: &str| format!("let Some(item) = ({{ {calls} {kept} }}) else {{ SKIP }};");
    let marked = |calls: &str| format!("let item = {{ {calls} item.marked({n}) }};");
    let ends = |limit: u64| format!("world.meet({n}, &item); if item.origin >= {limit} {{ LEAVE }}");
    let (visit, try_visit) = (format!("world.visit({n}, &item);"), format!("world.try_visit({n}, &item)?;"));
    let (meet, try_meet) = (format!("world.meet({n}, &item);"), format!("world.try_meet({n}, &item)?;"));
    match *step {
        Step::Map => parallel(marked(&visit)),
        Step::Try => parallel(marked(&try_visit)),
        Step::With if place == Place::Loop => parallel(marked(&format!("local.check(world); {visit}"))),
        Step::TryWith if place == Place::Loop => parallel(marked(&format!("local.check(world); {try_visit}"))),
        Step::Inspect => parallel(visit),
        Step::Filter => parallel(format!("if ({{ {visit} !keeps(item.key, {n}) }}) {{ SKIP }}")),
        Step::FilterMap => parallel(some(&visit)),
        Step::TryFilterMap => parallel(some(&try_visit)),
        Step::Unordered if place != Place::Branch => serial(String::new()),
        Step::Each => serial(marked(&meet)),
        Step::TryEach => serial(marked(&try_meet)),
        Step::Option => serial(some(&meet)),
        Step::TryOption => serial(some(&try_meet)),
        Step::Take(most) if most > 0 && place != Place::Branch => {
            serial(format!("count_{n} += 1; let is_last_{n} = count_{n} == {most};"))
        }
        Step::TakeWhile(limit) | Step::MapWhile(limit) => serial(ends(limit)),
        Step::Scan(limit) => serial(format!(
            "{} count_{n} = mix(count_{n}, item.key); let item = item.with_key(count_{n});",
            ends(limit)
        )),
        Step::Enumerate => serial(format!("let item = item.marked(count_{n} as usize); count_{n} += 1;")),
        Step::Zip(most) => serial(format!(
            "if count_{n} == {most} {{ LEAVE }} let item = item.marked(count_{n} as usize); count_{n} += 1;"
        )),
        Step::Skip(count) => serial(format!("count_{n} += 1; if count_{n} <= {count} {{ SKIP }}")),
        Step::EveryNth(step) => serial(format!("count_{n} += 1; if (count_{n} - 1) % {step} != 0 {{ SKIP }}")),
        Step::Flat => opens(&visit, &child),
        Step::SerialFlat | Step::SerialSpread => opens(&meet, &child),
        Step::TrySerialFlat | Step::TrySerialSpread => opens(&try_meet, &try_child),
        Step::Fork(way @ (Way::Chosen | Way::InTurn), ref branches) => fork(way, branches, n),
        // A loop has no text for these in a branch, or in a loop inside.
        Step::With | Step::TryWith | Step::Unordered | Step::Take(_) => None,
        // Methods of a stream, without a counterpart in a loop.
        Step::Farm
        | Step::TryFarm
        | Step::CountBytes
        | Step::Through
        | Step::NewError
        | Step::MapAsync(_)
        | Step::TryMapAsync(_)
        | Step::FilterMapAsync(_)
        | Step::TryFilterMapAsync(_)
        | Step::Sharded(_)
        | Step::TrySharded(_)
        | Step::ByKey
        | Step::Needing(_)
        | Step::Throttle
        | Step::Spread
        | Step::ReadyChunks(_)
        | Step::Feedback { .. }
        | Step::Fork(Way::Zip | Way::Merge | Way::ByKey, _)
        // A loop over the children makes one after the other, and not all of them first.
        | Step::TryFlat => None,
        // The items that such a step has left at the end of the source go through the steps after it, which are in the body of
        // the loop.
        Step::Chain(_)
        | Step::Interleave(_)
        | Step::Chunks(_)
        | Step::ChunkBy
        | Step::SortedWithin(_)
        | Step::Windows(..)
        | Step::Aggregated(..)
        | Step::WindowsByKey(_)
        | Step::Times(_)
        | Step::Sessions(_) => None,
    }
}

/// Branches as one statement.
fn fork(way: Way, branches: &[Vec<Step>], n: usize) -> Option<Form> {
    let count = branches.len();
    let (mut text, mut is_parallel, mut node) = (String::new(), way == Way::Chosen, n + 1);
    let choice = if way == Way::Chosen {
        format!("item.key % {count}")
    } else {
        text = format!("let turn = count_{n} % {count}; count_{n} += 1; ");
        "turn".to_owned()
    };
    write!(text, "let item = (match {choice} {{").unwrap();
    for (number, steps) in branches.iter().enumerate() {
        // A branch that is never taken has the type of all numbers.
        let pattern = if number + 1 == count { "_".to_owned() } else { number.to_string() };
        write!(text, " {pattern} => {{").unwrap();
        for step in steps {
            let inner = form(step, node, Place::Branch)?;
            is_parallel &= inner.is_parallel;
            write!(text, " {}", inner.text).unwrap();
            node += step.nodes();
        }
        text.push_str(" item }");
    }
    text.push_str(" }).joined();");
    Some(Form { text, is_parallel, opens: false })
}

/// Puts steps that have a text in the place of those that have none.
fn write_steps(steps: &mut [Step], mut place: Place) {
    for step in steps {
        if let Step::Fork(_, branches) = step {
            branches.iter_mut().for_each(|steps| write_steps(steps, Place::Branch));
        }
        match form(step, 1, place) {
            None => *step = Step::Try,
            Some(form) if form.opens => place = Place::Inner,
            Some(_) => {}
        }
    }
}

/// The nearest case that a loop with annotations can be written for.
fn writable(mut case: Case) -> Case {
    write_steps(&mut case.steps, Place::Loop);
    case.from = if case.from == From::Iter { From::Iter } else { From::Fn };
    case.lie = Lie::None;
    case.how = match case.how {
        how @ (How::Threads(_) | How::Pool(_) | How::Reported(_)) => how,
        how => How::Threads(Case { how, ..case.clone() }.threads()),
    };
    case.end = match case.end {
        end @ (End::ForEach | End::TryForEach | End::Find(_) | End::Any(_)) => end,
        End::All(limit) => End::Any(limit),
        End::TryFold => End::TryForEach,
        End::Fold | End::Collect | End::Summary(_) => End::ForEach,
    };
    if Head::of(&case).has_value(&case) {
        // A loop that is cancelled has no value, and panics.
        case.faults.retain(|fault| matches!(fault.kind, Kind::Error | Kind::Panic));
    }
    case.settings.retain(|(_, setting)| {
        matches!(
            setting,
            Setting::Dedicated | Setting::Replicate(_) | Setting::Spin | Setting::Names | Setting::Passes
        )
    });
    case.buildable()
}

/// The head of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Head {
    For,
    While,
    Loop,
}

impl Head {
    fn of(case: &Case) -> Self {
        match case.from {
            From::Iter => Head::For,
            _ if case.items.is_multiple_of(2) => Head::While,
            _ => Head::Loop,
        }
    }

    /// Whether the loop is an expression.
    fn has_value(self, case: &Case) -> bool {
        self == Head::Loop && matches!(case.end, End::Any(_))
    }
}

/// The steps of a loop as they are written.
struct Text {
    body: String,
    /// The place of the next step.
    place: Place,
    /// How many loops were opened inside.
    opened: usize,
    /// The variables that say whether the item is the last one: those of the outer loops, and those of this loop.
    outer: Vec<Vec<String>>,
    last: Vec<String>,
    /// Whether the next stage gives the order up.
    is_unordered: bool,
    /// Whether the loop is an expression.
    has_value: bool,
}

impl Text {
    /// Leaves the loop. If the loop has a value, `value` is that.
    fn leave_with(&self, value: &str) -> String {
        let label = if self.opened > 0 { "'items" } else { "" };
        format!("break {label} {};", if self.has_value { value } else { "" })
    }

    fn leave(&self) -> String {
        self.leave_with("None")
    }

    /// Leaves the loop if a step needs no more than this item.
    fn leave_after_last(&self) -> String {
        if self.last.is_empty() {
            return String::new();
        }
        format!("if {} {{ {} }}", self.last.join(" || "), self.leave())
    }

    fn add(&mut self, case: &Case, at: usize, node: usize) {
        let step = &case.steps[at];
        let Form { text, is_parallel, opens } = form(step, node, self.place).expect("a step with a text");
        let skip = format!("{} continue;", self.leave_after_last());
        let text = text.replace("SKIP", &skip).replace("LEAVE", &self.leave());
        if *step == Step::Unordered {
            self.is_unordered |= self.place == Place::Loop;
            return;
        }
        if self.place == Place::Loop {
            let mut options = Vec::new();
            for setting in case.settings_at(at + 1) {
                match setting {
                    Setting::Replicate(count) if is_parallel => options.push(format!("replicate = {count}")),
                    Setting::Dedicated if !is_parallel => options.push("dedicated".into()),
                    Setting::Names => options.push(format!("name = \"step {at}\"")),
                    _ => {}
                }
            }
            if is_parallel && !options.iter().any(|option| option.starts_with("replicate")) {
                options.insert(0, "replicate".into());
            }
            if matches!(step, Step::With | Step::TryWith) {
                let is_named = node.is_multiple_of(3);
                options.push(
                    if is_named { "state(local = Local::new())" } else { "state = || Local::new()" }.into(),
                );
            }
            if std::mem::take(&mut self.is_unordered) {
                options.push("unordered".into());
            }
            // Statements without an annotation belong to the serial stage before them, or to the source.
            if !options.is_empty() || node.is_multiple_of(2) || opens {
                let options =
                    if options.is_empty() { String::new() } else { format!("({})", options.join(", ")) };
                writeln!(self.body, "#[stage{options}]").unwrap();
            }
        }
        writeln!(self.body, "{text}").unwrap();
        if let Step::Take(_) = step {
            self.last.push(format!("is_last_{node}"));
        }
        if opens {
            self.place = Place::Inner;
            self.opened += 1;
            self.outer.push(std::mem::take(&mut self.last));
        }
    }
}

/// The function of a case.
fn function(case: &Case, name: &str) -> String {
    let head = Head::of(case);
    let mut text = Text {
        body: String::new(),
        place: Place::Loop,
        opened: 0,
        outer: Vec::new(),
        last: Vec::new(),
        is_unordered: false,
        has_value: head.has_value(case),
    };
    case.steps.iter().enumerate().zip(case.places()).for_each(|((at, _), node)| text.add(case, at, node));
    if text.place == Place::Loop {
        text.body.push_str(if text.is_unordered { "#[stage(unordered)]\n" } else { "#[stage]\n" });
    }
    let end = match case.end {
        End::TryForEach => "world.try_deliver(&item)?;".to_owned(),
        End::Find(limit) => {
            format!(
                "world.deliver(&item); if item.origin >= {limit} {{ return Ok(Ended::Found(item.key)); }}"
            )
        }
        End::Any(limit) => {
            let leave = text.leave_with("Some(item.key)");
            let notes = if text.has_value { "" } else { "found = Some(item.key);" };
            format!("world.deliver(&item); if item.origin >= {limit} {{ {notes} {leave} }}")
        }
        _ => "world.deliver(&item);".to_owned(),
    };
    writeln!(text.body, "{end}").unwrap();
    while text.opened > 0 {
        writeln!(text.body, "{}\n}}", text.leave_after_last()).unwrap();
        text.opened -= 1;
        text.last = text.outer.pop().expect("the variables of the loop around");
    }
    writeln!(text.body, "{}", text.leave_after_last()).unwrap();

    let mut options =
        "window = world.window, workers = world.workers, burst = world.burst, cancel_by = &world.token"
            .to_owned();
    match case.how {
        How::Pool(_) => options.push_str(", pool = &world.pool"),
        How::Reported(_) => options.push_str(", report = |report| world.check_report(&report)"),
        _ => {}
    }
    for (at, setting) in &case.settings {
        match setting {
            Setting::Dedicated if *at == 0 => options.push_str(", dedicated"),
            Setting::Spin if !options.contains("spin") => options.push_str(", wait = spin"),
            Setting::Names if !options.contains("title") => options.push_str(", title = \"annotated\""),
            Setting::Passes if !options.contains("dealt") && !case.steps.contains(&Step::Unordered) => {
                options.push_str(", schedule = dealt");
            }
            _ => {}
        }
    }
    let source = "let mut source = world.source();";
    let annotation = format!("#[to_stream({options})]");
    let (before, end) = match head {
        Head::For => (format!("{annotation}\n'items: for item in world.source() {{"), "}"),
        // The annotation stands before the loop, or before a block around it.
        Head::While if case.count_nodes().is_multiple_of(2) => {
            (format!("{source}\n{annotation}\n'items: while let Some(item) = source.next() {{"), "}")
        }
        Head::While => {
            (format!("{annotation}\n{{\n{source}\n'items: while let Some(item) = source.next() {{"), "}\n}")
        }
        Head::Loop => {
            let (result, value, end) =
                if text.has_value { ("let found = ", "None", "};") } else { ("", "", "}") };
            let next = format!("let Some(item) = source.next() else {{ break {value} }};");
            (format!("{source}\n{result}{annotation}\n'items: loop {{\n{next}"), end)
        }
    };
    let counts: String = (0..case.count_nodes()).map(|n| format!("let mut count_{n} = 0u64;\n")).collect();
    format!(
        "#[stream]\nfn {name}(world: &World) -> Tried<Ended> {{\nlet (mut found, mut local) = (None::<u64>, Local::new());\n{counts}\
        {before}\nlet item = item?;\n{}{end}\nOk(found.map_or(Ended::Complete, Ended::Found))\n}}\n",
        text.body
    )
}

/// A function that was drawn, and the cases with which it runs.
struct Drawn {
    text: String,
    cases: Vec<Case>,
}

impl Drawn {
    /// Whether the statements before the first stage go on with the next item. Such items are not in flight.
    fn source_skips(&self) -> bool {
        let source = self.text.split("#[stage").next().expect("a text has a beginning");
        source.contains("continue")
    }
}

fn drawn(number: usize, runs: usize, runner: &mut TestRunner) -> Drawn {
    let mut draw = || cases().new_tree(runner).unwrap().current();
    let first = draw();
    let first = writable(if number % 4 == 3 { first.leaving_without_order() } else { first });
    let again = |other: Case| Case {
        steps: first.steps.clone(),
        settings: first.settings.clone(),
        from: first.from,
        how: match first.how {
            How::Pool(_) => How::Pool(other.threads()),
            How::Reported(_) => How::Reported(other.threads()),
            _ => How::Threads(other.threads()),
        },
        // The number of items decides which loop is written.
        items: other.items & !1 | first.items & 1,
        end: first.end,
        ..other
    };
    let cases = (0..runs).map(|_| writable(again(draw()))).collect();
    Drawn { text: function(&first, &format!("function{number}")), cases }
}

/// Compiles and runs functions, each with `runs` cases. Returns the first case that differs from the loop, and how it does.
fn run(all: &[Drawn], runs: usize, name: &str) -> Option<(Case, String)> {
    let folder = compiler::folder("annotated_cases");
    let (source, file) = (folder.join(format!("{name}.rs")), folder.join(format!("{name}.txt")));
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/integration");
    let mut program = BEGINNING.replace("HERE", here);
    all.iter().for_each(|drawn| program.push_str(&drawn.text));
    let names: Vec<String> = (0..all.len()).map(|number| format!("function{number}")).collect();
    writeln!(program, "fn main() {{ world::run(&[{}]); }}", names.join(", ")).unwrap();
    fs::write(&source, program).unwrap();
    let cases: Vec<Case> = all.iter().flat_map(|drawn| drawn.cases.iter().cloned()).collect();
    let output = compiler::build(&source, &folder);
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Some((cases[0].clone(), format!("{} is refused:\n{said}", source.display())));
    }
    let plain: Vec<_> = cases.iter().map(plain_loop).collect();
    let lines = cases.iter().zip(&plain).enumerate();
    let lines = lines.map(|(at, (case, plain))| format!("{} {}\n", at / runs, told(case, plain)));
    fs::write(&file, lines.collect::<String>()).unwrap();
    let limit = LIMIT * all.len().div_ceil(10) as u32;
    let written = finishes_within(limit, move || compiler::run(&source, &folder, &[&file]))
        .unwrap_or_else(|| panic!("hangs: not finished after {limit:?}"));
    let seen = records(&written, &cases).unwrap_or_else(|what| panic!("{what}"));
    seen.into_iter().enumerate().find_map(|(at, mut seen)| {
        if all[at / runs].source_skips() && !cases[at].drains() {
            seen.asked = plain[at].asked;
        }
        let what = compare(&cases[at], &seen, &plain[at]).err()?;
        Some((cases[at].clone(), what))
    })
}

/// Checks functions that are drawn.
///
/// # Panics
/// With the smallest function that was found to differ from the loop, its case and how it differs.
fn check(count: usize, runs: usize, runner: &mut TestRunner, name: &str) {
    let all: Vec<Drawn> = (0..count).map(|number| drawn(number, runs, runner)).collect();
    let Some((case, what)) = run(&all, runs, name) else { return };
    // Each smaller case runs several times, because a failure may depend on the schedule.
    const RUNS: usize = 20;
    let text = |case: &Case| function(case, "function0");
    let fails = |case: &Case| {
        let drawn = Drawn { text: text(case), cases: vec![case.clone(); RUNS] };
        run(&[drawn], RUNS, &format!("{name}_smaller")).map(|(_, what)| what)
    };
    let (case, what) = shrunk(case, what, |smaller| fails(&writable(smaller.clone())));
    let case = writable(case);
    panic!("{}\n{case:#?}\n{what}", text(&case));
}

#[test]
fn cases_as_annotated_loops_give_what_the_loop_gives() {
    let mut runner = TestRunner::new(random::config(1));
    check(20, 25, &mut runner, "few");
}

#[test]
#[ignore = "compiles and runs ANNOTATED_CASES functions, 600 by default"]
fn many_cases_as_annotated_loops_give_what_the_loop_gives() {
    let count =
        std::env::var("ANNOTATED_CASES").map_or(600, |value| value.parse::<usize>().expect("a number"));
    let mut runner = TestRunner::new(random::config(1));
    for begin in (0..count).step_by(100) {
        check(100.min(count - begin), 50, &mut runner, "many");
        println!("to {begin}: as the loop");
    }
}
