//! Writes the tables that files have between markers.

use std::path::Path;

/// Replaces the table between the markers `name` in a file, whose path is relative to this folder.
///
/// # Errors
/// If the file cannot be read or written, or has no such markers.
pub fn update(file: &str, name: &str, table: &str) -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let problem = |error| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(&path).map_err(problem)?;
    let text = embedded(&text, name, table).ok_or_else(|| format!("{file} has no markers for {name}"))?;
    std::fs::write(&path, text).map_err(problem)
}

fn embedded(text: &str, name: &str, table: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
    let (before, rest) = text.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n{}\n\n{end}{after}", table.trim()))
}

#[cfg(test)]
mod tests {
    use super::embedded;

    #[test]
    fn a_table_replaces_the_one_before_and_nothing_else() {
        let text = "a\n<!-- core: begin -->\nold\n<!-- core: end -->\nb\n";
        let new = embedded(text, "core", "| new |\n").unwrap();
        assert_eq!(new, "a\n<!-- core: begin -->\n\n| new |\n\n<!-- core: end -->\nb\n");
        assert_eq!(embedded(&new, "core", "| new |").unwrap(), new);
        assert_eq!(embedded(text, "rivals", ""), None);
    }

    #[test]
    fn the_results_have_their_markers() {
        for suite in &crate::suites::SUITES {
            for name in suite.apart.iter().chain([&suite.name]) {
                assert!(embedded(include_str!("../../RESULTS.md"), name, "").is_some(), "{name}");
            }
        }
        assert!(embedded(include_str!("../../../crates/abz/README.md"), "speed", "").is_some());
    }
}
