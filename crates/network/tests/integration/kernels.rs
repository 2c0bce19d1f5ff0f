//! Plans of networks that run: kernels by name, errors that name nodes, and random plans whose runs equal those
//! of a slow interpreter, whatever passes have done.

use std::ops::ControlFlow::{Break, Continue};
use std::sync::Mutex;

use crate::contract_support::random;
use anabranch_network::plan::{Cores, Tasks};
use anabranch_network::plan::{Flow, ItemType, Machine, Node, NodeId, Pass, Passes, Placement, Plan, State};
use anabranch_network::{Input, Kernels, Output};
use proptest::prelude::*;

/// The items that the sinks have seen, by the parameter `id` of their nodes.
type Seen = Mutex<Vec<Vec<u64>>>;

fn mix(a: u64, b: u64) -> u64 {
    (a ^ b.rotate_left(17)).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ a >> 7
}

/// The items that a firing of a rule with state writes, of what it sees.
fn firing(state: &mut u64, seen: impl Iterator<Item = u64>) -> u64 {
    *state = seen.fold(mix(*state, 1), mix);
    *state
}

/// `source`: `count` items, with the salt `id`. `mixer`: keeps a state. `pure`: keeps none. `sink`: notes what it
/// sees.
fn kernels(seen: &Seen) -> Kernels<'_, String> {
    let mut kernels = Kernels::new();
    kernels.rule::<(), Vec<Output<u64>>>("source", |arguments| {
        let (mut next, count, id) = (0, arguments.get::<u64>("count")?, arguments.get::<u64>("id")?);
        Ok(arguments.fires(move |(), outs| {
            if next == count {
                return Ok(Break(()));
            }
            next += 1;
            for (port, out) in outs.iter_mut().enumerate() {
                while out.left() > 0 {
                    out.push(mix(mix(id, next), (port * 1_000 + out.left()) as u64));
                }
            }
            Ok(Continue(()))
        }))
    });
    kernels.rule::<Vec<Input<u64>>, Vec<Output<u64>>>("mixer", |arguments| {
        let mut state = arguments.get_or("id", 0)?;
        Ok(arguments.fires(move |ins, outs| {
            let value = firing(&mut state, ins.iter().flat_map(|window| window.iter().copied()));
            for (port, out) in outs.iter_mut().enumerate() {
                while out.left() > 0 {
                    out.push(mix(value, (port * 1_000 + out.left()) as u64));
                }
            }
            Ok(())
        }))
    });
    kernels.rule::<Vec<Input<u64>>, Vec<Output<u64>>>("pure", |arguments| {
        let id = arguments.get_or("id", 0)?;
        Ok(arguments.fires(move |ins, outs| {
            let value = firing(&mut { id }, ins.iter().flat_map(|window| window.iter().copied()));
            for (port, out) in outs.iter_mut().enumerate() {
                while out.left() > 0 {
                    out.push(mix(value, (port * 1_000 + out.left()) as u64));
                }
            }
            Ok(())
        }))
    });
    kernels.rule::<Vec<Input<u64>>, ()>("sink", move |arguments| {
        let id: usize = arguments.get("id")?;
        let mut state = 0;
        Ok(arguments.fires(move |ins, ()| {
            let value = firing(&mut state, ins.iter().flat_map(|window| window.iter().copied()));
            seen.lock().unwrap()[id].push(value);
            Ok(())
        }))
    });
    kernels.initial(0u64);
    kernels
}

/// The items that the sinks of a plan see in a run.
fn run(plan: &Plan) -> Result<Vec<Vec<u64>>, String> {
    let seen = Mutex::new(vec![Vec::new(); plan.nodes.len()]);
    kernels(&seen)
        .build(plan)
        .map_err(|error| error.to_string())?
        .run()
        .map_err(|error| error.to_string())?;
    Ok(seen.into_inner().unwrap())
}

