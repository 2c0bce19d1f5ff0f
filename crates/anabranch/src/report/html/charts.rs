//! Charts in SVG: what happened over time, and how long items took. Their colours come from the page's style
//! sheet.

use std::fmt::Write;

use anabranch_plan::drawing::{Anchor, Canvas, Letters, Paint};
use anabranch_plan::quantity::time;

use super::markup::{color, escaped, section};
use crate::report::Report;
use crate::report::table::short;

/// The width of every chart, and of the column of names on its left, in pixels.
const WIDTH: f64 = 1000.0;
const LEFT: f64 = 130.0;
/// The most columns in the lane of a thread. There are fewer if there are many threads.
const COLUMNS: usize = 256;
const FEW_COLUMNS: usize = 64;
const MANY_THREADS: usize = 16;

const FAINT: Letters = Letters { color: "var(--faint)", size: 12.0, ..Letters::PLAIN };
const STRONG: Letters = Letters { color: "var(--ink)", ..FAINT };
const GRID: Paint = Paint::line("var(--line)").wide(1.0);
const MARK: Paint = Paint::line("var(--warm)");

impl Report {
    /// A lane for each thread: the share of each stretch that it spent in each stage.
    pub(super) fn threads(&self) -> String {
        if self.tracks.is_empty() {
            return String::new();
        }
        let columns = if self.tracks.len() > MANY_THREADS { FEW_COLUMNS } else { COLUMNS };
        let (height, gap) = if self.tracks.len() > MANY_THREADS { (14.0, 3.0) } else { (30.0, 8.0) };
        let bottom = self.tracks.len() as f64 * (height + gap);
        let mut canvas = Canvas::default();
        for (lane, track) in self.tracks.iter().enumerate() {
            let y = lane as f64 * (height + gap);
            canvas.text((0.0, y + height / 2.0 + 4.0), Anchor::Start, STRONG, &clipped(&track.name));
            canvas.rect([LEFT, y, WIDTH - LEFT, height], 0.0, Paint::filled("var(--idle)"));
            let step = track.time.rows().len().div_ceil(columns).max(1);
            let scale = self.scale();
            let shares: Vec<(&str, Vec<f64>)> = self.shares_of(track).collect();
            let mut bars = vec![Vec::new(); self.nodes.len()];
            for first in (0..track.time.rows().len()).step_by(step) {
                let x = LEFT + first as f64 * track.time.width() as f64 * scale;
                let wide = (step as f64 * track.time.width() as f64 * scale).min(WIDTH - x);
                let mut top = y + height;
                for (bars, (_, values)) in bars.iter_mut().zip(&shares) {
                    let sum: f64 = values[first..values.len().min(first + step)].iter().sum();
                    let tall = (sum / step as f64 * height).min(top - y);
                    if tall >= 0.05 && wide > 0.0 {
                        top -= tall;
                        bars.push([x, top, wide, tall]);
                    }
                }
            }
            for (at, bars) in bars.into_iter().enumerate().filter(|(_, bars)| !bars.is_empty()) {
                canvas.open(&self.nodes[at].name);
                canvas.bars(bars, color(at));
                canvas.close();
            }
        }
        self.time_axis(&mut canvas, bottom);
        let svg = canvas.figure("chart", "What each thread did over time", WIDTH, bottom + 26.0);
        let hint = "Each column is a stretch of time. Its colours are the shares that the thread spent in each stage.";
        section("Threads", hint, &format!("{}{svg}", self.key(Some("nothing to do, or no core"))))
    }

    /// An area for each stage: how many items waited before it.
    pub(super) fn queues(&self) -> String {
        let lines: Vec<(&str, Vec<f64>)> = self.waiting_lines().collect();
        if self.waiting.rows().len() < 2 {
            return String::new();
        }
        let (height, gap) = (54.0, 14.0);
        let bottom = lines.len() as f64 * (height + gap);
        let mut canvas = Canvas::default();
        let width = self.waiting.width() as f64 * self.scale();
        for (at, (name, values)) in lines.iter().enumerate() {
            let base = (at + 1) as f64 * (height + gap) - gap;
            let most = values.iter().copied().fold(1.0, f64::max);
            let mut area = vec![(LEFT, base)];
            let mut x = LEFT;
            for value in values {
                let y = base - value / most * (height - 4.0);
                area.push((x, y));
                x = (x + width).min(WIDTH);
                area.push((x, y));
            }
            area.push((x, base));
            let fullest = self.nodes[at + 1].fullest;
            canvas.text((0.0, base - height / 2.0 + 1.0), Anchor::Start, STRONG, &clipped(name));
            canvas.text(
                (0.0, base - height / 2.0 + 17.0),
                Anchor::Start,
                FAINT,
                &format!("at most {fullest}"),
            );
            canvas.polygon(&area, Paint::filled(color(at + 1)));
            canvas.line(&[(LEFT, base), (WIDTH, base)], GRID);
        }
        self.time_axis(&mut canvas, bottom);
        let svg =
            canvas.figure("chart", "Items that waited before each stage over time", WIDTH, bottom + 26.0);
        let windows: Vec<String> = self.plan.domains.iter().map(|domain| domain.window.to_string()).collect();
        let several = if windows.len() == 1 { "window" } else { "windows" };
        let hint = format!(
            "How many items waited before each stage. Each stage has its own scale. The {several}: {}.",
            windows.join(", ")
        );
        section("Waiting over time", &hint, &svg)
    }

