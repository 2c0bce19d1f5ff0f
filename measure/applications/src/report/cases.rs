//! The cases: all at one look, and each as a table.

use std::fmt::Write;

use measure_harness::statistics::Summary;
use measure_harness::target::Unit;

use super::first::few;
use crate::pictures::{CLOSED, bar, escaped, interval, milliseconds, number, opened, percent_of};
use crate::results::{Cell, Group, Results};
use crate::standing::reference;
use crate::systems::{ALL, Home, SEQUENTIAL, Side, home, side};

/// All cases and variants at one look: the share of the best variant's speed.
pub fn heat_map(page: &mut String, results: &Results) {
    if results.groups.is_empty() {
        return;
    }
    let is_there =
        |name: &str| results.groups.iter().any(|group| group.cells.iter().any(|cell| cell.variant == name));
    let names: Vec<&str> = ALL.iter().map(|system| system.name).filter(|name| is_there(name)).collect();
    *page += "<h2>All cases at one look</h2>\n<p>The speed of each variant as a share of the fastest one in the case, in \
        percent. The stronger the colour of a cell, the faster.</p>\n";
    *page +=
        &opened("heat tall", "Percent of the fastest", ["case"].into_iter().chain(names.iter().copied()));
    for group in &results.groups {
        let median = |cell: &Cell| cell.figures.time().median;
        let least = group.cells.iter().map(median).fold(f64::INFINITY, f64::min);
        let _ = write!(page, "<tr><th scope=\"row\">{}</th>", escaped(&group.name()));
        for name in &names {
            match group.cells.iter().find(|cell| cell.variant == *name) {
                Some(cell) => {
                    let share = 100.0 * least / median(cell);
                    let _ = write!(page, "<td style=\"--share:{share:.0}%\">{share:.0}</td>");
                }
                None => *page += "<td class=\"none\"><abbr title=\"not measured\">-</abbr></td>",
            }
        }
        *page += "</tr>\n";
    }
    *page += CLOSED;
}

/// One case as a table.
pub fn case(page: &mut String, group: &Group) {
    let Some(reference) = reference(group) else { return };
    let mut cells: Vec<(&Cell, Summary)> =
        group.cells.iter().map(|cell| (cell, cell.figures.against(&reference.figures))).collect();
    cells.sort_by(|a, b| b.1.median.total_cmp(&a.1.median));
    let most = cells.iter().map(|(_, times)| times.high).fold(1.0, f64::max);
    let memory = cells.iter().filter_map(|(cell, _)| cell.figures.memory).fold(1.0, f64::max);
    // The programs in C++ are compared with the loop in C++.
    let plain = |cell: &Cell| {
        let name = if home(&cell.variant) == Home::Cpp { "cpp-sequential" } else { SEQUENTIAL };
        group.cells.iter().find(|cell| cell.variant == name).map(|plain| plain.code)
    };
    let has_energy = cells.iter().any(|(cell, _)| cell.figures.energy.is_some());
    let caption =
        format!("{}: {} {} a run; data: {}", group.name(), number(group.amount), group.unit, group.data);
    let times_as_fast = format!("times as fast as {}", reference.variant);
    let each_second = format!("{} a second", group.unit);
    let head = ["variant", &times_as_fast, &each_second, "first result", "cores used", "memory"];
    let energy = has_energy.then_some("energy");
    *page += &opened("plain", &caption, head.into_iter().chain(energy).chain(["lines added"]));
    for (cell, times) in cells {
        let seconds = cell.figures.time().median;
        let plain = plain(cell);
        let added = plain.map_or(0, |plain| cell.code.lines as i64 - plain.lines as i64);
        let tokens = plain.map_or(0, |plain| cell.code.tokens as i64 - plain.tokens as i64);
        let _ = writeln!(
            page,
            "<tr class=\"{}\"><th scope=\"row\">{}{}</th><td>{}{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>\
             {}<td>{added:+} <small>({tokens:+} tokens; complexity {}, effort {})</small></td></tr>",
            if side(&cell.variant) == Side::Anabranch { "own" } else { "other" },
            escaped(&cell.variant),
            few(cell),
            interval(times),
            bar(times.median / most, Some((times.low / most, times.high / most))),
            number(group.amount / seconds),
            milliseconds(cell.figures.first),
            cell.figures.processor.map_or("?".into(), |used| format!("{:.2}", used / seconds)),
            cell.figures.memory.map_or("?".into(), |bytes| {
                Unit::Mebibytes.show(bytes / f64::from(1 << 20)) + &bar(bytes / memory, None)
            }),
            match cell.figures.energy {
                Some(joules) => format!("<td>{joules:.2} J</td>"),
                None if has_energy => "<td>?</td>".into(),
                None => String::new(),
            },
            percent_of(cell.code.complexity as f64, plain.map(|plain| plain.complexity as f64)),
            percent_of(cell.code.effort, plain.map(|plain| plain.effort)),
        );
    }
    *page += CLOSED;
    for (variant, why) in &group.without {
        let _ = writeln!(page, "<p class=\"note\">{}: {}.</p>", escaped(variant), escaped(why));
    }
}