/// The items that the sinks of a plan see by the textbook: queues without a bound, one firing at a time.
fn interpret(plan: &Plan) -> Vec<Vec<u64>> {
    let flows: Vec<Flow> = plan.edges.iter().map(|edge| edge.flow).collect();
    let mut queues: Vec<Vec<u64>> = flows.iter().map(|flow| vec![0; flow.delay]).collect();
    let mut heads = vec![0; flows.len()];
    let id = |node: &Node| node.parameters.get("id").map_or(0, |id| id.parse().unwrap());
    let mut states: Vec<u64> =
        plan.nodes.iter().map(|node| if node.operator == "sink" { 0 } else { id(node) }).collect();
    let mut fired = vec![0u64; plan.nodes.len()];
    let mut seen = vec![Vec::new(); plan.nodes.len()];
    loop {
        let mut idle = true;
        for (at, node) in plan.nodes.iter().enumerate() {
            let ins: Vec<usize> = (0..flows.len()).filter(|edge| plan.edges[*edge].to.0 == at).collect();
            let outs: Vec<usize> = (0..flows.len()).filter(|edge| plan.edges[*edge].from.0 == at).collect();
            let ready = ins.iter().all(|edge| queues[*edge].len() - heads[*edge] >= flows[*edge].sees());
            let more = node.operator != "source" || fired[at] < node.parameters["count"].parse().unwrap();
            if !ready || !more {
                continue;
            }
            idle = false;
            fired[at] += 1;
            let window: Vec<u64> = ins
                .iter()
                .flat_map(|edge| queues[*edge][heads[*edge]..heads[*edge] + flows[*edge].sees()].to_vec())
                .collect();
            let value = match &*node.operator {
                "source" => mix(id(node), fired[at]),
                "pure" => firing(&mut id(node), window.into_iter()),
                _ => firing(&mut states[at], window.into_iter()),
            };
            ins.iter().for_each(|edge| heads[*edge] += flows[*edge].consumes);
            for (port, edge) in outs.into_iter().enumerate() {
                (1..=flows[edge].produces)
                    .rev()
                    .for_each(|left| queues[edge].push(mix(value, (port * 1_000 + left) as u64)));
            }
            if node.operator == "sink" {
                seen[id(node) as usize].push(value);
            }
        }
        if idle {
            return seen;
        }
    }
}

/// A plan as another compiler might write it: a low-pass filter at half the rate, with feedback.
const WRITTEN: &str = r#"{ "version": 1, "plan": {
    "name": "feedback",
    "workers": 2,
    "nodes": [
        { "id": 0, "name": "in", "operator": "source", "role": "rule", "state": "serial", "unit": 0,
          "parameters": { "count": "100", "id": "7" } },
        { "id": 1, "name": "halve", "operator": "pure", "role": "rule", "unit": 1, "cost": 2000 },
        { "id": 2, "name": "loop", "operator": "mixer", "role": "rule", "state": "serial", "unit": 2 },
        { "id": 3, "name": "out", "operator": "sink", "role": "rule", "state": "serial", "unit": 3,
          "parameters": { "id": "0" } }
    ],
    "edges": [
        { "from": 0, "to": 1, "item": { "name": "u64", "size": 8 }, "flow": { "produces": 1, "consumes": 2 } },
        { "from": 1, "to": 2, "item": { "name": "u64", "size": 8 }, "flow": { "produces": 1, "consumes": 1, "peeks": 3 } },
        { "from": 2, "to": 2, "item": { "name": "u64", "size": 8 }, "flow": { "produces": 1, "consumes": 1, "delay": 2 } },
        { "from": 2, "to": 3, "item": { "name": "u64", "size": 8 }, "flow": { "produces": 3, "consumes": 1 } }
    ] } }"#;

#[test]
fn a_plan_in_json_runs_and_its_round_trip_runs_equal() {
    let plan = Plan::from_json(WRITTEN).unwrap();
    let seen = run(&plan).unwrap();
    // 50 halves, of which the last two are only seen; three items for each of the 48.
    assert_eq!(seen[0].len(), 144);
    assert_eq!(seen, interpret(&plan));
    let again = Plan::from_json(&plan.to_json()).unwrap();
    assert_eq!(run(&again).unwrap(), seen);
}

#[test]
fn a_rule_goes_on_for_the_readers_that_are_left() {
    let mut plan = Plan::network(2);
    let short = plan.rule(Node::rule("source").named("short").with("count", 10).with("id", 1));
    let long = plan.rule(Node::rule("source").named("long").with("count", 1_000).with("id", 2));
    let zip = plan.rule(Node::rule("sink").named("zip").with("id", 0));
    let all = plan.rule(Node::rule("sink").named("all").with("id", 1));
    for (from, to) in [(short, zip), (long, zip), (long, all)] {
        plan.record(from, to, ItemType::of::<u64>(), Flow::of(1, 1));
    }
    for _ in 0..20 {
        let seen = run(&plan).unwrap();
        assert_eq!((seen[0].len(), seen[1].len()), (10, 1_000));
    }
}

