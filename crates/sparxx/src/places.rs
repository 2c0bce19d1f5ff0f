//! Decides for each variable of a region's stages whether it travels in the item or stays where it is.
//!
//! The lists of the user are followed, and variables that are not listed are found. A variable that is declared in an
//! iteration travels in the item. A variable that is declared outside of the region stays, if only one serial stage
//! uses it, or if nothing changes it. If the source part changes it, it is copied into each item. All other uses would
//! change the results of the loop, and are reported as errors.

use crate::names::{Access, Declared, Home, Names};
use crate::region::Region;
use crate::source::{Diagnostic, Span};

/// A variable that travels in the item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Whether its value is moved into the item. If not, it is copied.
    pub is_moved: bool,
    /// Whether stages may only read it, because a change would be lost.
    pub is_const: bool,
}

/// A variable that stays where it is, and that stages use by reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shared {
    /// Its name.
    pub name: String,
    /// Whether stages may only read it.
    pub is_const: bool,
    /// The stages that use it.
    pub stages: Vec<usize>,
}

/// The places of a region's variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The variables that travel, in the order of their first use.
    pub fields: Vec<Field>,
    /// The variables that stay.
    pub shared: Vec<Shared>,
    /// For each stage, the variables of the item that it uses, as indices of `fields`.
    pub needs: Vec<Vec<usize>>,
}

/// A variable, and how a region uses it.
struct Variable<'n> {
    name: String,
    /// Its declaration, if it is a local variable.
    declared: Option<&'n Declared>,
    /// The place where it is first used in a stage, or listed.
    first: Span,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    /// How each stage uses it.
    stages: Vec<Option<Access>>,
    /// How the source part uses it.
    source: Option<Access>,
    /// The place of its first use behind the last stage, in the same iteration.
    after: Option<Span>,
}

impl Variable<'_> {
    fn is_listed(&self) -> bool {
        !self.inputs.is_empty() || !self.outputs.is_empty()
    }

    /// Returns the stages that list it or use it.
    fn users(&self) -> Vec<usize> {
        let uses =
            |at: &usize| self.stages[*at].is_some() || self.inputs.contains(at) || self.outputs.contains(at);
        (0..self.stages.len()).filter(uses).collect()
    }

    /// Returns the first stage that assigns a value to it.
    fn writer(&self) -> Option<usize> {
        self.stages.iter().position(|access| *access == Some(Access::Written))
    }
}

/// The place where a variable is declared, relative to the region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// In an iteration, so each item has its own variable.
    Round,
    /// In the region, but not in an iteration: in the head of the loop, or in a block around the loop.
    Region,
    /// Outside of the region.
    Outer,
}

/// Decides the places of a region's variables.
pub fn places(region: &Region, names: &Names, said: &mut Vec<Diagnostic>) -> Places {
    let mut places = Places { needs: vec![Vec::new(); region.stages.len()], ..Places::default() };
    for variable in variables(region, names) {
        place(region, names, &variable, &mut places, said);
    }
    places
}

/// Returns the variables that stages list or use.
fn variables<'n>(region: &Region, names: &'n Names) -> Vec<Variable<'n>> {
    let mut found: Vec<Variable<'n>> = Vec::new();
    let count = region.stages.len();
    let at_stages = region.stages[0].annotation.span.start;
    let staged = region.staged();
    let mut entry = |name: &str, first: &Span| -> usize {
        if let Some(at) = found.iter().position(|variable| variable.name == name) {
            return at;
        }
        found.push(Variable {
            name: name.to_owned(),
            declared: names.lookup(name, at_stages).filter(|declared| declared.home == Home::Local),
            first: first.clone(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            stages: vec![None; count],
            source: None,
            after: None,
        });
        found.len() - 1
    };
    let mut lists = Vec::new();
    for (stage, of) in region.stages.iter().enumerate() {
        lists.extend(
            of.annotation.inputs.iter().map(|listed| (entry(&listed.name, &listed.span), stage, true)),
        );
        lists.extend(
            of.annotation.outputs.iter().map(|listed| (entry(&listed.name, &listed.span), stage, false)),
        );
        for used in names.used_in(&of.body) {
            // Only a local variable that is declared before the stages needs a place.
            let declared = names.lookup(&used.name, used.span.start);
            if declared.is_some_and(|declared| {
                declared.home == Home::Local && !staged.contains(&declared.span.start)
            }) {
                entry(&used.name, &used.span);
            }
        }
    }
    for (variable, stage, is_input) in lists {
        let list = if is_input { &mut found[variable].inputs } else { &mut found[variable].outputs };
        list.push(stage);
    }
    for variable in &mut found {
        watch(region, names, variable);
    }
    found
}

