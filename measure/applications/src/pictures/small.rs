//! Pictures of the size of a word, for the cells of tables.

/// The size, in pixels.
const WIDTH: f64 = 150.0;
const HEIGHT: f64 = 28.0;

/// Columns as high as the values, over the whole width.
pub fn histogram(label: &str, values: &[u32]) -> String {
    let most = f64::from(values.iter().copied().max().unwrap_or(0).max(1));
    let wide = WIDTH / values.len().max(1) as f64;
    let mut path = String::new();
    for (at, &value) in values.iter().enumerate().filter(|&(_, &value)| value > 0) {
        // What is there is seen, however rare it is.
        let high = (f64::from(value) / most * HEIGHT).max(1.5);
        path +=
            &format!("M{:.1} {HEIGHT}v-{high:.1}h{:.1}v{high:.1}z", at as f64 * wide, (wide - 0.5).max(0.5));
    }
    svg(label, &format!("<path class=\"fill\" d=\"{path}\"/>"))
}

/// A line through the values, from 0 on.
pub fn spark(label: &str, values: &[f64]) -> String {
    let most = values.iter().copied().fold(1e-12, f64::max);
    let step = WIDTH / (values.len().max(2) - 1) as f64;
    let point = |(at, value): (usize, &f64)| {
        format!("{:.1},{:.1}", at as f64 * step, HEIGHT - 1.0 - value / most * (HEIGHT - 2.0))
    };
    let mut points: Vec<String> = values.iter().enumerate().map(point).collect();
    if let [only] = &points[..] {
        points.push(only.replacen("0.0", &format!("{WIDTH:.1}"), 1));
    }
    svg(label, &format!("<polyline class=\"line\" points=\"{}\"/>", points.join(" ")))
}

fn svg(label: &str, inner: &str) -> String {
    format!(
        "<svg class=\"small\" role=\"img\" aria-label=\"{}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         viewBox=\"0 0 {WIDTH} {HEIGHT}\">{inner}</svg>",
        super::text::escaped(label)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_rare_is_seen() {
        let picture = histogram("a <b>", &[0, 1_000_000, 1]);
        assert_eq!(picture.matches('M').count(), 2, "{picture}");
        assert!(picture.contains("v-1.5") && picture.contains("v-28.0") && picture.contains("a &lt;b&gt;"));
    }

    #[test]
    fn one_value_is_a_line() {
        assert!(spark("a", &[2.0]).contains("points=\"0.0,1.0 150.0,1.0\""), "{}", spark("a", &[2.0]));
    }
}
