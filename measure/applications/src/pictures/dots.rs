//! How each case ends, as a picture in a file of its own: a row for each case, with a dot on a scale of ratios.

use measure_harness::chart::{Anchor, Canvas, Letters, Paint};
use measure_harness::statistics::Summary;

use crate::standing::End;

/// A case.
#[derive(Debug)]
pub struct Dot {
    pub name: String,
    pub end: End,
    /// How many times as fast as the best rival the best variant is.
    pub times: Summary,
    /// The same against the best rival that streams, if there is one.
    pub of_streams: Option<f64>,
}

/// The width of the picture, of the names and of a row, and the heights above and below the rows, in pixels.
const WIDTH: f64 = 720.0;
const NAMES: f64 = 150.0;
const ROW: f64 = 17.0;
const HEAD: f64 = 58.0;
const FOOT: f64 = 12.0;

/// The ratios that are marked.
const MARKS: [f64; 7] = [0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0];

/// Colours that are legible on white and on black.
const WORDS: &str = "#767f8a";
const RULE: &str = "#9aa2ab80";
const WIN: &str = "#2da44e";
const LOSS: &str = "#e03e3e";
const OPEN: &str = "#d28f0c";
const TIE: &str = "#4d8fdc";

fn colour(end: End) -> &'static str {
    match end {
        End::Win => WIN,
        End::Loss => LOSS,
        End::Tie => TIE,
        End::Ahead | End::Behind => OPEN,
    }
}

/// The picture, which has a name for those who cannot see it.
pub fn dots(title: &str, all: &[Dot]) -> String {
    let values =
        || all.iter().flat_map(|dot| [dot.times.low, dot.times.high].into_iter().chain(dot.of_streams));
    let (low, high) = (values().fold(0.7, f64::min) * 0.95, values().fold(1.5, f64::max) * 1.05);
    let across = |times: f64| NAMES + 8.0 + (times / low).ln() / (high / low).ln() * (WIDTH - NAMES - 24.0);
    let height = HEAD + ROW * all.len() as f64 + FOOT;
    let letters = Letters { color: WORDS, size: 12.0, ..Letters::PLAIN };
    let ring = Paint::line(WORDS).wide(1.0);
    let mut canvas = Canvas::default();
    let mut begin = 12.0;
    for (word, paint) in [
        ("win", Paint::filled(WIN)),
        ("tie: less than 5 %", Paint::filled(TIE)),
        ("loss", Paint::filled(LOSS)),
        ("open: the interval contains 1", Paint::filled(OPEN)),
        ("against rivals that stream in order", ring),
    ] {
        canvas.circle(begin, 12.0, 4.0, paint);
        canvas.text((begin + 9.0, 16.0), Anchor::Start, letters, word);
        begin += 26.0 + 7.0 * word.len() as f64;
    }
    for mark in MARKS.into_iter().filter(|mark| (low..high).contains(mark)) {
        let (place, width) = (across(mark), if mark == 1.0 { 2.0 } else { 1.0 });
        canvas.line(&[(place, HEAD - 10.0), (place, height - FOOT)], Paint::line(RULE).wide(width));
        canvas.text((place, HEAD - 15.0), Anchor::Middle, letters, &mark.to_string());
    }
    canvas.text((NAMES, HEAD - 15.0), Anchor::End, letters, "times as fast");
    for (row, dot) in all.iter().enumerate() {
        let up = HEAD + ROW * (row as f64 + 0.5);
        canvas.text((NAMES, up + 4.0), Anchor::End, letters, &dot.name);
        if let Some(times) = dot.of_streams {
            canvas.circle(across(times), up, 4.0, ring);
        }
        let (colour, ends) = (colour(dot.end), [dot.times.low, dot.times.high]);
        canvas.line(&ends.map(|end| (across(end), up)), Paint::line(colour).wide(2.0));
        canvas.circle(across(dot.times.median), up, 4.0, Paint::filled(colour));
    }
    canvas.figure("dots", title, WIDTH, height)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_case_has_a_row_and_the_colour_of_its_end() {
        let dot = |name: &str, end, median: f64| Dot {
            name: name.into(),
            end,
            times: Summary { median, low: 0.9 * median, high: 1.1 * median },
            of_streams: (median > 1.0).then_some(2.0 * median),
        };
        let svg = dots("all <cases>", &[dot("a <b>", End::Win, 1.4), dot("c", End::Loss, 0.6)]);
        assert!(svg.contains("aria-label=\"all &lt;cases&gt;\"") && svg.contains("a &lt;b&gt;"), "{svg}");
        // Three circles in the rows, and five in the legend.
        assert_eq!(svg.matches("<circle").count(), 8, "{svg}");
        assert_eq!(svg.matches("#e03e3e").count(), 3, "{svg}");
    }
}
