//! Charts with lines, by the crate `plotters`.

use measure_harness::statistics::Summary;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::text::{escaped, table};

/// The size of a chart, in pixels.
const SIZE: (u32, u32) = (460, 280);

/// Colours that stand for those of the style sheet: the lines of the chart, the words, and the series.
const RULE: RGBColor = RGBColor(1, 0, 0);
const WORDS: RGBColor = RGBColor(2, 0, 0);
const SERIES: [RGBColor; COLOURS] = {
    let mut all = [RGBColor(0, 0, 0); COLOURS];
    let mut at = 0;
    while at < COLOURS {
        all[at] = RGBColor(16 + at as u8, 0, 0);
        at += 1;
    }
    all
};
/// How many series have a colour of their own. The first is Anabranch's.
const COLOURS: usize = 8;

/// How a line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// The first colour.
    Own,
    /// One of the other colours.
    Other(usize),
    /// Dashed, in the first colour: what was computed and not measured.
    Computed,
}

impl Look {
    fn at(self) -> usize {
        match self {
            Self::Own | Self::Computed => 0,
            Self::Other(number) => 1 + number % (COLOURS - 1),
        }
    }
}

/// A series.
#[derive(Debug)]
pub struct Line {
    pub name: String,
    pub look: Look,
    /// Places on the first axis, and values with their intervals.
    pub points: Vec<(f64, Summary)>,
}

/// An axis.
#[derive(Debug)]
pub struct Axis {
    pub title: String,
    /// Whether equal distances are equal ratios.
    pub is_log: bool,
    /// The places that are marked, with their labels. If there are none, they are chosen.
    pub marks: Vec<(f64, String)>,
}

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
        if self.is_log { value.max(1e-12).log10() } else { value }
    }

    /// The axis for values between these two.
    fn over(&self, low: f64, high: f64) -> Marked {
        let marks = if self.marks.is_empty() { self.chosen(low, high) } else { self.marks.clone() };
        let marks: Vec<(f64, String)> =
            marks.into_iter().map(|(value, label)| (self.place(value), label)).collect();
        let (mut low, mut high) = (self.place(low), self.place(high));
        if !self.is_log && self.marks.is_empty() {
            low = low.min(0.0);
        }
        for &(place, _) in &marks {
            low = low.min(place);
            high = high.max(place);
        }
        let room = ((high - low) * 0.04).max(1e-9);
        let begin = if !self.is_log && self.marks.is_empty() { low } else { low - room };
        Marked { begin, end: high + room, marks }
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
        let raw = (high / 5.0).max(1e-12);
        let decade = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * decade).into_iter().find(|&step| step >= raw);
        let step = step.unwrap_or(raw);
        (0..=(high / step).ceil() as u32).map(|at| label_with(f64::from(at) * step, step)).collect()
    }
}

fn label_with(value: f64, step: f64) -> (f64, String) {
    let places = if step >= 1.0 { 0 } else { (-step.log10()).ceil() as usize };
    (value, format!("{value:.places$}"))
}

/// An axis with the places that are marked on it.
struct Marked {
    begin: f64,
    end: f64,
    marks: Vec<(f64, String)>,
}

impl Ranged for Marked {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.begin) / (self.end - self.begin);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.marks.iter().map(|&(place, _)| place).collect()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.begin..self.end
    }
}

impl ValueFormatter<f64> for Marked {
    fn format_ext(&self, value: &f64) -> String {
        let near = |&&(place, _): &&(f64, String)| (place - value).abs() < 1e-9;
        self.marks.iter().find(near).map_or(String::new(), |(_, label)| label.clone())
    }
}

/// A figure: the chart, its legend, and its numbers as a table. Empty if there is no value.
pub fn lines(title: &str, x: &Axis, y: &Axis, lines: &[Line]) -> String {
    let points = || lines.iter().flat_map(|line| &line.points);
    if points().next().is_none() {
        return String::new();
    }
    let least = |of: fn(&(f64, Summary)) -> f64| points().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: fn(&(f64, Summary)) -> f64| points().map(of).fold(f64::NEG_INFINITY, f64::max);
    let across = x.over(least(|point| point.0), most(|point| point.0));
    let up = y.over(least(|point| point.1.low), most(|point| point.1.high));
    let svg = match drawn((x, across), (y, up), lines) {
        Ok(svg) => svg,
        Err(problem) => return format!("<p class=\"note\">No chart of {}: {problem}</p>\n", escaped(title)),
    };
    // Inside a page no namespace is needed, and the picture is as wide as there is room.
    let svg = svg.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1);
    let label = format!(
        "<svg class=\"chart\" role=\"img\" aria-label=\"{}: {} over {}\" ",
        escaped(title),
        escaped(&y.title),
        escaped(&x.title)
    );
    let mut svg = svg.replacen("<svg ", &label, 1);
    svg = svg.replace("\"#010000\"", "\"var(--rule)\"").replace("\"#020000\"", "\"var(--soft)\"");
    for colour in 0..COLOURS {
        svg = svg.replace(&format!("\"#{:02X}0000\"", 16 + colour), &format!("\"var(--c{colour})\""));
    }
    let mut legend = String::new();
    for line in lines.iter().filter(|line| !line.points.is_empty()) {
        let dashed = if line.look == Look::Computed { " class=\"dashed\"" } else { "" };
        legend += &format!(
            "<li><i{dashed} style=\"--colour:var(--c{})\"></i>{}</li>",
            line.look.at(),
            escaped(&line.name)
        );
    }
    format!(
        "<figure>\n<figcaption>{}</figcaption>\n{svg}\n<ul class=\"legend\">{legend}</ul>\n<details><summary>Numbers</summary>\n\
         {}</details>\n</figure>\n",
        escaped(title),
        numbers(title, x, lines)
    )
}

