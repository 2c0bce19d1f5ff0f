//! Texts and sections as HTML, and the colours of stages.

/// How many stages have a colour of their own. Later ones reuse them.
const COLORS: usize = 8;

pub(super) fn section(title: &str, hint: &str, body: &str) -> String {
    format!("<section><h2>{title}</h2><p class=\"hint\">{hint}</p>{body}</section>\n")
}

pub(super) fn color(stage: usize) -> String {
    format!("var(--s{})", stage % COLORS)
}

/// Sentences as HTML. Names between backquotes become code.
pub(super) fn prose(text: &str) -> String {
    let parts = escaped(text);
    let parts = parts.split('`').enumerate();
    parts
        .map(|(at, part)| if at % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() })
        .collect()
}

/// Escapes text for use between tags or in an attribute.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' => escaped.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => escaped.push(c),
        }
    }
    escaped
}
