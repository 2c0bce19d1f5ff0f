//! Rejects annotated loops of which the syntax shows that they behave differently in parallel.
//!
//! It takes the segments of a loop and what is used after it, and gives errors that point at the user's code.
//! Five things are errors: a replicated stage that changes a variable of the function, two segments that use a variable which
//! one of them changes, a change in a segment that may run ahead and whose effect is visible after the loop, `ordered` after
//! `unordered`, and a wrong `input` or `output`. Only changes that are plain to see are looked at here. The
//! compiler rejects all others: in the first two cases because the closures of the segments cannot borrow the variable, and in
//! the third because of the code that `lower::ahead` writes. So for changes this pass only gives better messages.

use std::collections::BTreeSet;

use proc_macro2::Ident;
use syn::{Error, Stmt};

use crate::after::After;
use crate::body::Segment;
use crate::changes::{Change, How, changes};
use crate::exits::Exits;
use crate::function::Function;
use crate::names::Binding;
use crate::options::{State, StreamOptions};

/// The errors of a loop, combined into one. `head` is the part of the loop's head that runs for each item,
/// and `before` are the names that were bound before each segment.
pub fn check(
    head: Option<&Stmt>,
    segments: &[Segment],
    before: &[BTreeSet<String>],
    exits: &[Exits],
    options: &StreamOptions,
    function: &Function,
    after: &After,
) -> Option<Error> {
    let mut errors = Vec::new();
    let mut reported = BTreeSet::new();
    let mut uses: Vec<_> = segments.iter().map(|segment| segment.uses(&[])).collect();
    errors.extend(out_of_order(segments, options));
    let of_head = Segment { stmts: head.cloned().into_iter().collect(), ..Segment::default() };
    uses[0].extend(of_head.uses(&[]));
    for (at, segment) in segments.iter().enumerate() {
        let states = states(segment);
        let own = &before[at];
        let changes = changes(head.filter(|_| at == 0).into_iter().chain(&segment.stmts));
        for change in &changes {
            let name = change.base.to_string();
            if own.contains(&name) || states.contains(&name) {
                continue;
            }
            if segment.is_replicated() {
                errors.push(shared(&change.base));
                continue;
            }
            if change.is_whole {
                let elsewhere = uses.iter().enumerate().find_map(|(other, uses)| {
                    let used = uses.get(&name)?;
                    (other != at && !before[other].contains(&name)).then_some(used)
                });
                if let Some(used) = elsewhere {
                    // Only one error if both segments change the variable.
                    if reported.insert((segments.len(), name)) {
                        errors.push(used_twice(change, used));
                    }
                    continue;
                }
            }
            if may_be_ahead(exits, at)
                && !may_run_ahead(segment, at, options)
                && let Some(seen) = seen(change, function, after)
                && reported.insert((at, name))
            {
                let breaks = exits[at + 1..].iter().any(|exits| exits.breaks);
                let exit = if breaks { "by `break`" } else { "by a jump to an outer label" };
                errors.push(ran_ahead(change, &seen, exit, at == 0));
            }
        }
        if at > 0 {
            errors.extend(inputs(segment));
            errors.extend(outputs(segments, at));
        }
    }
    errors.into_iter().reduce(|mut all, error| {
        all.combine(error);
        all
    })
}

/// Whether a later segment may leave the loop so that the function continues behind it. This segment may then have run
/// ahead.
pub fn may_be_ahead(exits: &[Exits], at: usize) -> bool {
    exits[at + 1..].iter().any(|exits| exits.leaves.is_some())
}

/// Whether the user has set `may_run_ahead` for this segment.
pub fn may_run_ahead(segment: &Segment, at: usize, options: &StreamOptions) -> bool {
    segment.options.as_ref().map_or(at == 0 && options.may_run_ahead, |options| options.may_run_ahead)
}

/// The reason why a change is visible after the loop, by this function or by its caller. `None` if it is not, as far as
/// the syntax shows.
fn seen(change: &Change, function: &Function, after: &After) -> Option<String> {
    let name = change.base.to_string();
    let is_here = |place: &&crate::after::Place| place.base == name && place.overlaps(&change.fields);
    if after.visible.values().any(|place| is_here(&place)) {
        return Some(format!("`{name}` is used after the loop"));
    }
    let is_pointer_itself = change.is_whole && change.how == How::Assigned;
    let is_way = |other: &str| !is_pointer_itself && function.variables.is_way_to(&name, other);
    if let Some(place) = after.visible.values().find(|place| is_way(&place.base.to_string())) {
        return Some(format!("`{name}` may change `{}`, which is used after the loop", place.base));
    }
    let is_parameter = function.variables.pointers.contains(&name) && !after.inner.contains(&name);
    (is_parameter && !is_pointer_itself)
        .then(|| format!("`{name}` points to a value that the caller sees after the loop"))
}

