//! How each case ends, as a picture in a file of its own: a row for each case, with a dot on a scale of ratios.

use measure_harness::statistics::Summary;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

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
const WIDTH: i32 = 720;
const NAMES: i32 = 150;
const ROW: i32 = 17;
const HEAD: i32 = 58;
const FOOT: i32 = 12;

/// The ratios that are marked.
const MARKS: [f64; 7] = [0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0];

/// Colours that are legible on white and on black.
const WORDS: RGBColor = RGBColor(0x76, 0x7f, 0x8a);
const RULE: RGBColor = RGBColor(0x9a, 0xa2, 0xab);
const WIN: RGBColor = RGBColor(0x2d, 0xa4, 0x4e);
const LOSS: RGBColor = RGBColor(0xe0, 0x3e, 0x3e);
const OPEN: RGBColor = RGBColor(0xd2, 0x8f, 0x0c);
const TIE: RGBColor = RGBColor(0x4d, 0x8f, 0xdc);

fn colour(end: End) -> RGBColor {
    match end {
        End::Win => WIN,
        End::Loss => LOSS,
        End::Tie => TIE,
        End::Ahead | End::Behind => OPEN,
    }
}

/// The picture, which has a name for those who cannot see it.
///
/// # Errors
/// If it cannot be drawn.
pub fn dots(title: &str, all: &[Dot]) -> Result<String, String> {
    let problem = |error: DrawingAreaErrorKind<std::io::Error>| error.to_string();
    let values =
        || all.iter().flat_map(|dot| [dot.times.low, dot.times.high].into_iter().chain(dot.of_streams));
    let (low, high) = (values().fold(0.7, f64::min) * 0.95, values().fold(1.5, f64::max) * 1.05);
    let across = |times: f64| {
        let share = (times / low).ln() / (high / low).ln();
        NAMES + 8 + (share * f64::from(WIDTH - NAMES - 24)).round() as i32
    };
    let height = HEAD + ROW * all.len() as i32 + FOOT;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH as u32, height as u32)).into_drawing_area();
        let words = ("system-ui, sans-serif", 12).into_font().color(&WORDS);
        let at = |across, up| words.pos(Pos::new(across, up));
        let (right, middle) = (at(HPos::Right, VPos::Center), at(HPos::Center, VPos::Center));
        let left = at(HPos::Left, VPos::Center);
        let mut begin = 12;
        for (word, colour, is_filled) in [
            ("win", WIN, true),
            ("tie: less than 5 %", TIE, true),
            ("loss", LOSS, true),
            ("open: the interval contains 1", OPEN, true),
            ("against rivals that stream in order", WORDS, false),
        ] {
            let style = if is_filled { colour.filled() } else { colour.stroke_width(1) };
            area.draw(&Circle::new((begin, 12), 4, style)).map_err(problem)?;
            area.draw_text(word, &left, (begin + 9, 12)).map_err(problem)?;
            begin += 26 + 7 * word.len() as i32;
        }
        for mark in MARKS.into_iter().filter(|mark| (low..high).contains(mark)) {
            let place = across(mark);
            let width = if mark == 1.0 { 2 } else { 1 };
            let ends = [(place, HEAD - 10), (place, height - FOOT)];
            area.draw(&PathElement::new(ends, RULE.mix(0.5).stroke_width(width))).map_err(problem)?;
            area.draw_text(&format!("{mark}"), &middle, (place, HEAD - 19)).map_err(problem)?;
        }
        area.draw_text("times as fast", &right, (NAMES, HEAD - 19)).map_err(problem)?;
        for (row, dot) in all.iter().enumerate() {
            let up = HEAD + ROW * row as i32 + ROW / 2;
            area.draw_text(&dot.name, &right, (NAMES, up)).map_err(problem)?;
            if let Some(times) = dot.of_streams {
                area.draw(&Circle::new((across(times), up), 4, WORDS.stroke_width(1))).map_err(problem)?;
            }
            let (colour, ends) = (colour(dot.end), [dot.times.low, dot.times.high]);
            let whisker = PathElement::new(ends.map(|end| (across(end), up)), colour.stroke_width(2));
            area.draw(&whisker).map_err(problem)?;
            area.draw(&Circle::new((across(dot.times.median), up), 4, colour.filled())).map_err(problem)?;
        }
        area.present().map_err(problem)?;
    }
    let label = format!("<svg role=\"img\" aria-label=\"{}\" ", super::text::escaped(title));
    Ok(svg.replacen("<svg ", &label, 1))
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
        let svg = dots("all <cases>", &[dot("a <b>", End::Win, 1.4), dot("c", End::Loss, 0.6)]).unwrap();
        assert!(svg.contains("aria-label=\"all &lt;cases&gt;\"") && svg.contains("a &lt;b&gt;"), "{svg}");
        // Three circles in the rows, and five in the legend.
        assert_eq!(svg.matches("<circle").count(), 8, "{svg}");
        assert_eq!(svg.matches("#E03E3E").count(), 3, "{svg}");
    }
}
