//! Names and items in the words of texts and drawings.

use crate::ItemType;
use crate::quantity::bytes;

/// Longer names are cut, so that one type does not push the columns off the screen.
const LONGEST_NAME: usize = 48;

/// A name on one line: control characters are escaped, and a name that is too long is cut.
pub fn plain(name: &str) -> String {
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

/// `Block, 24 B`. The Graphviz drawing uses it too.
pub fn item_text(item: &ItemType) -> String {
    format!("{}, {}", plain(&item.short_name()), bytes(item.size as u128))
}

/// Breaks a text at spaces into lines of at most 100 characters. All lines but the first begin with `indent`
/// spaces.
pub fn indented(text: &str, indent: usize) -> String {
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