fn said(change: impl FnOnce(&mut Plan)) -> String {
    let mut plan = Plan::from_json(WRITTEN).unwrap();
    change(&mut plan);
    run(&plan).unwrap_err()
}

/// A change to a plan, and parts of the message for it.
type Wrong = (fn(&mut Plan), &'static [&'static str]);

#[test]
fn what_does_not_fit_is_told_with_its_node() {
    let cases: [Wrong; 12] = [
        (
            |plan| plan.nodes[1].operator = "fft".into(),
            &["`halve` (#1)", "no such kernel", "`mixer`, `pure`, `sink`"],
        ),
        (
            |plan| plan.nodes[0].parameters.clear(),
            &["`in` (#0) with kernel `source`", "the parameter `count` is missing"],
        ),
        (
            |plan| _ = plan.nodes[0].parameters.insert("count".into(), "many".into()),
            &["`in` (#0)", "the parameter `count` is \"many\"", "u64"],
        ),
        (
            |plan| _ = plan.nodes[1].parameters.insert("taps".into(), "3".into()),
            &["`halve` (#1)", "no parameter `taps`, but `id`"],
        ),
        (
            |plan| plan.edges[0].item.name = "f32".into(),
            &["from `in` (#0) to `halve` (#1)", "items of `f32`", "are `u64`"],
        ),
        (|plan| plan.edges[0].item.size = 4, &["from `in` (#0) to `halve` (#1)", "4 bytes, but a u64 has 8"]),
        (|plan| plan.nodes[2].operator = "source".into(), &["`loop` (#2) with kernel `source`"]),
        (|plan| plan.edges[3].from = NodeId(3), &["`out` (#3)"]),
        (|plan| plan.edges[2].flow = Flow::of(1, 1), &["`loop` (#2)", "a delay of 1"]),
        (
            |plan| plan.edges[0].flow = Flow::of(1, 2).horizon(1 << 32),
            &["`in` (#0) to `halve` (#1)", "bytes"],
        ),
        (|plan| plan.workers = 0, &["0 workers"]),
        (|plan| plan.nodes.clear(), &["no nodes"]),
    ];
    for (at, (change, parts)) in cases.into_iter().enumerate() {
        let text = said(change);
        for part in parts {
            assert!(text.contains(part), "case {at}, {part}: {text}");
        }
    }
    assert!(said(|plan| *plan = Plan::network(1)).contains("no nodes"));
    // A value for items to begin with must be known.
    let mut kernels = Kernels::<String>::new();
    kernels.rule::<Input<u8>, Output<u8>>("pass", |arguments| {
        Ok(arguments.fires(|n, out| {
            out.push(n[0]);
            Ok(())
        }))
    });
    let mut plan = Plan::network(1);
    let pass = plan.rule(Node::rule("pass"));
    plan.record(pass, pass, ItemType::of::<u8>(), Flow::of(1, 1).delay(1));
    let text = kernels.build(&plan).unwrap_err().to_string();
    assert!(text.contains("value of a u8") && text.contains("Kernels::initial"), "{text}");
    // The ports of tuples are counted.
    let mut plan = Plan::network(1);
    let pass = plan.rule(Node::rule("pass"));
    kernels.initial(0u8);
    plan.record(pass, pass, ItemType::of::<u8>(), Flow::of(1, 1).delay(1));
    plan.record(pass, pass, ItemType::of::<u8>(), Flow::of(1, 1).delay(1));
    let text = kernels.build(&plan).unwrap_err().to_string();
    assert!(text.contains("2 edges are its inputs, but the kernel has 1"), "{text}");
}

#[test]
fn a_kernel_that_fails_is_named_by_its_node() {
    let mut kernels = Kernels::<String>::new();
    kernels.rule::<(), Output<u8>>("ones", |arguments| {
        Ok(arguments.fires(|(), out| {
            out.push(1);
            Ok(())
        }))
    });
    kernels.rule::<Input<u8>, ()>("fails", |arguments| {
        let text: String = arguments.get("with")?;
        Ok(arguments.fires(move |_, ()| Err::<(), String>(text.clone())))
    });
    let mut plan = Plan::network(2);
    let ones = plan.rule(Node::rule("ones"));
    let fails = plan.rule(Node::rule("fails").named("the end").with("with", "boom"));
    plan.record(ones, fails, ItemType::of::<u8>(), Flow::of(1, 1));
    plan.nodes[fails.0].unit = plan.nodes[ones.0].unit;
    let error = kernels.build(&plan).unwrap().run().unwrap_err();
    assert_eq!(error.failure(), Some(("the end", &"boom".to_string())));
}

