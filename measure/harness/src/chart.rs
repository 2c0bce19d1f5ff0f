//! Charts with lines, in the format SVG.

use std::fmt::{Display, Write};

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

/// Colours that are distinguishable with colour blindness (M. Okabe and K. Ito, 2002).
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#f0e442"];

/// How many lines have a colour of their own.
pub const MOST_COLOURS: usize = COLOURS.len();

/// A picture that is being drawn.
#[derive(Debug, Default)]
pub struct Picture(String);

impl Picture {
    /// Writes a text with its anchor (`start`, `middle` or `end`) at a place.
    pub fn text(&mut self, (x, y): (f64, f64), anchor: &str, colour: &str, text: &str) {
        let text = escaped(text);
        self.put(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{text}</text>"
        ));
    }

    /// Draws a line through some places.
    pub fn line(&mut self, places: &[(f64, f64)], colour: &str, width: f64, is_dashed: bool) {
        let places: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let dash = if is_dashed { " stroke-dasharray=\"6 4\"" } else { "" };
        self.put(format_args!(
            "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"{dash}/>",
            places.join(" L")
        ));
    }

    /// Draws a dot, or its border if it is not filled.
    pub fn dot(&mut self, (x, y): (f64, f64), radius: f64, colour: &str, is_filled: bool) {
        let paint = if is_filled { "" } else { "none\" stroke=\"" };
        self.put(format_args!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{paint}{colour}\"/>"
        ));
    }

    /// Adds a line of text to the file.
    pub fn put(&mut self, text: impl Display) {
        let _ = writeln!(self.0, "{text}");
    }

    /// The picture with this size in pixels. `attributes` are further ones of its element.
    pub fn svg(self, attributes: &str, (width, height): (f64, f64)) -> String {
        format!(
            "<svg {attributes} width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n{}</svg>\n",
            self.0
        )
    }
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
        let step = round(high / 5.0);
        let places = if step >= 1.0 { 0 } else { (-step.log10()).ceil() as usize };
        let labelled = |value: f64| (value, format!("{value:.places$}"));
        (0..=(high / step).ceil() as u32).map(|at| labelled(f64::from(at) * step)).collect()
    }
}

/// The next number that is 1, 2 or 5 times a power of ten.
pub fn round(step: f64) -> f64 {
    let step = step.max(1e-12);
    let decade = 10f64.powf(step.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|times| times * decade)
        .into_iter()
        .find(|&it| it >= 0.999 * step)
        .unwrap_or(step)
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
    let (rule, words) = if is_page { ("var(--rule)", "var(--soft)") } else { ("#ddd", "#000") };
    let colour = |number: usize| match place {
        Place::Page => format!("var(--c{})", number % MOST_COLOURS),
        Place::File => COLOURS[number % MOST_COLOURS].to_owned(),
    };
    let (first, last, marks_across) = x.over(least(|point| point.0), most(|point| point.0));
    let (lowest, highest, marks_up) = y.over(least(|point| point.1.low), most(|point| point.1.high));
    let across = |place: f64| left + (place - first) / (last - first) * wide;
    let up = |place: f64| top + high - (place - lowest) / (highest - lowest) * high;
    let mut picture = Picture::default();
    if !is_page {
        picture.put("<rect width=\"100%\" height=\"100%\" fill=\"white\"/>");
        picture.text((left, 22.0), "start", words, title);
    }
    // The title of the second axis lies above it, so that nobody has to turn the head.
    picture.text((2.0, top - 10.0), "start", words, &y.title);
    picture.text((left + wide / 2.0, height - 6.0), "middle", words, &x.title);
    for (place, label) in marks_up {
        picture.line(&[(left, up(place)), (left + wide, up(place))], rule, 1.0, false);
        picture.text((left - 6.0, up(place) + 4.0), "end", words, &label);
    }
    for (place, label) in marks_across {
        picture.line(&[(across(place), top + high), (across(place), top + high + 4.0)], rule, 1.0, false);
        picture.text((across(place), top + high + 17.0), "middle", words, &label);
    }
    for (at, line) in lines.iter().filter(|line| !line.points.is_empty()).enumerate() {
        let colour = colour(line.colour);
        let place = |&(at, value): &(f64, Summary)| (across(x.place(at)), up(y.place(value.median)));
        let places: Vec<(f64, f64)> = line.points.iter().map(place).collect();
        picture.line(&places, &colour, 2.0, line.is_dashed);
        for (&(at, value), &place) in line.points.iter().zip(&places) {
            if value.low < value.high && !line.is_dashed {
                let whisker = [value.low, value.high].map(|end| (across(x.place(at)), up(y.place(end))));
                picture.line(&whisker, &colour, 1.0, false);
            }
            if line.has_dots {
                picture.dot(place, 3.0, &colour, true);
            }
        }
        if !is_page {
            let (key, row) = (left + wide + 14.0, top + 10.0 + 20.0 * at as f64);
            picture.line(&[(key, row), (key + 22.0, row)], &colour, 2.0, line.is_dashed);
            picture.text((key + 28.0, row + 4.0), "start", words, &line.name);
        }
    }
    let font = "font-family=\"system-ui, sans-serif\" font-size=\"13\"";
    let attributes = match place {
        Place::Page => format!(
            "class=\"chart\" role=\"img\" aria-label=\"{}: {} over {}\" {font}",
            escaped(title),
            escaped(&y.title),
            escaped(&x.title)
        ),
        Place::File => format!("xmlns=\"http://www.w3.org/2000/svg\" {font}"),
    };
    picture.svg(&attributes, (width, height))
}

/// The text for XML and HTML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
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
        assert!(page.contains("var(--c0)") && !page.contains('#') && !page.contains("http"), "{page}");
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
