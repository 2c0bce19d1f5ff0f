//! The file that has the tables of all parts. A run that measures some of the parts keeps the others.

use clap::ValueEnum;

use super::Part;

const HEAD: &str = "# Experiments

Made by `cargo run --release --manifest-path signals/Cargo.toml --bin signals -- experiments`, part by part. Times are
medians, and ratios are taken within a round. The *ceiling* of a round is the loop on two threads at once, each with its own input.
";

fn mark(part: Part) -> String {
    format!("\n<!-- {} -->\n", part.name())
}

/// The text of the file: the parts that were measured, and those of `old` that were not.
pub fn merged(old: &str, measured: &[(Part, String)]) -> String {
    let mut text = HEAD.to_owned();
    for &part in Part::value_variants() {
        let new = measured.iter().find(|(measured, _)| *measured == part).map(|(_, text)| text.as_str());
        if let Some(section) = new.or_else(|| section(old, part)) {
            text.push_str(&mark(part));
            text.push_str(section);
        }
    }
    text
}

/// The text of a part in the old file.
fn section(old: &str, part: Part) -> Option<&str> {
    let mark = mark(part);
    let section = &old[old.find(&mark)? + mark.len()..];
    Some(section.find("\n<!-- ").map_or(section, |end| &section[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_were_not_measured_are_kept() {
        let part = |part, text: &str| (part, format!("\n## {text}\n"));
        let all =
            merged("", &[part(Part::Wifi, "air"), part(Part::Bursts, "fine"), part(Part::Jpeg, "photo")]);
        let places = ["fine", "air", "photo"].map(|word| all.find(word).unwrap());
        assert!(places.is_sorted());
        let again = merged(&all, &[part(Part::Wifi, "new air"), part(Part::Fft, "blocks")]);
        assert_eq!(
            again,
            all.replace("air", "new air").replace("\n<!-- wifi", "\n<!-- fft -->\n\n## blocks\n\n<!-- wifi")
        );
        assert_eq!(merged(&again, &[]), again);
    }
}
