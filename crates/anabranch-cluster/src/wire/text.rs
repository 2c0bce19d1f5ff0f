//! Texts that messages carry.

/// A text of at most so many bytes: its beginning, if it is longer.
pub(crate) fn short(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most - 3).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}...", &text[..end])
}
