//! Names and items in the words of texts and drawings.

use crate::Edge;
use crate::quantity::bytes;

/// Longer names are cut, so that one type does not push the columns off the screen.
const LONGEST_NAME: usize = 48;

/// A name on one line: control characters are escaped, and a name that is too long is cut.
pub(crate) fn plain(name: &str) -> String {
    let mut text = String::new();
    for (index, c) in name.chars().enumerate() {
        if index == LONGEST_NAME {
            text.pop();
            text.push('…');
            break;
        }
        match c.is_control() {
            true => text.extend(c.escape_default()),
            false => text.push(c),
        }
    }
    text
}

/// `Block, 24 B`, or the name of the record and the size. The Graphviz drawing uses it too.
pub(crate) fn item_text(edge: &Edge) -> String {
    let name = edge.name.clone().unwrap_or_else(|| edge.item.short_name());
    format!("{}, {}", plain(&name), bytes(edge.item.size as u128))
}

/// Breaks a text at spaces into lines of at most 100 characters. All lines but the first begin with `indent`
/// spaces.
pub(crate) fn indented(text: &str, indent: usize) -> String {
    let mut indented = String::new();
    let mut column = indent;
    for word in text.split(' ') {
        let letters = word.chars().count();
        if column > indent && column + 1 + letters > 100 {
            indented.push('\n');
            indented.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else if column > indent {
            indented.push(' ');
            column += 1;
        }
        indented += word;
        column += letters;
    }
    indented
}
