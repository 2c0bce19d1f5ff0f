//! Pictures of the size of a word, for the cells of tables.

use measure_harness::chart::{Canvas, Paint};

/// The size, in pixels.
const WIDTH: f64 = 150.0;
const HEIGHT: f64 = 28.0;

const COLOUR: &str = "var(--own)";

/// Columns as high as the values, over the whole width.
pub fn histogram(label: &str, values: &[u32]) -> String {
    let most = f64::from(values.iter().copied().max().unwrap_or(0).max(1));
    let wide = WIDTH / values.len().max(1) as f64;
    let mut canvas = Canvas::default();
    let column = |(at, &value): (usize, &u32)| {
        // A rare value is seen, too.
        let high = (f64::from(value) / most * HEIGHT).max(1.5);
        [at as f64 * wide, HEIGHT - high, (wide - 0.5).max(0.5), high]
    };
    canvas.bars(values.iter().enumerate().filter(|&(_, &value)| value > 0).map(column), COLOUR);
    canvas.figure("small", label, WIDTH, HEIGHT)
}

/// A line through the values, from 0 on.
pub fn spark(label: &str, values: &[f64]) -> String {
    let most = values.iter().copied().fold(1e-12, f64::max);
    let step = WIDTH / (values.len().max(2) - 1) as f64;
    let point = |(at, value): (usize, &f64)| (at as f64 * step, HEIGHT - 1.0 - value / most * (HEIGHT - 2.0));
    let mut points: Vec<(f64, f64)> = values.iter().enumerate().map(point).collect();
    if let [(_, only)] = points[..] {
        points.push((WIDTH, only));
    }
    let mut canvas = Canvas::default();
    canvas.line(&points, Paint::line(COLOUR));
    canvas.figure("small", label, WIDTH, HEIGHT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_rare_is_seen() {
        let picture = histogram("a <b>", &[0, 1_000_000, 1]);
        assert_eq!(picture.matches('M').count(), 2, "{picture}");
        assert!(picture.contains("v1.5") && picture.contains("v28.0") && picture.contains("a &lt;b&gt;"));
    }

    #[test]
    fn one_value_is_a_line() {
        assert!(spark("a", &[2.0]).contains("points=\"0,1 150,1\""), "{}", spark("a", &[2.0]));
    }
}