/// Records how the region uses a variable.
fn watch(region: &Region, names: &Names, variable: &mut Variable<'_>) {
    let staged = region.staged();
    let round = names.loop_around(staged.start, &region.body).cloned().unwrap_or_else(|| region.body.clone());
    for used in names.used_in(&region.body).filter(|used| used.name == variable.name) {
        let means = names.lookup(&used.name, used.span.start).map(|declared| declared.span.clone());
        if means != variable.declared.map(|declared| declared.span.clone()) {
            continue;
        }
        let place = match region.stages.iter().position(|stage| stage.body.contains(&used.span.start)) {
            Some(stage) => &mut variable.stages[stage],
            None => {
                if used.span.start >= staged.end && round.contains(&used.span.start) {
                    variable.after.get_or_insert(used.span.clone());
                }
                &mut variable.source
            }
        };
        *place = (*place).max(Some(used.access));
    }
}

fn place(
    region: &Region,
    names: &Names,
    variable: &Variable<'_>,
    places: &mut Places,
    said: &mut Vec<Diagnostic>,
) {
    // In a file that is not parsed correctly, a stage may seem to use a variable of this name that is not visible at
    // the first stage. If it really does, the compiler reports it.
    if variable.users().is_empty() {
        return;
    }
    let staged = region.staged();
    let round = names.loop_around(staged.start, &region.body).unwrap_or(&region.body);
    let origin = match variable.declared {
        Some(declared) if is_in_round(declared, round, region) => Origin::Round,
        Some(declared) if region.body.contains(&declared.span.start) => Origin::Region,
        _ => Origin::Outer,
    };
    if let Some(size) = variable
        .declared
        .and_then(|declared| declared.variable_size.clone())
        .filter(|_| origin != Origin::Outer)
    {
        said.push(Diagnostic::error(
            size,
            format!("`{}` has no constant size, so an item cannot contain it", variable.name),
            "use a std::vector, or a constant size",
        ));
        return;
    }
    let is_alias = variable.declared.is_some_and(|declared| declared.is_alias);
    let is_moved = origin == Origin::Round && variable.after.is_none() && !is_alias;
    let travels = |is_const: bool| Field { name: variable.name.clone(), is_moved, is_const };
    if origin == Origin::Round
        && let (Some(after), Some(_)) = (&variable.after, variable.writer())
    {
        said.push(Diagnostic::error(
            after.clone(),
            format!(
                "`{}` is used behind the stages, where the value that a stage gives it is not known yet",
                variable.name
            ),
            "move this use into the last stage",
        ));
    }
    if variable.is_listed() {
        return listed(region, variable, origin, travels(false), places, said);
    }
    match origin {
        Origin::Round => add_field(variable, travels(false), places),
        Origin::Region => {
            if let Some(stage) = variable.writer() {
                said.push(Diagnostic::error(
                    variable.first.clone(),
                    format!(
                        "stage {} changes `{}`, and the next iteration would need the new value",
                        stage + 1,
                        variable.name
                    ),
                    "change it in the source part, or declare it inside the loop or in front of the region",
                ));
                return;
            }
            add_field(variable, travels(true), places);
        }
        Origin::Outer => outer(region, variable, travels(true), places, said),
    }
}

/// Returns whether each iteration has a variable of its own.
fn is_in_round(declared: &Declared, round: &Span, region: &Region) -> bool {
    if !round.contains(&declared.span.start) || !region.body.contains(&declared.span.start) {
        return false;
    }
    // A variable that the head of a `for` declares keeps its value from one iteration to the next.
    declared.head_of != Some(round.start)
}