/// A random valid network: a line of rules whose rates follow from random repetitions, with further edges forth
/// and, with enough items to begin with, back.
fn plans() -> impl Strategy<Value = Plan> {
    let rule = (any::<bool>(), 1..5usize, prop::option::of(1..9usize), 0..4_000u64);
    let edge = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4usize, 0..3usize);
    let units = prop::collection::vec(0..6usize, 8);
    (prop::collection::vec(rule, 1..6), prop::collection::vec(edge, 0..5), 0..60u64, units, any::<bool>())
        .prop_map(|(rules, edges, count, units, is_joined)| {
            let mut plan = Plan::network(1);
            plan.rule(Node::rule("source").named("source").with("count", count).with("id", 3).cost(500));
            for (at, (is_pure, _, firings, cost)) in rules.iter().enumerate() {
                let (kernel, state) = if *is_pure { ("pure", State::None) } else { ("mixer", State::Serial) };
                let node =
                    Node::rule(kernel).named(format!("rule {at}")).state(state).with("id", at).cost(*cost);
                plan.rule(Node { firings: *firings, ..node });
            }
            let sink = plan.rule(Node::rule("sink").named("sink").with("id", 0).cost(200));
            // Rule k fires `often[k]` times in an iteration.
            let often: Vec<usize> =
                std::iter::once(2).chain(rules.iter().map(|(_, often, _, _)| *often)).chain([1]).collect();
            let is_seeing_ahead = edges.iter().any(|(.., peeks)| *peeks > 0);
            let mut connect = |from: usize, to: usize, more: usize, peeks: usize| {
                let (a, b) = (often[from], often[to]);
                let common = (1..=a.min(b)).rev().find(|n| a % n == 0 && b % n == 0).unwrap();
                // a times `produces` is b times `consumes`.
                let (produces, consumes) = (b / common, a / common);
                let flow = Flow::of(produces, consumes).peeks(if peeks > 0 { consumes + peeks } else { 0 });
                // Enough for two iterations of the reader, so that no cycle stands still. Each rule between the two may
                // see up to two items ahead, for which the rule before it is two iterations ahead at most.
                let ahead = if is_seeing_ahead { 2 * from.saturating_sub(to) } else { 0 };
                let delay = (2 + ahead) * b * consumes + peeks + more;
                let flow = if to <= from { flow.delay(delay) } else { flow };
                plan.record(NodeId(from), NodeId(to), ItemType::of::<u64>(), flow);
            };
            for at in 0..sink.0 {
                connect(at, at + 1, 0, 0);
            }
            for (from, to, more, peeks) in edges {
                let (from, to) = (from.index(sink.0), 1 + to.index(sink.0));
                connect(from, to, more, peeks);
            }
            if is_joined {
                for (node, unit) in plan.nodes.iter_mut().zip(units) {
                    node.unit = unit;
                }
            }
            plan
        })
}

