//! What the report is made of: text, bars in tables, charts, heat maps and small distributions. Their colours come from the style
//! sheet of the report.

mod bars;
mod dots;
mod heat;
mod lines;
mod small;
mod text;

pub use bars::{bar, bars};
pub use dots::{Dot, dots};
pub use heat::{Heat, heat};
pub use lines::{Line, Look, figures, lines};
pub use measure_harness::chart::Axis;
pub use small::{histogram, spark};
pub use text::{
    CLOSED, bytes, date, escaped, interval, milliseconds, number, opened, percent_of, seconds, table,
};