/// Decides the place of a variable that a stage lists, by the rules of the SPar language.
fn listed(
    region: &Region,
    variable: &Variable<'_>,
    origin: Origin,
    field: Field,
    places: &mut Places,
    said: &mut Vec<Diagnostic>,
) {
    let name = &variable.name;
    let users = variable.users();
    let is_own = users.len() == 1
        && variable.source.is_none()
        && origin == Origin::Outer
        && !variable.outputs.is_empty();
    let is_serial = |stage: usize| !region.stages[stage].annotation.replicas.is_parallel();
    let stays = is_own && is_serial(users[0]);
    if (!variable.inputs.is_empty() && !stays) || origin != Origin::Outer {
        if let (Some(stage), true, Some(_)) = (variable.writer(), origin != Origin::Round, variable.source) {
            said.push(Diagnostic::warning(
                listed_span(region, stage, name),
                format!(
                    "the loop does not see the value that stage {} gives `{name}`: it keeps its own value",
                    stage + 1
                ),
                "declare a variable inside the loop for it, or change it in the source part",
            ));
        }
        return add_field(variable, field, places);
    }
    if let Some(&stage) = variable.outputs.iter().find(|&&stage| !is_serial(stage)) {
        let span = listed_span(region, stage, name);
        said.push(Diagnostic::error(
            span,
            format!("`{name}` is declared outside of the region, and several calls of a replicated stage would change it at once"),
            "let the stage write to a variable that is declared inside the loop, and change this one in a serial stage behind it",
        ));
        return;
    }
    if users.len() > 1 {
        let span = listed_span(region, variable.outputs[variable.outputs.len() - 1], name);
        said.push(Diagnostic::error(
            span,
            format!(
                "`{name}` is declared outside of the region, and {} stages would use it at once",
                users.len()
            ),
            "use it in one stage only, or list it in `spar::Input` so that each item has a copy",
        ));
        return;
    }
    if variable.source.is_some() {
        said.push(Diagnostic::warning(
            listed_span(region, users[0], name),
            format!("the source part uses `{name}` while a stage changes it"),
            "use it behind the region",
        ));
    }
    places.shared.push(Shared { name: name.clone(), is_const: false, stages: users });
}

fn listed_span(region: &Region, stage: usize, name: &str) -> Span {
    let annotation = &region.stages[stage].annotation;
    let found = annotation.outputs.iter().chain(&annotation.inputs).find(|listed| listed.name == name);
    found.map_or_else(|| annotation.span.clone(), |listed| listed.span.clone())
}

/// Decides the place of a variable that is declared outside of the region, and that no stage lists.
fn outer(
    region: &Region,
    variable: &Variable<'_>,
    copy: Field,
    places: &mut Places,
    said: &mut Vec<Diagnostic>,
) {
    let name = &variable.name;
    let users = variable.users();
    let is_serial = |stage: usize| !region.stages[stage].annotation.replicas.is_parallel();
    let mut refuse =
        |message: String, help: &str| said.push(Diagnostic::error(variable.first.clone(), message, help));
    if let Some(writer) = variable.writer() {
        if !is_serial(writer) {
            return refuse(
                format!("several calls of a replicated stage would change `{name}` at once"),
                "let the stage write to a variable that is declared inside the loop, and change this one in a serial stage behind it",
            );
        }
        if users.len() > 1 {
            return refuse(
                format!("a stage changes `{name}` while another uses it"),
                "use it in one stage only, or list it in `spar::Input` so that each item has a copy",
            );
        }
        if variable.source.is_some() {
            return refuse(
                format!(
                    "stage {} changes `{name}`, and the source part would need the new value in the next iteration",
                    writer + 1
                ),
                "change it in the source part, or use another variable in the stage",
            );
        }
    }
    if variable.source.is_some_and(|access| access > Access::Read) {
        return add_field(variable, copy, places);
    }
    let is_const = users.len() > 1 || variable.source.is_some() || !is_serial(users[0]);
    places.shared.push(Shared { name: name.clone(), is_const, stages: users });
}

fn add_field(variable: &Variable<'_>, field: Field, places: &mut Places) {
    let at = places.fields.len();
    places.fields.push(field);
    for stage in variable.users() {
        places.needs[stage].push(at);
    }
}
