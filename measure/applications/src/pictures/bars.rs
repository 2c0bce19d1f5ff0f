//! Bars in the cells of tables.

use measure_harness::statistics::Summary;

use super::text::{CLOSED, escaped, interval, opened};

/// A bar of this share of the full width, with a thin line from the low to the high end of an interval.
pub fn bar(share: f64, ends: Option<(f64, f64)>) -> String {
    let percent = |share: f64| 100.0 * share.clamp(0.0, 1.0);
    let whisker = ends.map_or(String::new(), |(low, high)| {
        let width = percent(high - low).max(0.5);
        format!("<i style=\"left:{:.1}%;width:{width:.1}%\"></i>", percent(low))
    });
    format!(
        "<span class=\"bar\" aria-hidden=\"true\"><b style=\"width:{:.1}%\"></b>{whisker}</span>",
        percent(share)
    )
}

/// A table with a bar for each row: a name, whether it is Anabranch's, and a value.
pub fn bars(caption: &str, head: [&str; 2], rows: &[(String, bool, Summary)]) -> String {
    let most = rows.iter().map(|(.., value)| value.high).fold(1e-12, f64::max);
    let mut table = opened("plain", caption, head);
    for (name, is_own, value) in rows {
        table += &format!(
            "<tr class=\"{}\"><th scope=\"row\">{}</th><td>{}{}</td></tr>\n",
            if *is_own { "own" } else { "other" },
            escaped(name),
            interval(*value),
            bar(value.median / most, Some((value.low / most, value.high / most)))
        );
    }
    table + CLOSED
}
