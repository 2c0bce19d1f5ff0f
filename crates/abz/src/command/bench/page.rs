//! The results as an HTML page: two plots of speed against ratio and a table for each file.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use abz::Format;
use abz::program::descriptors::close;
use anabranch::plan::drawing::{Anchor, Canvas, Letters, Paint, escaped, round_step};

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

    let letters = Letters { color: "currentColor", size: 12.0, ..Letters::PLAIN };
    let mut canvas = Canvas::default();
    canvas.text((LEFT, 18.0), Anchor::Start, Letters { bold: true, ..letters }, &format!("{what}, MB/s"));
    let powers = low.floor() as i32..=high.ceil() as i32;
    for value in powers.flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(power))) {
        if (low..high).contains(&value.log10()) {
            let at = y(value.log10());
            canvas.line(&[(LEFT, at), (WIDTH - RIGHT, at)], Paint::line("#8884").wide(1.0));
            canvas.text((LEFT - 6.0, at + 4.0), Anchor::End, letters, &value.to_string());
        }
    }
    let step = round_step((right - left) / 8.0);
    for tick in (left / step).ceil() as i64..=(right / step).floor() as i64 {
        let tick = tick as f64 * step;
        let label = ((tick * 100.0).round() / 100.0).to_string();
        canvas.text((x(tick), HEIGHT - BOTTOM + 18.0), Anchor::Middle, letters, &label);
    }
    canvas.text(((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 8.0), Anchor::Middle, letters, "ratio");

    for (format, color) in Format::written().zip(COLORS.into_iter().cycle()) {
        let of_format: Vec<_> = points.iter().filter(|point| point.0 == format).collect();
        let Some(last) = of_format.last() else { continue };
        let places: Vec<_> = of_format.iter().map(|point| (x(point.2), y(point.3))).collect();
        canvas.line(&places, Paint::line(color).wide(2.0));
        for ((_, level, ratio, log), &(right, down)) in of_format.iter().zip(&places) {
            canvas.open(&format!("{format} -{level}: ratio {ratio:.2}, {:.1} MB/s", 10f64.powf(*log)));
            canvas.circle(right, down, 4.0, Paint::filled(color));
            canvas.close();
        }
        let beside = (x(last.2) + 8.0, y(last.3) + 4.0);
        canvas.text(beside, Anchor::Start, Letters { color, ..letters }, &format.to_string());
    }
    canvas.figure("plot", what, WIDTH, HEIGHT)
}

/// A color for each format. They can be told apart by colour-blind readers, on light and dark backgrounds.
const COLORS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#555555"];

/// The head of the page.
const HEAD: &str = "<!doctype html>
<meta charset=utf-8>
<meta name=viewport content=\"width=device-width\">
<title>abz --bench</title>
<style>
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2em auto; padding: 0 1em }
h1 { font-size: 1.2em; font-weight: 600 }
.plots { display: flex; flex-wrap: wrap; gap: 1em }
.plot { flex: 1 1 440px; max-width: 100%; height: auto }
table { border-collapse: collapse; margin: 1em 0 2em } th { text-align: right; font-weight: 600 }
td { text-align: right; font-variant-numeric: tabular-nums } th, td { padding: .15em .9em; border-bottom: 1px solid #8884 }
</style>
";
