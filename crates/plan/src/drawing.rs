//! The parts of texts, drawings and charts, for the other crates of this workspace.

pub use crate::dot::Lines;
pub use crate::passes::choices;
pub use crate::svg::canvas::{Anchor, Canvas, LINE_PX, Letters, Paint, escaped, round_step, width, wrapped};
pub use crate::svg::plan::{CALL, FRAME, MARGIN_PX, PARALLEL, SERIAL};
pub use crate::wording::{indented, item_text, plain};