proptest! {
    #![proptest_config(random::config(12))]

    /// This may take longer than 10 s: each plan runs 25 times, with each pass, number of workers and placement.
    #[test]
    fn random_plans_give_what_the_textbook_gives_whatever_passes_do(plan in plans(), copies in 2..5usize) {
        prop_assert_eq!(plan.validate(), Ok(()));
        let expected = interpret(&plan);
        let mut passes = vec![Passes::none(), Passes::all()];
        passes.extend(Pass::ALL.map(|pass| Passes::none().with(pass)));
        for (at, passes) in passes.into_iter().enumerate() {
            let mut changed = plan.clone();
            changed.workers = 1 + at % 9;
            passes.apply(&mut changed, &Machine::new(4));
            prop_assert_eq!(run(&changed), Ok(expected.clone()), "{:?}\n{}", passes, changed);
        }
        for workers in 1..=9 {
            let mut changed = plan.clone();
            changed.workers = workers;
            prop_assert_eq!(run(&changed), Ok(expected.clone()), "{} workers", workers);
        }
        // Cores that the machine may not have count as others.
        let mut placed = plan.clone();
        placed.workers = 3;
        let cores = Cores::new(6, |a, b| if a / 2 == b / 2 { 40.0 } else { 250.0 });
        Passes::all().apply_on(&mut placed, &Machine::new(4), &cores);
        prop_assert_eq!(run(&placed), Ok(expected.clone()), "{}", placed);
        // Copies where they are possible, whatever they would gain.
        let mut copied = plan.clone();
        copied.workers = 3;
        for at in 0..copied.nodes.len() {
            let mut tried = copied.clone();
            tried.nodes[at].replicas = Some(copies);
            if tried.validate().is_ok() && tried.nodes[at].operator == "pure" {
                copied = tried;
            }
        }
        prop_assert_eq!(run(&copied), Ok(expected.clone()), "{}", copied);
        // The least horizons are enough.
        let mut least = plan.clone();
        for (edge, items) in least.edges.iter_mut().zip(plan.least_horizons().unwrap()) {
            edge.flow.horizon = Some(items);
        }
        prop_assert_eq!(run(&least), Ok(expected.clone()), "{}", least);
    }

    /// A text with a few bytes changed is an error, or a plan that runs or is refused. It never hangs or panics.
    #[test]
    fn a_damaged_text_is_an_error_or_a_plan(
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(b"0123459-\"{}[],:ab \n".to_vec())), 1..4),
    ) {
        let mut text = WRITTEN.as_bytes().to_vec();
        for (at, byte) in changes {
            let at = at.index(text.len());
            text[at] = byte;
        }
        if let Ok(plan) = Plan::from_json(&String::from_utf8(text).unwrap()) {
            let _ = plan.explain();
            let seen = Mutex::new(vec![Vec::new(); 10]);
            let mut kernels = kernels(&seen);
            kernels.most_bytes(1 << 20);
            if plan.nodes.iter().all(|node| node.parameters.get("id").is_none_or(|id| id.parse::<usize>().is_ok_and(|id| id < 10)))
                && let Ok(net) = kernels.build(&plan)
            {
                let _ = net.workers(2).run();
            }
        }
    }
}

#[test]
fn only_threads_of_the_network_are_pinned_to_the_cores_of_its_rules() {
    let Some(before) = allowed() else { return };
    let on = Mutex::new(Vec::new());
    let mut kernels = Kernels::<String>::new();
    kernels.rule::<(), Output<u64>>("source", |node| {
        let mut left = 1_000u64;
        let on = &on;
        Ok(node.fires(move |(), out| {
            on.lock().unwrap().push((std::thread::current().id(), allowed().unwrap()));
            left -= 1;
            out.push(left);
            Ok(if left > 0 { Continue(()) } else { Break(()) })
        }))
    });
    kernels.rule::<Input<u64>, ()>("sink", |node| Ok(node.fires(|_, ()| Ok(()))));
    let mut plan = Plan::network(2);
    let source = plan.rule(Node::rule("source"));
    let sink = plan.rule(Node::rule("sink"));
    plan.record(source, sink, ItemType::of::<u64>(), Flow::of(1, 1));
    plan.nodes[source.0].placement = Placement::Core(1);
    plan.nodes[sink.0].placement = Placement::Core(0);
    kernels.build(&plan).unwrap().run().unwrap();
    // The caller may run where it could before. Another thread has one processor, unless the system refuses that.
    let caller = std::thread::current().id();
    for (thread, allowed) in &*on.lock().unwrap() {
        let is_pinned = *thread != caller && allowed.len() == 1;
        assert!(is_pinned || *allowed == before, "{allowed:?}, and before {before:?}");
    }
    assert_eq!(allowed(), Some(before));
}

/// The processors on which the calling thread may run, if the system tells.
fn allowed() -> Option<Vec<usize>> {
    let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let range = |part: &str| -> Vec<usize> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        (first.parse().unwrap()..=last.parse().unwrap()).collect()
    };
    Some(list.trim().split(',').flat_map(range).collect())
}

/// A task of a loop: the values that it reads and writes, as numbers below 3.
type Body = Vec<(Vec<usize>, Vec<usize>)>;
const VALUES: [&str; 3] = ["a", "b", "c"];
const ITERATIONS: u64 = 40;

fn result(task: usize, iteration: u64, reads: impl Iterator<Item = u64>) -> u64 {
    reads.fold(mix(task as u64, iteration), mix)
}

