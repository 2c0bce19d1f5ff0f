//! Numbers, times and names as text.

pub use measure_harness::chart::escaped;
use measure_harness::statistics::Summary;
use measure_harness::target::Unit;

/// A median and its interval.
pub fn interval(Summary { median, low, high }: Summary) -> String {
    let places = if median.abs() >= 100.0 { 0 } else { 2 };
    format!("{median:.places$} <small>[{low:.places$}, {high:.places$}]</small>")
}

/// How many percent more a number is than another.
pub fn percent_of(number: f64, of: Option<f64>) -> String {
    of.filter(|&of| of > 0.0).map_or("?".into(), |of| format!("{:+.0} %", 100.0 * (number / of - 1.0)))
}

/// A time in microseconds or milliseconds.
pub fn milliseconds(seconds: f64) -> String {
    if seconds < 1e-3 {
        Unit::Microseconds.show(seconds * 1e6)
    } else {
        Unit::Milliseconds.show(seconds * 1e3)
    }
}

/// A time with three digits, in the unit that suits it.
pub fn seconds(seconds: f64) -> String {
    let (value, unit) = match seconds {
        0.0 => return "0 ns".into(),
        short if short < 1e-6 => (seconds * 1e9, "ns"),
        short if short < 1e-3 => (seconds * 1e6, "µs"),
        short if short < 1.0 => (seconds * 1e3, "ms"),
        _ => (seconds, "s"),
    };
    format!("{} {unit}", digits(value))
}

/// A size with three digits, in the unit that suits it.
pub fn bytes(bytes: f64) -> String {
    let (value, unit) = match bytes {
        few if few < 1024.0 => return format!("{bytes:.0} B"),
        few if few < f64::from(1 << 20) => (bytes / 1024.0, "KiB"),
        _ => (bytes / f64::from(1 << 20), "MiB"),
    };
    format!("{} {unit}", digits(value))
}

fn digits(value: f64) -> String {
    let places = match value {
        small if small < 9.995 => 2,
        small if small < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.places$}")
}

/// A number with commas, and with two places if it is small and not whole.
pub fn number(value: f64) -> String {
    if value < 100.0 && value.fract() != 0.0 {
        return format!("{value:.2}");
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The day of a time in seconds since 1970, in the Gregorian calendar and UTC.
pub fn date(seconds: u64) -> String {
    let (mut year, mut day) = (1970, seconds / 86_400);
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let mut month = 0;
    let length = |month: usize| match month {
        1 => 28 + u64::from(is_leap(year)),
        3 | 5 | 8 | 10 => 30,
        _ => 31,
    };
    while day >= length(month) {
        day -= length(month);
        month += 1;
    }
    format!("{year}-{:02}-{:02}", month + 1, day + 1)
}

/// The beginning of a table, to its first row. The names are text.
pub fn opened<'a>(class: &str, caption: &str, head: impl IntoIterator<Item = &'a str>) -> String {
    let caption = escaped(caption);
    let mut table = format!(
        "<div class=\"wide\" tabindex=\"0\"><table class=\"{class}\">\n<caption>{caption}</caption>\n<thead><tr>"
    );
    for name in head {
        table += &format!("<th scope=\"col\"><span>{}</span></th>", escaped(name));
    }
    table + "</tr></thead>\n<tbody>\n"
}

/// The end of a table.
pub const CLOSED: &str = "</tbody>\n</table></div>\n";

/// A table. The first cell of a row is its name; cells are HTML already.
pub fn table(caption: &str, head: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = opened("plain", caption, head.iter().copied());
    for row in rows {
        let Some((name, cells)) = row.split_first() else { continue };
        table += &format!("<tr><th scope=\"row\">{name}</th>");
        cells.iter().for_each(|cell| table += &format!("<td>{cell}</td>"));
        table += "</tr>\n";
    }
    table + CLOSED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(951_782_400), "2000-02-29");
        assert_eq!(date(1_795_305_600), "2026-11-22");
        assert_eq!(date(4_107_542_400), "2100-03-01");
    }

    #[test]
    fn numbers_have_commas() {
        assert_eq!(["1.50", "8", "100", "1,234"], [1.5, 8.0, 100.2, 1234.0].map(number));
        assert_eq!(number(12_345_678.0), "12,345,678");
    }

    #[test]
    fn times_and_sizes_have_the_unit_that_suits_them() {
        assert_eq!(
            ["0 ns", "12.0 ns", "1.50 µs", "250 ms", "9.99 s"],
            [0.0, 12e-9, 1.5e-6, 0.25, 9.99].map(seconds)
        );
        assert_eq!(["12 B", "64.0 KiB", "1.50 MiB"], [12.0, 65_536.0, 1_572_864.0].map(bytes));
    }
}