/// The option `ordered` after `unordered`.
fn out_of_order(segments: &[Segment], options: &StreamOptions) -> Option<Error> {
    let mut is_unordered = options.is_unordered;
    segments.iter().filter_map(|segment| segment.options.as_ref()).find_map(|options| {
        is_unordered |= options.is_unordered;
        let text = "from `unordered` on, items come in the order in which they finish: remove `unordered`, or this `ordered`";
        options.ordered.filter(|_| is_unordered).map(|span| Error::new(span, text))
    })
}

fn states(segment: &Segment) -> BTreeSet<String> {
    match segment.options.as_ref().and_then(|options| options.state.as_ref()) {
        Some(State::Named(states)) => states.iter().map(|(name, _)| name.to_string()).collect(),
        _ => BTreeSet::new(),
    }
}

fn shared(name: &Ident) -> Error {
    let text = format!(
        "a replicated stage cannot change `{name}`, because all of its replicas share it\n\
         help: change it in a serial stage after this one: `#[stage] ..`\n\
         help: or give each worker its own `{name}`: `#[stage(replicate, state({name} = ..))]`"
    );
    Error::new(name.span(), text)
}

fn used_twice(change: &Change, other: &Ident) -> Error {
    let name = &change.base;
    let help = if *name == "self" {
        "borrow its fields before the loop, `let Self { .. } = self;`, and use each in one stage only"
            .to_owned()
    } else if change.how == How::Updated {
        format!("pass its value to the other stage, in a variable of the loop's body: `let now = {name};`")
    } else {
        format!(
            "pass its value to the other stage, in a variable of the loop's body: `let now = {name}.clone();`\n\
             help: or, if it begins empty for each item: `let now = std::mem::take(&mut {name});`"
        )
    };
    let text = format!(
        "`{name}` is changed here and used in another stage, which runs at the same time\n\
         help: {help}\n\
         help: or make the two stages one"
    );
    let mut error = Error::new(name.span(), text);
    error.combine(Error::new(other.span(), format!("`{name}` is used here too")));
    error
}

fn ran_ahead(change: &Change, seen: &str, exit: &str, is_source: bool) -> Error {
    let name = &change.base;
    let (stage, fix) = if is_source {
        ("the source", "`#[to_stream(may_run_ahead)]`")
    } else {
        ("this stage", "`#[stage(may_run_ahead)]`")
    };
    let text = format!(
        "{seen}, but a later stage may leave the loop {exit}: {stage} may have run some items ahead by then\n\
         help: change `{name}` in the stage that leaves the loop, or in a later one\n\
         help: or accept the difference: {fix}"
    );
    Error::new(name.span(), text)
}

/// Compares `input(..)` with the variables that come in.
fn inputs(segment: &Segment) -> Vec<Error> {
    let Some(options) = &segment.options else { return Vec::new() };
    let Some(input) = &options.input else { return Vec::new() };
    let uses = segment.uses(&[]);
    let mut errors: Vec<Error> = input
        .iter()
        .filter(|name| !uses.contains_key(&name.to_string()))
        .map(|name| {
            Error::new(name.span(), format!("this stage does not use `{name}`: remove it from `input`"))
        })
        .collect();
    for Binding { ident, .. } in &segment.takes {
        let name = ident.to_string();
        if uses.contains_key(&name) && !input.iter().any(|input| *input == name) {
            let text = format!("`{name}` comes into this stage from an earlier one: add it to `input`");
            errors.push(Error::new(uses[&name].span(), text));
        }
    }
    errors
}

/// Compares `output(..)` with the variables that are bound or changed here and used later.
fn outputs(segments: &[Segment], at: usize) -> Vec<Error> {
    let Some(options) = &segments[at].options else { return Vec::new() };
    let Some(output) = &options.output else { return Vec::new() };
    let goes_on = |name: &Ident| {
        let next = segments.get(at + 1);
        next.is_some_and(|next| next.takes.iter().any(|binding| binding.ident == *name))
    };
    let mut made: Vec<Ident> = segments[at].binds().into_iter().map(|binding| binding.ident).collect();
    made.extend(changes(segments[at].stmts.iter()).into_iter().map(|change| change.base));
    let mut errors = Vec::new();
    for name in output {
        if !goes_on(name) {
            let text = format!("no later stage uses `{name}`: remove it from `output`");
            errors.push(Error::new(name.span(), text));
        }
    }
    let mut seen = BTreeSet::new();
    for name in made {
        if goes_on(&name) && !output.contains(&name) && seen.insert(name.to_string()) {
            let text = format!("a later stage uses `{name}`: add it to `output`");
            errors.push(Error::new(name.span(), text));
        }
    }
    errors
}
