//! Line charts.

use std::fmt::Write;

use crate::drawing::escaped;

/// A line chart. The horizontal axis is logarithmic, and its values are the same for all lines.
#[derive(Debug, Clone)]
pub struct Plot {
    /// The title above the chart.
    pub title: String,
    /// The meaning of the horizontal axis.
    pub across: &'static str,
    /// The meaning of the vertical axis, which begins at 0.
    pub up: &'static str,
    /// The lines.
    pub lines: Vec<Line>,
}

/// A line of a chart.
#[derive(Debug, Clone)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Its points, from left to right. The first value is more than 0.
    pub points: Vec<(f64, f64)>,
    /// Whether it is something to compare with, and not a measurement of a network.
    pub is_dashed: bool,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
/// Colours that people with colour blindness can tell apart (M. Okabe and K. Ito, 2002).
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#f0e442"];

impl Plot {
    /// The chart in the format SVG.
    pub fn svg(&self) -> String {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let (mut first, mut last, mut highest) = (f64::MAX, f64::MIN, 0f64);
        for &(x, y) in points() {
            (first, last, highest) = (first.min(x.log2()), last.max(x.log2()), highest.max(y));
        }
        let step = nice(highest / 4.0);
        let top = step * (highest / step).ceil().max(1.0);
        let x = |value: f64| LEFT + (value.log2() - first) / (last - first).max(1e-9) * WIDTH;
        let y = |value: f64| TOP + HEIGHT - value / top * HEIGHT;
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
        let mut value = 0.0;
        while value <= top * 1.001 {
            let _ = writeln!(svg, "<path d=\"M{LEFT} {0:.1} h{WIDTH}\" stroke=\"#ddd\"/>", y(value));
            text(&mut svg, LEFT - 6.0, y(value) + 4.0, "end", &format!("{}", (value * 1e6).round() / 1e6));
            value += step;
        }
        let mut marks: Vec<f64> = points().map(|point| point.0).collect();
        marks.sort_by(f64::total_cmp);
        marks.dedup();
        let every = marks.len().div_ceil(10);
        for mark in marks.iter().step_by(every.max(1)) {
            text(&mut svg, x(*mark), TOP + HEIGHT + 18.0, "middle", &format!("{mark}"));
        }
        for (at, line) in self.lines.iter().enumerate() {
            let colour = COLOURS[at % COLOURS.len()];
            let dash = if line.is_dashed { " stroke-dasharray=\"6 4\"" } else { "" };
            let path: Vec<String> =
                line.points.iter().map(|&(a, b)| format!("{:.1} {:.1}", x(a), y(b))).collect();
            let _ = writeln!(
                svg,
                "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>",
                path.join(" L")
            );
            let (key, row) = (LEFT + WIDTH + 14.0, TOP + 10.0 + 20.0 * at as f64);
            let _ =
                writeln!(svg, "<path d=\"M{key} {row} h22\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>");
            text(&mut svg, key + 28.0, row + 4.0, "start", &line.name);
        }
        svg.push_str("</svg>\n");
        svg
    }
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
