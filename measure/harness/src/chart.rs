//! Charts with lines, in the format SVG.

pub use anabranch_plan::drawing::{Anchor, Canvas, Letters, Paint, escaped, round_step};

use crate::statistics::Summary;

/// Where a chart is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In a page, whose style sheet has the colours, and which has the title and the names of the lines.
    Page,
    /// In a file of its own.
    File,
}

/// A line.
#[derive(Debug, Clone)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// The number of its colour.
    pub colour: usize,
    /// Whether it is dashed.
    pub is_dashed: bool,
    /// Whether its points are seen.
    pub has_dots: bool,
    /// Places on the first axis, and values with their intervals.
    pub points: Vec<(f64, Summary)>,
}

/// An axis.
#[derive(Debug, Clone)]
pub struct Axis {
    /// What it shows.
    pub title: String,
    /// Whether equal distances are equal ratios.
    pub is_log: bool,
    /// The places that are marked, with their labels. If there are none, they are chosen.
    pub marks: Vec<(f64, String)>,
}

/// How many lines have a colour of their own.
pub const MOST_COLOURS: usize = 8;

/// Colours that are distinguishable with colour blindness (M. Okabe and K. Ito, 2002).
const COLOURS: [&str; MOST_COLOURS] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#f0e442"];
/// Those of a page's style sheet.
const OF_PAGE: [&str; MOST_COLOURS] =
    ["var(--c0)", "var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)", "var(--c6)", "var(--c7)"];

impl Axis {
    /// An axis on which equal distances are equal differences.
    pub fn linear(title: &str) -> Self {
        Self { title: title.into(), is_log: false, marks: Vec::new() }
    }

    /// An axis on which equal distances are equal ratios.
    pub fn log(title: &str) -> Self {
        Self { is_log: true, ..Self::linear(title) }
    }

    /// Marks these places.
    pub fn marked(self, marks: Vec<(f64, String)>) -> Self {
        Self { marks, ..self }
    }

    fn place(&self, value: f64) -> f64 {
        if self.is_log { value.max(1e-300).log10() } else { value }
    }

    /// The axis for values between these two: its ends, and what is marked.
    fn over(&self, low: f64, high: f64) -> (f64, f64, Vec<(f64, String)>) {
        let marks = if self.marks.is_empty() { self.chosen(low, high) } else { self.marks.clone() };
        let marks: Vec<_> = marks.into_iter().map(|(value, label)| (self.place(value), label)).collect();
        let begins_at_0 = !self.is_log && self.marks.is_empty();
        let low = if begins_at_0 { low.min(0.0) } else { low };
        let (mut low, mut high) = (self.place(low), self.place(high));
        for &(place, _) in &marks {
            low = low.min(place);
            high = high.max(place);
        }
        let room = ((high - low) * 0.04).max(1e-9);
        (if begins_at_0 { low } else { low - room }, high + room, marks)
    }

    /// Round numbers that are about as far from each other as is legible.
    fn chosen(&self, low: f64, high: f64) -> Vec<(f64, String)> {
        let label = |value: f64| {
            let places = if value >= 10.0 || value.fract() == 0.0 {
                0
            } else {
                (1.0 - value.log10().floor()) as usize
            };
            (value, format!("{value:.places$}"))
        };
        if self.is_log {
            let decades = low.max(1e-12).log10().floor() as i32..=high.max(1e-12).log10().ceil() as i32;
            let steps: &[f64] = if decades.clone().count() > 3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
            let all = decades.flat_map(|decade| steps.iter().map(move |step| step * 10f64.powi(decade)));
            return all.filter(|value| (low * 0.7..=high * 1.4).contains(value)).map(label).collect();
        }
        let step = round_step((high / 5.0).max(1e-12));
        let places = if step >= 1.0 { 0 } else { (-step.log10()).ceil() as usize };
        let labelled = |value: f64| (value, format!("{value:.places$}"));
        (0..=(high / step).ceil() as u32).map(|at| labelled(f64::from(at) * step)).collect()
    }
}

