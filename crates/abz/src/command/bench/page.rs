//! The results as an HTML page: two plots of speed against ratio and a table for each file.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use abz::Format;
use abz::descriptors::close;

use super::measured::{Bench, Cost, Row};
use super::table::{megabytes, memory, ratio, speed, title};
use crate::command::messages::problem::Problem;

/// Writes the page of all files. An existing file is only overwritten with `force`.
pub(super) fn write(path: &Path, benches: &[Bench], force: bool) -> Result<(), Problem> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).create_new(!force);
    let opened =
        options.open(path).map_err(|error| Problem::of_file(path.display(), "cannot be created", &error));
    let mut file = opened?;
    file.write_all(page(benches).as_bytes())
        .and_then(|()| close(file))
        .map_err(|error| Problem::of_file(path.display(), "cannot be written to", &error))
}

fn page(benches: &[Bench]) -> String {
    let mut page = HEAD.to_owned();
    for bench in benches {
        let _ = write!(page, "<h1>{}</h1>\n<div class=plots>", escaped(&title(bench)));
        page += &plot(bench, "compression", |row| row.compress);
        page += &plot(bench, "decompression", |row| row.decompress);
        page += "</div>\n<table><tr><th>format<th>level<th>ratio<th>compression<th>memory<th>decompression<th>memory\n";
        for row in &bench.rows {
            let _ = writeln!(
                page,
                "<tr><td>{}<td>-{}<td>{:.2}<td>{}<td>{}<td>{}<td>{}",
                row.format,
                row.level,
                ratio(bench.taken, row.compressed),
                speed(bench.taken, &row.compress),
                memory(&row.compress),
                speed(bench.taken, &row.decompress),
                memory(&row.decompress),
            );
        }
        page += "</table>\n";
    }
    page
}

/// The size of a plot and of its margins, in pixels.
const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 70.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 45.0;

/// Returns a plot of speed, on a logarithmic scale, against ratio: a line for each format, a point for each level.
fn plot(bench: &Bench, what: &str, cost: impl Fn(&Row) -> Cost) -> String {
    let points: Vec<(Format, u32, f64, f64)> = bench
        .rows
        .iter()
        .map(|row| {
            let (x, y) = (ratio(bench.taken, row.compressed), megabytes(bench.taken, &cost(row)));
            (row.format, row.level, x, y.max(0.01).log10())
        })
        .collect();
    let span = |values: &mut dyn Iterator<Item = f64>, least: f64| {
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
        let room = ((high - low) * 0.08).max(least);
        (low - room, high + room)
    };
    let (left, right) = span(&mut points.iter().map(|point| point.2), 0.05);
    let (low, high) = span(&mut points.iter().map(|point| point.3), 0.05);
    let x = |ratio: f64| LEFT + (ratio - left) / (right - left) * (WIDTH - LEFT - RIGHT);
    let y = |log: f64| HEIGHT - BOTTOM - (log - low) / (high - low) * (HEIGHT - TOP - BOTTOM);

    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=img aria-label=\"{what}\"><text x={LEFT} y=18 class=title>{what}, MB/s</text>"
    );
    let powers = low.floor() as i32..=high.ceil() as i32;
    for value in powers.flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(power))) {
        if (low..high).contains(&value.log10()) {
            let at = y(value.log10());
            let _ = write!(
                svg,
                "<line x1={LEFT} x2={} y1={at:.1} y2={at:.1} class=grid /><text x={} y={:.1} class=y>{value}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                at + 4.0
            );
        }
    }
    let step = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]
        .into_iter()
        .find(|step| (right - left) / step <= 8.0)
        .unwrap_or(500.0);
    let mut tick = (left / step).ceil() * step;
    while tick <= right {
        let _ = write!(
            svg,
            "<text x={:.1} y={} class=x>{}</text>",
            x(tick),
            HEIGHT - BOTTOM + 18.0,
            (tick * 100.0).round().abs() / 100.0
        );
        tick += step;
    }
    let _ = write!(svg, "<text x={} y={} class=x>ratio</text>", (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 8.0);

    for (number, format) in Format::written().enumerate() {
        let of_format: Vec<_> = points.iter().filter(|point| point.0 == format).collect();
        let Some(last) = of_format.last() else { continue };
        let line: Vec<_> =
            of_format.iter().map(|point| format!("{:.1},{:.1}", x(point.2), y(point.3))).collect();
        let _ = write!(svg, "<g class=f{number}><polyline points=\"{}\" />", line.join(" "));
        for (_, level, ratio, log) in &of_format {
            let _ = write!(
                svg,
                "<circle cx={:.1} cy={:.1} r=4><title>{format} -{level}: ratio {ratio:.2}, {:.1} MB/s</title></circle>",
                x(*ratio),
                y(*log),
                10f64.powf(*log)
            );
        }
        let _ = write!(svg, "<text x={:.1} y={:.1}>{format}</text></g>", x(last.2) + 8.0, y(last.3) + 4.0);
    }
    svg + "</svg>"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// The head of the page. Its colours can be told apart by colour-blind readers, on light and dark backgrounds.
const HEAD: &str = "<!doctype html>
<meta charset=utf-8>
<meta name=viewport content=\"width=device-width\">
<title>abz --bench</title>
<style>
:root { color-scheme: light dark; --grid: #8884 }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2em auto; padding: 0 1em }
h1 { font-size: 1.2em; font-weight: 600 }
.plots { display: flex; flex-wrap: wrap; gap: 1em }
svg { flex: 1 1 440px; max-width: 100%; font: 12px system-ui, sans-serif; fill: currentColor }
.grid { stroke: var(--grid) }
.title { font-weight: 600 }
.x { text-anchor: middle } .y { text-anchor: end }
polyline { fill: none; stroke-width: 2 }
.f0 { fill: #0072b2 } .f1 { fill: #d55e00 } .f2 { fill: #009e73 } .f3 { fill: #cc79a7 } .f4 { fill: #b8860b }
.f5 { fill: #56b4e9 } .f6 { fill: #555555 }
.f0 polyline { stroke: #0072b2 } .f1 polyline { stroke: #d55e00 } .f2 polyline { stroke: #009e73 }
.f3 polyline { stroke: #cc79a7 } .f4 polyline { stroke: #b8860b }
.f5 polyline { stroke: #56b4e9 } .f6 polyline { stroke: #555555 }
table { border-collapse: collapse; margin: 1em 0 2em } th { text-align: right; font-weight: 600 }
td { text-align: right; font-variant-numeric: tabular-nums } th, td { padding: .15em .9em; border-bottom: 1px solid var(--grid) }
</style>
";