/// Several figures next to each other, as many as there is room for.
pub fn figures(all: impl IntoIterator<Item = String>) -> String {
    format!("<div class=\"figures\">\n{}</div>\n", all.into_iter().collect::<String>())
}

/// The values as a table.
fn numbers(title: &str, x: &Axis, lines: &[Line]) -> String {
    let mut places: Vec<f64> =
        lines.iter().flat_map(|line| line.points.iter().map(|point| point.0)).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let label = |place: f64| {
        let mark = x.marks.iter().find(|(value, _)| *value == place);
        mark.map_or_else(|| place.to_string(), |(_, label)| label.clone())
    };
    let labels: Vec<String> = places.iter().map(|&place| label(place)).collect();
    let head: Vec<&str> =
        std::iter::once(x.title.as_str()).chain(labels.iter().map(String::as_str)).collect();
    let row = |line: &Line| {
        let value = |place: &f64| {
            let point = line.points.iter().find(|point| point.0 == *place);
            point.map_or("-".into(), |(_, value)| super::text::interval(*value))
        };
        std::iter::once(escaped(&line.name)).chain(places.iter().map(value)).collect()
    };
    table(title, &head, &lines.iter().map(row).collect::<Vec<Vec<String>>>())
}

fn drawn((x, across): (&Axis, Marked), (y, up): (&Axis, Marked), lines: &[Line]) -> Result<String, String> {
    let mut svg = String::new();
    let problem = |error: DrawingAreaErrorKind<std::io::Error>| error.to_string();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let words = ("system-ui, sans-serif", 13).into_font().color(&WORDS);
        // The title of the second axis lies above it, so that nobody has to turn the head.
        let above = words.clone().pos(Pos::new(HPos::Left, VPos::Top));
        area.draw_text(&y.title, &above, (2, 2)).map_err(problem)?;
        let mut chart = ChartBuilder::on(&area)
            .margin_top(24)
            .margin_right(14)
            .x_label_area_size(38)
            .y_label_area_size(46)
            .build_cartesian_2d(across, up)
            .map_err(problem)?;
        chart
            .configure_mesh()
            .bold_line_style(RULE)
            .light_line_style(TRANSPARENT)
            .axis_style(RULE)
            .label_style(words)
            .x_desc(x.title.as_str())
            .draw()
            .map_err(problem)?;
        for line in lines {
            let colour = SERIES[line.look.at()];
            let places: Vec<(f64, f64)> =
                line.points.iter().map(|(at, value)| (x.place(*at), y.place(value.median))).collect();
            if line.look == Look::Computed {
                let dashed = DashedLineSeries::new(places, 6, 4, colour.stroke_width(2));
                chart.draw_series(dashed).map_err(problem)?;
                continue;
            }
            chart.draw_series(LineSeries::new(places.clone(), colour.stroke_width(2))).map_err(problem)?;
            let whisker = |(at, value): &(f64, Summary)| {
                let at = x.place(*at);
                PathElement::new(
                    [(at, y.place(value.low)), (at, y.place(value.high))],
                    colour.stroke_width(1),
                )
            };
            chart.draw_series(line.points.iter().map(whisker)).map_err(problem)?;
            let dots = places.into_iter().map(|place| Circle::new(place, 3, colour.filled()));
            chart.draw_series(dots).map_err(problem)?;
        }
        area.present().map_err(problem)?;
    }
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, look: Look, points: &[(f64, f64)]) -> Line {
        let point = |&(at, median)| (at, Summary { median, low: median * 0.9, high: median * 1.1 });
        Line { name: name.into(), look, points: points.iter().map(point).collect() }
    }

    #[test]
    fn a_chart_has_lines_a_legend_and_its_numbers() {
        let all = [
            line("a <b>", Look::Own, &[(1.0, 10.0), (4.0, 40.0)]),
            line("c", Look::Computed, &[(1.0, 10.0), (4.0, 30.0)]),
        ];
        let figure = lines("speed", &Axis::log("workers"), &Axis::linear("times"), &all);
        assert!(figure.contains("var(--c0)") && !figure.contains("#10"), "{figure}");
        assert!(
            figure.contains("a &lt;b&gt;</li>") && figure.contains("40.00 <small>[36.00, 44.00]</small>")
        );
        assert!(figure.contains("<polyline") && !figure.contains("http"), "{figure}");
        assert_eq!(lines("none", &Axis::log("x"), &Axis::log("y"), &[]), "");
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
