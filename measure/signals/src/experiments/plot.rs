//! Line charts.

use std::fmt::Write;

/// A line chart.
#[derive(Debug, Clone)]
pub struct Plot {
    /// The title above the chart.
    pub title: String,
    /// The scales of both axes.
    pub axes: Axes,
    /// The meaning of the horizontal axis.
    pub across: &'static str,
    /// The meaning of the vertical axis.
    pub up: &'static str,
    /// The lines.
    pub lines: Vec<Line>,
}

/// The scales of both axes of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axes {
    /// The horizontal axis is logarithmic, and its values are the same for all lines. The vertical axis begins at 0.
    LogLinear,
    /// The vertical axis is logarithmic. Values that are not more than 0 are left out.
    LinearLog,
}

/// A line of a chart.
#[derive(Debug, Clone)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
    /// Whether the line is a reference, and not a measurement of a network.
    pub is_dashed: bool,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 210.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
/// Colours that are distinguishable with colour blindness (M. Okabe and K. Ito, 2002).
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#f0e442"];

impl Plot {
    /// Returns the chart in the format SVG.
    pub fn svg(&self) -> String {
        let is_log = self.axes == Axes::LinearLog;
        let across = |value: f64| if is_log { value } else { value.log2() };
        let is_shown = |point: &&(f64, f64)| !is_log || point.1 > 0.0;
        let points = || self.lines.iter().flat_map(|line| &line.points).filter(is_shown);
        let (mut first, mut last, mut lowest, mut highest) = (f64::MAX, f64::MIN, f64::MAX, 0f64);
        for &(x, y) in points() {
            (first, last) = (first.min(across(x)), last.max(across(x)));
            (lowest, highest) = (lowest.min(y), highest.max(y));
        }
        let up = Scale::new(is_log, lowest, highest);
        let x = |value: f64| LEFT + (across(value) - first) / (last - first).max(1e-9) * WIDTH;
        let y = |value: f64| TOP + HEIGHT - up.part(value) * HEIGHT;
        let (full_width, full_height) = (LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{full_width}\" height=\"{full_height}\" viewBox=\"0 0 \
             {full_width} {full_height}\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{full_width}\" \
             height=\"{full_height}\" fill=\"white\"/>\n"
        );
        let text = |svg: &mut String, x: f64, y: f64, anchor: &str, text: &str| {
            let text = escaped(text);
            let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>");
        };
        text(&mut svg, LEFT, 22.0, "start", &self.title);
        text(&mut svg, LEFT + WIDTH / 2.0, full_height - 10.0, "middle", self.across);
        let middle = TOP + HEIGHT / 2.0;
        let _ = writeln!(
            svg,
            "<text transform=\"translate(16 {middle}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escaped(self.up)
        );
        for (value, label) in up.marks() {
            let _ = writeln!(svg, "<path d=\"M{LEFT} {0:.1} h{WIDTH}\" stroke=\"#ddd\"/>", y(value));
            text(&mut svg, LEFT - 6.0, y(value) + 4.0, "end", &label);
        }
        let mut marks: Vec<f64> = points().map(|point| point.0).collect();
        if is_log {
            let step = nice((last - first) / 10.0);
            let steps = (first / step).ceil() as i64..=(last / step).floor() as i64;
            marks = steps.map(|count| count as f64 * step).collect();
        }
        marks.sort_by(f64::total_cmp);
        marks.dedup();
        let every = marks.len().div_ceil(10);
        for mark in marks.iter().step_by(every.max(1)) {
            text(&mut svg, x(*mark), TOP + HEIGHT + 18.0, "middle", &label(*mark));
        }
        let mut colours = 0;
        for (at, line) in self.lines.iter().enumerate() {
            // Theory has the colour of the measurement before it.
            colours += usize::from(!is_log || !line.is_dashed);
            let colour = COLOURS[colours.saturating_sub(1) % COLOURS.len()];
            let dash = if line.is_dashed { " stroke-dasharray=\"6 4\"" } else { "" };
            let places: Vec<(f64, f64)> =
                line.points.iter().filter(is_shown).map(|&(a, b)| (x(a), y(b))).collect();
            let path: Vec<String> = places.iter().map(|(a, b)| format!("{a:.1} {b:.1}")).collect();
            let _ = writeln!(
                svg,
                "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>",
                path.join(" L")
            );
            // Next to theory, a measurement is a point.
            for (a, b) in places.iter().filter(|_| is_log && !line.is_dashed) {
                let _ = writeln!(svg, "<circle cx=\"{a:.1}\" cy=\"{b:.1}\" r=\"3.5\" fill=\"{colour}\"/>");
            }
            let (key, row) = (LEFT + WIDTH + 14.0, TOP + 10.0 + 20.0 * at as f64);
            let _ =
                writeln!(svg, "<path d=\"M{key} {row} h22\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>");
            text(&mut svg, key + 28.0, row + 4.0, "start", &line.name);
        }
        svg.push_str("</svg>\n");
        svg
    }
}

/// The vertical axis.
enum Scale {
    /// From 0, with a mark at each step.
    Linear { step: f64, steps: f64 },
    /// From one power of ten to another.
    Powers { first: i32, last: i32 },
}

impl Scale {
    fn new(is_log: bool, lowest: f64, highest: f64) -> Self {
        if is_log {
            let first = lowest.min(highest).log10().floor().max(-300.0) as i32;
            return Self::Powers { first, last: (highest.log10().ceil() as i32).max(first + 1) };
        }
        let step = nice(highest / 4.0);
        Self::Linear { step, steps: (highest / step).ceil().max(1.0) }
    }

    /// Returns the place of a value: 0 at the bottom and 1 at the top.
    fn part(&self, value: f64) -> f64 {
        match *self {
            Self::Linear { step, steps } => value / (step * steps),
            Self::Powers { first, last } => (value.log10() - f64::from(first)) / f64::from(last - first),
        }
    }

    /// Returns the values with a mark, and their labels.
    fn marks(&self) -> Vec<(f64, String)> {
        match *self {
            Self::Linear { step, steps } => (0..=steps as u32)
                .map(|count| step * f64::from(count))
                .map(|value| (value, label(value)))
                .collect(),
            Self::Powers { first, last } => {
                (first..=last).map(|power| (10f64.powi(power), format!("1e{power}"))).collect()
            }
        }
    }
}

/// Returns the label of a value, without rounding errors.
fn label(value: f64) -> String {
    format!("{}", (value * 1e6).round() / 1e6)
}

/// The next number of the form 1, 2 or 5 times a power of ten.
fn nice(step: f64) -> f64 {
    if step.is_nan() || step <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(step.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|&nice| nice >= 0.999 * step)
        .unwrap_or(step)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
