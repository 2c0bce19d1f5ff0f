//! What texts and drawings are made of, for a crate of this workspace that has plans of another kind.

pub use crate::dot::Lines;
pub use crate::passes::choices;
pub use crate::svg::canvas::{Anchor, Canvas, LINE_PX, Letters, Paint, escaped, width, wrapped};
pub use crate::svg::plan::{CALL, FRAME, MARGIN_PX, PARALLEL, SERIAL};
pub use crate::wording::{indented, item_text, plain};
