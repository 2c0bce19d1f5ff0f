//! Line charts of the experiments.

use measure_harness::chart::{self, Axis, Place, chart, round_step};
use measure_harness::statistics::Summary;

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

impl Line {
    /// Creates a line without points.
    pub fn new(name: impl Into<String>, is_dashed: bool) -> Self {
        Self { name: name.into(), points: Vec::new(), is_dashed }
    }
}

impl Plot {
    /// Returns the chart in the format SVG.
    pub fn svg(&self) -> String {
        let is_theory = self.axes == Axes::LinearLog;
        let mut colours = 0;
        let drawn = |line: &Line| {
            // Theory has the colour of the measurement before it, which is a point.
            colours += usize::from(!is_theory || !line.is_dashed);
            let shown = line.points.iter().filter(|point| !is_theory || point.1 > 0.0);
            chart::Line {
                name: line.name.clone(),
                colour: usize::saturating_sub(colours, 1),
                is_dashed: line.is_dashed,
                has_dots: is_theory && !line.is_dashed,
                points: shown.map(|&(x, y)| (x, Summary { median: y, low: y, high: y })).collect(),
            }
        };
        let lines: Vec<chart::Line> = self.lines.iter().map(drawn).collect();
        let points = || lines.iter().flat_map(|line| &line.points);
        let mut places: Vec<f64> = points().map(|point| point.0).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let (x, y) = if is_theory {
            let (first, last) = (places.first().copied(), places.last().copied());
            let (first, last) = (first.unwrap_or(0.0), last.unwrap_or(1.0));
            let step = round_step(((last - first) / 10.0).max(1e-12));
            let steps = (first / step).ceil() as i64..=(last / step).floor() as i64;
            places = steps.map(|count| count as f64 * step).collect();
            let decade = |of: fn(f64) -> f64, from, pick: fn(f64, f64) -> f64| {
                of(points().map(|point| point.1.median).fold(from, pick).log10()) as i32
            };
            let decades = decade(f64::floor, 1.0, f64::min)..=decade(f64::ceil, 1e-300, f64::max);
            let marks = decades.map(|power| (10f64.powi(power), format!("1e{power}"))).collect();
            (Axis::linear(self.across), Axis::log(self.up).marked(marks))
        } else {
            (Axis::log(self.across), Axis::linear(self.up))
        };
        let every = places.len().div_ceil(10).max(1);
        // Without rounding errors.
        let label = |&place: &f64| (place, format!("{}", (place * 1e6).round() / 1e6));
        let x = x.marked(places.iter().step_by(every).map(label).collect());
        chart(&self.title, &x, &y, &lines, Place::File)
    }
}
