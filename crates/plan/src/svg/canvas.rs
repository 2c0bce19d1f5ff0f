//! A small writer of SVG 1.1: shapes and text at absolute coordinates. All pictures of the workspace are written with it.
//!
//! It needs no style sheet and no ids, so several pictures can be in one page. A [`document`](Canvas::document) has its own
//! background, so its text is dark on light everywhere. A [`figure`](Canvas::figure) has none, and its colours may be variables
//! of the style sheet around it.

#![allow(missing_docs, missing_debug_implementations, reason = "the names say it")]

use std::fmt::Write;

/// The height of a line of text, and the size of its letters, in pixels.
pub const LINE_PX: f64 = 18.0;
const LETTERS_PX: f64 = 13.0;

/// Dark enough for a contrast of 7 to 1 on every background that is used here.
pub const INK: &str = "#1c2430";
/// The colour of less important text, with a contrast of 4.5 to 1.
pub const FAINT: &str = "#56606e";
pub const GROUND: &str = "#ffffff";

/// The fill and the outline of a shape.
#[derive(Clone, Copy)]
pub struct Paint {
    pub fill: &'static str,
    pub line: &'static str,
    pub width: f64,
    pub dashed: bool,
}

impl Paint {
    pub const fn filled(fill: &'static str) -> Self {
        Paint { width: 0.0, ..Paint::new(fill, "none") }
    }

    pub const fn new(fill: &'static str, line: &'static str) -> Self {
        Paint { fill, line, width: 1.5, dashed: false }
    }

    pub const fn line(line: &'static str) -> Self {
        Paint::new("none", line)
    }

    pub const fn wide(self, width: f64) -> Self {
        Paint { width, ..self }
    }

    pub const fn dashed(self) -> Self {
        Paint { dashed: true, ..self }
    }

    fn attributes(self) -> String {
        let mut text =
            format!("fill=\"{}\" stroke=\"{}\" stroke-width=\"{}\"", self.fill, self.line, self.width);
        if self.dashed {
            text += " stroke-dasharray=\"5 4\"";
        }
        text
    }
}

/// The position of a text relative to its point.
#[derive(Clone, Copy)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// The style of letters.
#[derive(Clone, Copy)]
pub struct Letters {
    pub color: &'static str,
    pub bold: bool,
    pub size: f64,
}

impl Letters {
    pub const PLAIN: Letters = Letters { color: INK, bold: false, size: LETTERS_PX };
    pub const BOLD: Letters = Letters { bold: true, ..Letters::PLAIN };
    pub const FAINT: Letters = Letters { color: FAINT, size: 12.0, ..Letters::PLAIN };
    pub const TITLE: Letters = Letters { size: 16.0, ..Letters::BOLD };
}

/// The content of a picture, in drawing order.
#[derive(Default)]
pub struct Canvas {
    body: String,
}

impl Canvas {
    /// Begins a group. Until [`close`](Canvas::close), everything that is drawn shows `tip` under the
    /// pointer.
    pub fn open(&mut self, tip: &str) {
        self.add(&format!("<g><title>{}</title>", escaped(tip)));
    }

    pub fn close(&mut self) {
        self.add("</g>");
    }

