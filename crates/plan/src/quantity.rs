//! Numbers for people: times, sizes and counts.

/// `473 ns`, `1.2 µs`, `49.5 ms`: three digits are enough to compare stages by.
pub(crate) fn time(nanoseconds: u64) -> String {
    scaled(nanoseconds as f64, 1000.0, &["ns", "µs", "ms", "s"])
}

/// `48 B`, `4.5 KiB`.
pub(crate) fn bytes(bytes: u128) -> String {
    scaled(bytes as f64, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB"])
}

/// `1 item`, `64 items`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn scaled(mut value: f64, step: f64, units: &[&str]) -> String {
    let mut unit = 0;
    // Half below the step rounds up to it, and would print as `1000 µs`.
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
    fn one_is_singular() {
        assert_eq!(count(1, "item"), "1 item");
        assert_eq!(count(0, "item"), "0 items");
    }
}
