//! Texts and sections as HTML, and the colours of stages.

pub(super) use anabranch_plan::drawing::escaped;

/// The colours of stages, which the style sheet has. Later stages reuse them.
const COLORS: [&str; 8] =
    ["var(--s0)", "var(--s1)", "var(--s2)", "var(--s3)", "var(--s4)", "var(--s5)", "var(--s6)", "var(--s7)"];

pub(super) fn section(title: &str, hint: &str, body: &str) -> String {
    format!("<section><h2>{title}</h2><p class=\"hint\">{hint}</p>{body}</section>\n")
}

pub(super) fn color(stage: usize) -> &'static str {
    COLORS[stage % COLORS.len()]
}

/// Sentences as HTML. Names between backquotes become code.
pub(super) fn prose(text: &str) -> String {
    let parts = escaped(text);
    let parts = parts.split('`').enumerate();
    parts
        .map(|(at, part)| if at % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() })
        .collect()
}