    pub fn rect(&mut self, [x, y, width, height]: [f64; 4], round: f64, paint: Paint) {
        let (x, y, width, height) = (number(x), number(y), number(width.max(0.0)), number(height.max(0.0)));
        let look = paint.attributes();
        let round = if round > 0.0 { format!(" rx=\"{}\"", number(round)) } else { String::new() };
        self.add(&format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"{round} {look}/>"));
    }

    /// Draws many filled rectangles as one shape, without an outline.
    pub fn bars(&mut self, bars: impl IntoIterator<Item = [f64; 4]>, fill: &str) {
        let mut path = String::new();
        for [x, y, width, height] in bars {
            let _ = write!(path, "M{x:.1} {y:.1}h{width:.2}v{height:.1}h-{width:.2}z");
        }
        if !path.is_empty() {
            self.add(&format!("<path d=\"{path}\" fill=\"{fill}\"/>"));
        }
    }

    pub fn circle(&mut self, x: f64, y: f64, radius: f64, paint: Paint) {
        let (x, y, radius, look) = (number(x), number(y), number(radius), paint.attributes());
        self.add(&format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" {look}/>"));
    }

    /// Draws a line through the points.
    pub fn line(&mut self, points: &[(f64, f64)], paint: Paint) {
        let points: Vec<String> =
            points.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
        self.add(&format!("<polyline points=\"{}\" {}/>", points.join(" "), paint.attributes()));
    }

    /// Draws a curve to the right from one point to another. `by` says how far it is bent at both ends, and `down` how much lower.
    pub fn curve(&mut self, from: (f64, f64), to: (f64, f64), (by, down): (f64, f64), paint: Paint) {
        let [x, y, a, b, c, d, e, f] =
            [from.0, from.1, from.0 + by, from.1 + down, to.0 - by, to.1 + down, to.0, to.1].map(number);
        let look = paint.attributes();
        self.add(&format!("<path d=\"M{x} {y} C{a} {b} {c} {d} {e} {f}\" {look}/>"));
        let head = Paint { fill: paint.line, dashed: false, width: 1.0, ..paint };
        self.polygon(&[(to.0 - 8.0, to.1 - 4.0), (to.0 - 8.0, to.1 + 4.0), to], head);
    }

    /// Draws a filled shape with the points as its corners.
    pub fn polygon(&mut self, points: &[(f64, f64)], paint: Paint) {
        let points: Vec<String> =
            points.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
        self.add(&format!("<polygon points=\"{}\" {}/>", points.join(" "), paint.attributes()));
    }

    /// Draws an arrow down from one point to another.
    pub fn arrow(&mut self, x: f64, from: f64, to: f64, paint: Paint) {
        self.line(&[(x, from), (x, to - 8.0)], paint);
        let head = Paint { fill: paint.line, dashed: false, width: 1.0, ..paint };
        self.polygon(&[(x - 5.0, to - 9.0), (x + 5.0, to - 9.0), (x, to)], head);
    }

    /// Draws a text whose baseline is at `y`.
    pub fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, letters: Letters, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if letters.bold { " font-weight=\"bold\"" } else { "" };
        let (x, y, size, color) = (number(x), number(y), number(letters.size), letters.color);
        let text = escaped(text);
        self.add(&format!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{color}\"{weight}{anchor}>{text}</text>"
        ));
    }

    /// The whole document. `title` describes the picture to readers who cannot see it.
    pub fn document(self, title: &str, width: f64, height: f64) -> String {
        let (width, height) = (number(width.ceil()), number(height.ceil()));
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" \
             font-family=\"system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif\">\n"
        );
        let _ = writeln!(text, "<title>{}</title>", escaped(title));
        let _ = writeln!(text, "<rect width=\"{width}\" height=\"{height}\" fill=\"{GROUND}\"/>");
        text += &self.body;
        text += "</svg>\n";
        text
    }

    /// A picture for a page with its own ground. `label` describes it to readers who cannot see it, and `class` is for the page's
    /// style sheet.
    pub fn figure(self, class: &str, label: &str, width: f64, height: f64) -> String {
        let (width, height, label) = (number(width), number(height), escaped(label));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\" font-family=\"system-ui, sans-serif\">\n{}</svg>\n",
            self.body
        )
    }

    fn add(&mut self, element: &str) {
        self.body += element;
        self.body.push('\n');
    }
}

/// About how wide a text is, in pixels. Fonts differ, so the estimate is rather too large.
pub fn width(text: &str, letters: Letters) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '(' | ')' | ' ' => 0.4,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 1.0,
        'A'..='Z' => 0.74,
        c if c.is_ascii() => 0.63,
        // Letters of other scripts may fill their square.
        c if (c as u32) < 0x1100 => 0.75,
        _ => 1.1,
    };
    let bold = if letters.bold { 1.08 } else { 1.0 };
    text.chars().map(em).sum::<f64>() * letters.size * bold
}

/// Breaks a text at spaces into lines of at most `most` pixels.
pub fn wrapped(text: &str, letters: Letters, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width(line, letters) + width(word, letters) + letters.size * 0.4 <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The least number that is 1, 2 or 5 times a power of ten, and not less than `distance` (but for rounding): a distance between
/// the marks of an axis.
pub fn round_step(distance: f64) -> f64 {
    let power = 10f64.powf(distance.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| distance <= 1.001 * factor * power);
    factor.unwrap_or(10.0) * power
}

/// Escapes text for use between tags or in an attribute. Characters that XML 1.0 does not allow are left out.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' | '\t' => escaped.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => escaped.push(c),
        }
    }
    escaped
}

/// A coordinate with at most one digit after the point.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