/// The chart. Empty if there is no value.
pub fn chart(title: &str, x: &Axis, y: &Axis, lines: &[Line], place: Place) -> String {
    let points = || lines.iter().flat_map(|line| &line.points);
    if points().next().is_none() {
        return String::new();
    }
    let least = |of: fn(&(f64, Summary)) -> f64| points().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: fn(&(f64, Summary)) -> f64| points().map(of).fold(f64::NEG_INFINITY, f64::max);
    let is_page = place == Place::Page;
    let (width, height) = if is_page { (460.0, 280.0) } else { (910.0, 390.0) };
    let [left, right, top, bottom] =
        if is_page { [48.0, 14.0, 24.0, 38.0] } else { [60.0, 210.0, 54.0, 50.0] };
    let (wide, high) = (width - left - right, height - top - bottom);
    let (rule, words, colours) =
        if is_page { ("var(--rule)", "var(--soft)", OF_PAGE) } else { ("#ddd", "#000", COLOURS) };
    let (rule, letters) = (Paint::line(rule).wide(1.0), Letters { color: words, ..Letters::PLAIN });
    let (first, last, marks_across) = x.over(least(|point| point.0), most(|point| point.0));
    let (lowest, highest, marks_up) = y.over(least(|point| point.1.low), most(|point| point.1.high));
    let across = |place: f64| left + (place - first) / (last - first) * wide;
    let up = |place: f64| top + high - (place - lowest) / (highest - lowest) * high;
    let mut canvas = Canvas::default();
    if !is_page {
        canvas.text((left, 22.0), Anchor::Start, letters, title);
    }
    // The title of the second axis lies above it, so that nobody has to turn the head.
    canvas.text((2.0, top - 10.0), Anchor::Start, letters, &y.title);
    canvas.text((left + wide / 2.0, height - 6.0), Anchor::Middle, letters, &x.title);
    for (place, label) in marks_up {
        canvas.line(&[(left, up(place)), (left + wide, up(place))], rule);
        canvas.text((left - 6.0, up(place) + 4.0), Anchor::End, letters, &label);
    }
    for (place, label) in marks_across {
        canvas.line(&[(across(place), top + high), (across(place), top + high + 4.0)], rule);
        canvas.text((across(place), top + high + 17.0), Anchor::Middle, letters, &label);
    }
    for (at, line) in lines.iter().filter(|line| !line.points.is_empty()).enumerate() {
        let colour = colours[line.colour % MOST_COLOURS];
        let paint = Paint { dashed: line.is_dashed, ..Paint::line(colour).wide(2.0) };
        let place = |&(at, value): &(f64, Summary)| (across(x.place(at)), up(y.place(value.median)));
        let places: Vec<(f64, f64)> = line.points.iter().map(place).collect();
        canvas.line(&places, paint);
        for (&(at, value), &(right, down)) in line.points.iter().zip(&places) {
            if value.low < value.high && !line.is_dashed {
                let whisker = [value.low, value.high].map(|end| (across(x.place(at)), up(y.place(end))));
                canvas.line(&whisker, Paint::line(colour).wide(1.0));
            }
            if line.has_dots {
                canvas.circle(right, down, 3.0, Paint::filled(colour));
            }
        }
        if !is_page {
            let (key, row) = (left + wide + 14.0, top + 10.0 + 20.0 * at as f64);
            canvas.line(&[(key, row), (key + 22.0, row)], paint);
            canvas.text((key + 28.0, row + 4.0), Anchor::Start, letters, &line.name);
        }
    }
    match place {
        Place::Page => {
            let label = format!("{title}: {} over {}", y.title, x.title);
            canvas.figure("chart", &label, width, height)
        }
        Place::File => canvas.document(title, width, height),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_has_a_path_for_each_line_and_its_points() {
        let line = |name: &str, is_dashed: bool, low: f64| {
            let point = |at| (at, Summary { median: 10.0 * at, low, high: 10.0 * at });
            let points = vec![point(1.0), point(4.0)];
            Line { name: name.into(), colour: 0, is_dashed, has_dots: !is_dashed, points }
        };
        let lines = [line("a < b", false, 1.0), line("c", true, 10.0)];
        let draw = |lines, place| chart("t & u", &Axis::log("x"), &Axis::linear("y"), lines, place);
        let file = draw(&lines, Place::File);
        assert!(
            file.contains("a &lt; b") && file.contains("t &amp; u") && file.ends_with("</svg>\n"),
            "{file}"
        );
        assert_eq!((file.matches("stroke-dasharray").count(), file.matches("<circle").count()), (2, 2));
        let page = draw(&lines, Place::Page);
        assert!(page.contains("var(--c0)") && !page.contains('#'), "{page}");
        assert_eq!(draw(&[], Place::Page), "");
    }

    #[test]
    fn marks_are_round_numbers() {
        let labels = |axis: Axis, low, high| -> Vec<String> {
            axis.chosen(low, high).into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(labels(Axis::linear("y"), 0.0, 1.9), ["0.0", "0.5", "1.0", "1.5", "2.0"]);
        assert_eq!(labels(Axis::log("y"), 15.0, 240.0), ["20", "50", "100", "200"]);
        assert_eq!(labels(Axis::log("y"), 1.0, 90_000.0), ["1", "10", "100", "1000", "10000", "100000"]);
    }
}
