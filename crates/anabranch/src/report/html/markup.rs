//! Texts and sections as HTML, and the colours of stages.

pub(super) use anabranch_plan::drawing::escaped;

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
