//! Heat maps: tables whose cells are the stronger coloured the better they are.

use super::text::{CLOSED, escaped, opened};

/// A heat map.
#[derive(Debug)]
pub struct Heat<'a> {
    pub caption: &'a str,
    /// What the rows and the columns are.
    pub axes: [&'a str; 2],
    pub rows: Vec<String>,
    pub columns: Vec<String>,
    /// The text of a cell, and how good it is, from 0 to 1. `None` if there is no value.
    pub cells: Vec<Vec<Option<(String, f64)>>>,
}

/// The heat map as a table.
pub fn heat(heat: &Heat) -> String {
    let corner = heat.axes.join(" \\ ");
    let head = [corner.as_str()].into_iter().chain(heat.columns.iter().map(String::as_str));
    let mut table = opened("heat", heat.caption, head);
    for (row, cells) in heat.rows.iter().zip(&heat.cells) {
        table += &format!("<tr><th scope=\"row\">{}</th>", escaped(row));
        for cell in cells {
            match cell {
                Some((text, good)) => {
                    // The style sheet colours cells from 20 % to 100 %.
                    let share = 20.0 + 80.0 * good.clamp(0.0, 1.0);
                    table += &format!("<td style=\"--share:{share:.0}%\">{}</td>", escaped(text));
                }
                None => table += "<td class=\"none\"><abbr title=\"not measured\">-</abbr></td>",
            }
        }
        table += "</tr>\n";
    }
    table + CLOSED
}