    /// A histogram for each latency.
    pub(super) fn latency_charts(&self) -> String {
        let mut body = String::new();
        for (name, latency) in self.latency_names().iter().zip(&self.latencies) {
            let (Some(first), Some(last)) = (latency.classes.first(), latency.classes.last()) else {
                continue;
            };
            // The time axis is logarithmic and has whole octaves.
            let low = (first.0 as f64).log2().floor();
            let high = ((last.0 as f64).log2() + 0.1).ceil().max(low + 1.0);
            let x = |nanos: f64| LEFT + (WIDTH - LEFT) * (nanos.max(1.0).log2() - low) / (high - low);
            let height = 120.0;
            let most = latency.classes.iter().map(|(_, count)| *count).max().unwrap_or(1) as f64;
            let mut canvas = Canvas::default();
            let wide = ((WIDTH - LEFT) / (high - low) / 16.0 - 0.8).max(0.8);
            let bar = |&(nanos, count): &(u64, u64)| {
                let tall = (count as f64 / most * (height - 8.0)).max(0.8);
                [x(nanos as f64) - wide / 2.0, height + 20.0 - tall, wide, tall]
            };
            canvas.bars(latency.classes.iter().map(bar), "var(--accent)");
            for octave in low as i32..=high as i32 {
                let nanos = 2f64.powi(octave);
                // Every octave has a line. Only as many octaves have a label as there is room for.
                let every = ((high - low) / 12.0).ceil() as i32;
                let at = x(nanos);
                canvas.line(&[(at, height + 20.0), (at, height + 25.0)], GRID);
                if (octave - low as i32) % every.max(1) == 0 {
                    let anchor = if octave == high as i32 { Anchor::End } else { Anchor::Middle };
                    canvas.text((at, height + 40.0), anchor, FAINT, &time(nanos as u64));
                }
            }
            let quantiles = [("half", latency.p50), ("95 %", latency.p95), ("99 %", latency.p99)];
            for (at, (label, nanos)) in quantiles.into_iter().enumerate() {
                let middle = x(nanos.as_nanos() as f64);
                canvas.line(&[(middle, 14.0), (middle, height + 20.0)], MARK);
                let text = format!("{label} within {}", short(nanos));
                canvas.text((0.0, 40.0 + 18.0 * at as f64), Anchor::Start, STRONG, &text);
            }
            if self.latencies.len() > 1 {
                let _ = write!(body, "<h3 class=\"hint\">{}</h3>", escaped(name));
            }
            body += &canvas.figure("chart", name, WIDTH, height + 48.0);
        }
        if body.is_empty() {
            return String::new();
        }
        let hint = "From the moment at which the source has given an item to the moment at which the end has finished it, \
                    on a logarithmic scale. A part of the items was measured, evenly spread.";
        section("Latency", hint, &body)
    }

    /// Pixels per nanosecond.
    fn scale(&self) -> f64 {
        (WIDTH - LEFT) / (self.wall.as_nanos() as f64).max(1.0)
    }

    fn time_axis(&self, canvas: &mut Canvas, y: f64) {
        let (wall, parts) = (self.wall.as_nanos() as f64, 8);
        for part in 0..=parts {
            let share = f64::from(part) / f64::from(parts);
            let x = LEFT + (WIDTH - LEFT) * share;
            let anchor = if part == parts { Anchor::End } else { Anchor::Middle };
            let text = if part == 0 { "0".to_owned() } else { time((wall * share) as u64) };
            canvas.line(&[(x, y), (x, y + 5.0)], GRID);
            canvas.text((x, y + 20.0), anchor, FAINT, &text);
        }
    }
}

/// A name, cut to fit the column.
fn clipped(name: &str) -> String {
    const ROOM: usize = 17;
    if name.chars().count() <= ROOM {
        return name.to_owned();
    }
    name.chars().take(ROOM - 1).chain(['…']).collect()
}
