//! Figures with lines.

use measure_harness::chart::{self, Axis, MOST_COLOURS, Place, chart};
use measure_harness::statistics::Summary;

use super::text::{escaped, table};

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
    fn colour(self) -> usize {
        match self {
            Self::Own | Self::Computed => 0,
            Self::Other(number) => 1 + number % (MOST_COLOURS - 1),
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

/// A figure: the chart, its legend, and its numbers as a table. Empty if there is no value.
pub fn lines(title: &str, x: &Axis, y: &Axis, lines: &[Line]) -> String {
    let drawn = |line: &Line| {
        let (name, is_dashed) = (line.name.clone(), line.look == Look::Computed);
        let (colour, has_dots) = (line.look.colour(), !is_dashed);
        chart::Line { name, colour, is_dashed, has_dots, points: line.points.clone() }
    };
    let all: Vec<chart::Line> = lines.iter().map(drawn).collect();
    let svg = chart(title, x, y, &all, Place::Page);
    if svg.is_empty() {
        return svg;
    }
    let mut legend = String::new();
    for line in all.iter().filter(|line| !line.points.is_empty()) {
        let dashed = if line.is_dashed { " class=\"dashed\"" } else { "" };
        let name = escaped(&line.name);
        legend += &format!("<li><i{dashed} style=\"--colour:var(--c{})\"></i>{name}</li>", line.colour);
    }
    format!(
        "<figure>\n<figcaption>{}</figcaption>\n{svg}<ul class=\"legend\">{legend}</ul>\n<details><summary>Numbers</summary>\n\
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_a_chart_a_legend_and_its_numbers() {
        let line = |name: &str, look, points: &[(f64, f64)]| {
            let point = |&(at, median)| (at, Summary { median, low: median * 0.9, high: median * 1.1 });
            Line { name: name.into(), look, points: points.iter().map(point).collect() }
        };
        let all = [
            line("a <b>", Look::Own, &[(1.0, 10.0), (4.0, 40.0)]),
            line("c", Look::Computed, &[(1.0, 10.0), (4.0, 30.0)]),
        ];
        let figure = lines("speed", &Axis::log("workers"), &Axis::linear("times"), &all);
        assert!(
            figure.contains("a &lt;b&gt;</li>") && figure.contains("40.00 <small>[36.00, 44.00]</small>")
        );
        assert!(figure.contains("<polyline") && figure.contains("<details>"), "{figure}");
        assert_eq!(lines("none", &Axis::log("x"), &Axis::log("y"), &[]), "");
    }
}
