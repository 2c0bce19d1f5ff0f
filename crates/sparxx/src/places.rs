//! What becomes of each variable that a region's stages name: it travels in the item, or stays where it is.
//!
//! What the user lists is followed; what is not listed is found. A variable of the round travels; one that lives around
//! the region stays, if one serial stage has it to itself or if nobody changes it, and is copied into each item if the
//! source changes it. Everything else would not give what the loop gives, and is refused.

use crate::names::{Access, Declared, Home, Names};
use crate::region::Region;
use crate::source::{Diagnostic, Span};

/// A variable that travels in the item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Whether the item may take its value away; else it gets a copy.
    pub is_moved: bool,
    /// Whether stages may only read it, since what they change would be lost.
    pub is_const: bool,
}

/// A variable that stages reach where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shared {
    /// Its name.
    pub name: String,
    /// Whether stages may only read it.
    pub is_const: bool,
    /// The stages that name it.
    pub stages: Vec<usize>,
}

/// Where a region's variables are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// Those that travel, in the order in which they are named.
    pub fields: Vec<Field>,
    /// Those that stay.
    pub shared: Vec<Shared>,
    /// The names that each stage needs of the item, as indices of `fields`.
    pub needs: Vec<Vec<usize>>,
}

/// A variable and what a region does to it.
struct Variable<'n> {
    name: String,
    /// Its declaration, if there is one in a function.
    declared: Option<&'n Declared>,
    /// Where it is first named in a stage, or listed.
    first: Span,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    /// What each stage does to it.
    stages: Vec<Option<Access>>,
    /// What the source part does to it.
    source: Option<Access>,
    /// Whether it is named behind the last stage.
    after: Option<Span>,
}

impl Variable<'_> {
    fn is_listed(&self) -> bool {
        !self.inputs.is_empty() || !self.outputs.is_empty()
    }

    /// The stages that list or name it.
    fn users(&self) -> Vec<usize> {
        let uses =
            |at: &usize| self.stages[*at].is_some() || self.inputs.contains(at) || self.outputs.contains(at);
        (0..self.stages.len()).filter(uses).collect()
    }

    /// The first stage that assigns to it.
    fn writer(&self) -> Option<usize> {
        self.stages.iter().position(|access| *access == Some(Access::Written))
    }
}

/// Where a variable was declared, seen from the region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// In the round: each item has its own.
    Round,
    /// In the region, but not in the round: in the head of the loop, or in a block around it.
    Region,
    /// Around the region.
    Outer,
}

/// Decides for a region.
pub fn places(region: &Region, names: &Names, said: &mut Vec<Diagnostic>) -> Places {
    let mut places = Places { needs: vec![Vec::new(); region.stages.len()], ..Places::default() };
    for variable in variables(region, names) {
        place(region, names, &variable, &mut places, said);
    }
    places
}

/// The variables that stages list or name.
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
            // Only a variable of the function that is declared in front of the stages needs a place.
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

/// Notes what is done to a variable.
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
            format!("`{}` has no constant size, so that an item cannot hold it", variable.name),
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
                "`{}` is used behind the stages, where what a stage has made of it is not known yet",
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
                        "stage {} changes `{}`, which the next round would have to see",
                        stage + 1,
                        variable.name
                    ),
                    "change it in the source part, or declare it in the round or in front of the region",
                ));
                return;
            }
            add_field(variable, travels(true), places);
        }
        Origin::Outer => outer(region, variable, travels(true), places, said),
    }
}

/// Whether each round has a variable of its own.
fn is_in_round(declared: &Declared, round: &Span, region: &Region) -> bool {
    if !round.contains(&declared.span.start) || !region.body.contains(&declared.span.start) {
        return false;
    }
    // What the head of a `for` declares goes from round to round.
    declared.head_of != Some(round.start)
}

/// A variable that a stage lists: the table of the SPar language.
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
                format!("what stage {} makes of `{name}` does not come back to the loop, which goes on with its own value", stage + 1),
                "declare a variable of the round for it, or change it in the source part",
            ));
        }
        return add_field(variable, field, places);
    }
    if let Some(&stage) = variable.outputs.iter().find(|&&stage| !is_serial(stage)) {
        let span = listed_span(region, stage, name);
        said.push(Diagnostic::error(
            span,
            format!("`{name}` lives around the region, and several calls of a replicated stage would change it at once"),
            "let the stage give a variable of the round, and change this one in a serial stage behind it",
        ));
        return;
    }
    if users.len() > 1 {
        let span = listed_span(region, variable.outputs[variable.outputs.len() - 1], name);
        said.push(Diagnostic::error(
            span,
            format!("`{name}` lives around the region, and {} stages would use it at once", users.len()),
            "let one stage have it, or list it in `spar::Input` so that each item has a copy",
        ));
        return;
    }
    if variable.source.is_some() {
        said.push(Diagnostic::warning(
            listed_span(region, users[0], name),
            format!("the source part uses `{name}` too, while a stage changes it"),
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

/// A variable that lives around the region, and that nobody lists.
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
                "let the stage give a variable of the round, and change this one in a serial stage behind it",
            );
        }
        if users.len() > 1 {
            return refuse(
                format!("a stage changes `{name}` while another uses it"),
                "let one stage have it, or list it in `spar::Input` so that each item has a copy",
            );
        }
        if variable.source.is_some() {
            return refuse(
                format!(
                    "stage {} changes `{name}`, which the source part would have to see in the next round",
                    writer + 1
                ),
                "change it in the source part, or give the stage a variable of its own",
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