/// The values that the loop sees at its end: they are in variables, one task after the other.
fn run_loop(body: &Body) -> Vec<u64> {
    let mut values = [0u64; 3];
    let see = |iteration, values: [u64; 3]| result(body.len(), iteration, values.into_iter());
    (0..ITERATIONS)
        .map(|iteration| {
            for (task, (reads, writes)) in body.iter().enumerate() {
                let value = result(task, iteration, reads.iter().map(|read| values[*read]));
                writes.iter().for_each(|write| values[*write] = value);
            }
            see(iteration, values)
        })
        .collect()
}

/// The values that its network sees.
fn run_tasks(plan: &Plan) -> Vec<u64> {
    let seen = Mutex::new(Vec::new());
    let mut kernels = Kernels::<String>::new();
    kernels.rule::<(), Vec<Output<u64>>>("clock", |node| {
        let mut iterations = 0..ITERATIONS;
        Ok(node.fires(move |(), outs| {
            let Some(iteration) = iterations.next() else { return Ok(Break(())) };
            outs.iter_mut().for_each(|out| out.push(iteration));
            Ok(Continue(()))
        }))
    });
    kernels.rule::<Vec<Input<u64>>, Vec<Output<u64>>>("task", |node| {
        let task = node.get("task")?;
        Ok(node.fires(move |ins, outs| {
            let value = result(task, ins[0][0], ins[1..].iter().map(|value| value[0]));
            outs.iter_mut().for_each(|out| out.push(value));
            Ok(())
        }))
    });
    kernels.rule::<Vec<Input<u64>>, ()>("see", |node| {
        let (task, seen) = (node.get("task")?, &seen);
        Ok(node.fires(move |ins, ()| {
            let values = ins[1..].iter().map(|value| value[0]);
            seen.lock().unwrap().push(result(task, ins[0][0], values));
            Ok(())
        }))
    });
    kernels.initial(0u64);
    kernels.build(plan).unwrap().run().unwrap();
    drop(kernels);
    seen.into_inner().unwrap()
}

proptest! {
    #![proptest_config(random::config(24))]

    #[test]
    fn tasks_as_processes_give_what_their_loop_gives(
        body in prop::collection::vec((prop::collection::vec(0..3usize, 0..3), prop::collection::vec(0..3usize, 1..3)), 1..6),
        workers in 1..4usize,
    ) {
        let mut body: Body = body;
        // Every value is written somewhere.
        body[0].1 = vec![0, 1, 2];
        let mut tasks = Tasks::new();
        tasks.value("clock", ItemType::of::<u64>());
        VALUES.iter().for_each(|value| _ = tasks.value(value, ItemType::of::<u64>()));
        tasks.task(Node::rule("clock"), &[], &["clock"]);
        for (number, (reads, writes)) in body.iter_mut().enumerate() {
            writes.sort_unstable();
            writes.dedup();
            let reads: Vec<&str> = ["clock"].into_iter().chain(reads.iter().map(|read| VALUES[*read])).collect();
            let writes: Vec<&str> = writes.iter().map(|write| VALUES[*write]).collect();
            tasks.task(Node::rule("task").with("task", number), &reads, &writes);
        }
        tasks.task(Node::rule("see").with("task", body.len()), &["clock", "a", "b", "c"], &[]);
        let (mut plan, notes) = tasks.to_network(workers).unwrap();
        prop_assert!(notes.len() > plan.nodes.len());
        let expected = run_loop(&body);
        prop_assert_eq!(&run_tasks(&plan), &expected, "{:?}", body);
        prop_assert_eq!(&run_tasks(&tasks.to_one_unit(workers).unwrap()), &expected);
        // The other passes take it from here.
        plan.nodes.iter_mut().for_each(|node| node.cost = Some(100));
        Passes::all().apply(&mut plan, &Machine::new(workers));
        prop_assert_eq!(&run_tasks(&plan), &expected);
    }
}

#[test]
fn a_value_that_is_not_written_or_not_declared_is_told_with_its_task() {
    let mut tasks = Tasks::new();
    tasks.value("x", ItemType::of::<u64>());
    tasks.task(Node::rule("reads"), &["x"], &[]);
    let text = tasks.to_network(1).unwrap_err().to_string();
    assert!(text.contains("task `reads` reads the value `x`, which no task writes"), "{text}");
    tasks.task(Node::rule("writes"), &[], &["y"]);
    tasks.value("x", ItemType::of::<u64>()).task(Node::rule("makes"), &[], &["x"]);
    let text = tasks.to_network(1).unwrap_err().to_string();
    assert!(text.contains("task `writes` names the value `y`, which was not declared"), "{text}");
}
