//! Numbers for people: times, sizes and counts, in the form that plans and reports use.
//!
//! ```
//! use anabranch_plan::quantity;
//!
//! assert_eq!(quantity::time(49_500_000), "49.5 ms");
//! assert_eq!(quantity::rate(12_340.0), "12.3 k items/s");
//! ```

/// A time with three digits, such as `473 ns`, `1.2 µs` or `49.5 ms`.
pub fn time(nanoseconds: u64) -> String {
    scaled(nanoseconds as f64, 1000.0, &["ns", "µs", "ms", "s"])
}

/// Like [`time`], for a time that was computed. Below 10 ns it has one digit after the point.
pub fn span(nanoseconds: f64) -> String {
    match nanoseconds {
        ns if ns < 9.95 => format!("{} ns", format!("{ns:.1}").trim_end_matches(".0")),
        ns => time(ns.round() as u64),
    }
}

/// A rate, such as `12.3 k items/s` or `0.25 items/s`.
pub fn rate(a_second: f64) -> String {
    if a_second < 9.995 {
        let number = format!("{a_second:.2}");
        return format!("{} items/s", number.trim_end_matches('0').trim_end_matches('.'));
    }
    scaled(a_second, 1000.0, &["items/s", "k items/s", "M items/s", "G items/s"])
}

/// A factor for "times as fast", such as `3.4` or `12`.
pub fn times(factor: f64) -> String {
    let digits = if factor < 0.995 { 2 } else { 1 };
    let number = format!("{factor:.digits$}");
    number.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A share between 0 and 1 as a percentage, such as `93 %`.
pub fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// A size, such as `48 B` or `4.5 KiB`.
pub fn bytes(bytes: u128) -> String {
    scaled(bytes as f64, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB"])
}

/// A number with its noun, such as `1 item` or `64 items`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn scaled(mut value: f64, step: f64, units: &[&str]) -> String {
    let mut unit = 0;
    // A value less than half a unit below the step would be rounded up and printed as `1000 µs`.
    while value >= step - 0.5 && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    let digits = match value {
        _ if unit == 0 => 0,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    let number = format!("{value:.digits$}");
    let number = if digits > 0 { number.trim_end_matches('0').trim_end_matches('.') } else { &number };
    format!("{number} {}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_no_idle_zeros() {
        let shown = [
            0,
            7,
            999,
            1000,
            1234,
            12_340,
            310_000,
            999_499,
            999_500,
            1_000_000,
            49_500_000,
            7_200_000_000_000,
        ];
        let shown: Vec<String> = shown.into_iter().map(time).collect();
        let expected = [
            "0 ns", "7 ns", "999 ns", "1 µs", "1.23 µs", "12.3 µs", "310 µs", "999 µs", "1 ms", "1 ms",
            "49.5 ms", "7200 s",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn sizes_go_by_1024() {
        let shown: Vec<String> =
            [0, 1, 1023, 1024, 4608, 1 << 20, u128::from(u64::MAX)].into_iter().map(bytes).collect();
        assert_eq!(shown, ["0 B", "1 B", "1023 B", "1 KiB", "4.5 KiB", "1 MiB", "16777216 TiB"]);
    }

    #[test]
    fn computed_times_and_rates_keep_what_is_small() {
        let spans: Vec<String> = [0.0, 5.8, 3.04, 9.96, 1234.4, 2e12].into_iter().map(span).collect();
        assert_eq!(spans, ["0 ns", "5.8 ns", "3 ns", "10 ns", "1.23 µs", "2000 s"]);
        let rates: Vec<String> = [0.254, 8.0, 10.0, 12_340.0, 1.2e8, 3e12].into_iter().map(rate).collect();
        assert_eq!(
            rates,
            ["0.25 items/s", "8 items/s", "10 items/s", "12.3 k items/s", "120 M items/s", "3000 G items/s"]
        );
        assert_eq!([0.104, 0.999, 1.96, 63.04].map(times), ["0.1", "1", "2", "63"]);
        assert_eq!(percent(0.934), "93 %");
    }

    #[test]
    fn one_is_singular() {
        assert_eq!(count(1, "item"), "1 item");
        assert_eq!(count(0, "item"), "0 items");
    }
}
