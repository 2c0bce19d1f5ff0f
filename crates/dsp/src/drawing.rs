//! Networks as text and as pictures.

use std::fmt::Write;

use anabranch::network::{Graph, Port, RecordEdge};

/// Returns the network as text: its processes, each with its ports, in the order of the signal.
pub(crate) fn text(graph: &Graph) -> String {
    let rules = graph.processes.iter().filter(|process| process.is_rule).count();
    let mut text = format!(
        "{rules} firing rules and {} processes with threads, {} records\n\n",
        graph.processes.len() - rules,
        graph.records.len()
    );
    let ranks = ranks(graph);
    let mut order: Vec<usize> = (0..graph.processes.len()).collect();
    order.sort_by_key(|&process| ranks[process]);
    for process in order {
        let _ = writeln!(text, "{}", graph.processes[process].name);
        for record in &graph.records {
            for port in record.readers.iter().filter(|port| port.process == process) {
                let _ = writeln!(text, "    takes {} {}", rate(port), record.title);
            }
        }
        for record in &graph.records {
            for port in record.writers.iter().filter(|port| port.process == process) {
                let _ =
                    writeln!(text, "    gives {} {}, horizon {}", rate(port), record.title, record.horizon);
            }
        }
    }
    let bytes: usize = graph.records.iter().map(|record| record.item_bytes * record.grows_to).sum();
    let _ = writeln!(text, "\nRecords take {} KiB at most.", bytes.div_ceil(1_024));
    text
}

fn rate(port: &Port) -> String {
    match port.needs > port.rate {
        true => format!("{} (sees {}) of", port.rate, port.needs),
        false => format!("{} of", port.rate),
    }
}

/// Returns the least number of records before each process. Records that lead back are ignored.
fn ranks(graph: &Graph) -> Vec<usize> {
    let mut ranks = vec![0; graph.processes.len()];
    // A path without cycles has fewer records than there are processes, so this ends in cycles too.
    for _ in 1..graph.processes.len() {
        let mut has_changed = false;
        for (from, to) in graph.records.iter().flat_map(pairs) {
            let rank = ranks[from] + 1;
            if rank > ranks[to] && rank < graph.processes.len() {
                (ranks[to], has_changed) = (rank, true);
            }
        }
        if !has_changed {
            break;
        }
    }
    ranks
}

/// Returns the pairs of processes between which items of a record pass. A record that has items from the start may lead
/// back, so it determines no rank.
fn pairs(record: &RecordEdge) -> impl Iterator<Item = (usize, usize)> {
    let writers = record.writers.iter().map(|port| port.process);
    writers.flat_map(|from| record.readers.iter().map(move |port| (from, port.process)))
}

/// The width of a box in pixels.
const WIDTH: usize = 132;
/// The height of a box in pixels.
const HEIGHT: usize = 30;
/// The distance from the left side of a box to that of the next box, in pixels.
const COLUMN: usize = 220;
/// The distance from the top of a box to that of the box below, in pixels.
const ROW: usize = 52;
/// The free border of a picture in pixels.
const BORDER: usize = 24;

/// Returns the network as a picture: boxes for the processes, and arrows for the records, with the rates at their ends.
pub(crate) fn svg(graph: &Graph) -> String {
    let ranks = &ranks(graph)[..];
    let columns = ranks.iter().max().map_or(0, |&last| last + 1);
    let in_column = |column| (0..ranks.len()).filter(move |&process| ranks[process] == column);
    let tallest = (0..columns).map(|column| in_column(column).count()).max().unwrap_or(0);
    let mut places = vec![(0, 0); ranks.len()];
    for column in 0..columns {
        let free = (tallest - in_column(column).count()) * ROW / 2;
        for (row, process) in in_column(column).enumerate() {
            places[process] = (BORDER + column * COLUMN, BORDER + free + row * ROW);
        }
    }
    let width = 2 * BORDER + columns.saturating_sub(1) * COLUMN + WIDTH;
    let height = 2 * BORDER + tallest.saturating_sub(1) * ROW + HEIGHT;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for (from, to) in graph.records.iter().flat_map(pairs) {
        arrow(&mut svg, places[from], places[to]);
    }
    for record in &graph.records {
        for port in &record.writers {
            let (x, y) = places[port.process];
            label(&mut svg, (x + WIDTH + 3, y), "start", port.rate.to_string());
        }
        for port in &record.readers {
            let (x, y) = places[port.process];
            let seen = if port.needs > port.rate { format!(" of {}", port.needs) } else { String::new() };
            label(&mut svg, (x.saturating_sub(8), y), "end", format!("{}{seen}", port.rate));
        }
    }
    for (process, &(x, y)) in graph.processes.iter().zip(&places) {
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"{}\" fill=\"#eef3f8\" \
             stroke=\"#345\"/>\n<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            if process.is_rule { 0 } else { 8 },
            x + WIDTH / 2,
            y + HEIGHT / 2 + 5,
            escaped(&process.name)
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// Draws an arrow from the right side of one box to the left side of another.
fn arrow(svg: &mut String, from: (usize, usize), to: (usize, usize)) {
    let (x, y) = (from.0 + WIDTH, from.1 + HEIGHT / 2);
    let (to_x, to_y) = (to.0, to.1 + HEIGHT / 2);
    let bend = COLUMN / 5;
    let _ = writeln!(
        svg,
        "<path d=\"M{x} {y} C{} {y} {} {to_y} {} {to_y}\" fill=\"none\" stroke=\"#789\"/>\n\
         <path d=\"M{to_x} {to_y} l-7 -4 v8 z\" fill=\"#789\"/>",
        x + bend,
        to_x.saturating_sub(bend),
        to_x.saturating_sub(6),
    );
}

/// Writes the rate of a port next to its box. The arrows do not strike the text through.
fn label(svg: &mut String, (x, y): (usize, usize), anchor: &str, text: String) {
    let y = y + HEIGHT / 2 - 4;
    let _ = writeln!(
        svg,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"10\" fill=\"#345\" text-anchor=\"{anchor}\" stroke=\"white\" \
         stroke-width=\"3\" paint-order=\"stroke\">{text}</text>"
    );
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
