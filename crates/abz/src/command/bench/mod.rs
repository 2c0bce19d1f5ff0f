//! The action of `--bench`: measures speed, size and memory of each format and level on the user's file.

use abz::Format;
use abz::program::facts;

use super::input::Input;
use super::request::{self, Source};
use crate::command::input::walk::Walk;
use crate::command::messages::console::Console;
use crate::command::messages::problem::Problem;
use crate::command::messages::stdout::print;
use crate::command::output::target::Target;
use measured::{Bench, MOST};

pub mod child;
mod measured;
mod page;
mod table;

/// Measures all files one after another, and prints the results.
pub(super) fn run(request: &request::Bench, console: &mut Console) {
    let mut benches = Vec::new();
    if let Some(path) = &request.html
        && let Err(problem) = Target::File(path.clone()).spare_named(&request.inputs)
    {
        return console.tell_problem(&problem);
    }
    for input in Walk::new(&request.inputs) {
        if !benches.is_empty()
            && let Err(problem) = print(|out| writeln!(out))
        {
            console.tell_problem(&problem);
        }
        let measured = input.and_then(|input| measure(&input, request));
        match measured {
            Ok(bench) => benches.push(bench),
            Err(problem) => console.tell_problem(&problem),
        }
    }
    if let Some(path) = &request.html
        && let Err(problem) = page::write(path, &benches, request.force)
    {
        console.tell_problem(&problem);
    }
}

fn measure(input: &Input, request: &request::Bench) -> Result<Bench, Problem> {
    let Source::File(path) = &input.source else {
        return Err(Problem::error(input, "cannot be read repeatedly: name a file"));
    };
    let (name, workers) = (input.to_string(), request.workers);
    let taken = input.metadata.len().min(MOST) as usize;
    let mut bench = Bench { name, taken, len: input.len(), workers, rows: Vec::new() };
    table::begin(&bench)?;
    for (format, level) in levels(request) {
        let row = child::row(path, format, level, workers)
            .map_err(|error| Problem::error(input, format_args!("{format} -{level}: {error}")))?;
        table::row(&row, taken)?;
        bench.rows.push(row);
    }
    Ok(bench)
}

/// The levels measured of every format. For bzip2, the level only sets the block size.
const USUAL: [u32; 8] = [0, 1, 3, 6, 9, 12, 15, 19];

/// Returns the default levels of all formats, or all levels of a named one. Formats that share the data of another
/// one are left out.
fn levels(request: &request::Bench) -> impl Iterator<Item = (Format, u32)> {
    let named = request.format;
    let formats = Format::written()
        .filter(move |format| named.map_or(facts(*format).has_data_of_its_own, |named| named == *format));
    formats.flat_map(move |format| {
        let all = format.levels();
        all.filter(move |level| named.is_some() || USUAL.contains(level)).map(move |level| (format, level))
    })
}
