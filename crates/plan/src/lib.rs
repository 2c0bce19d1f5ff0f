//! The graph of a streaming loop as plain data: which stages there are, what runs in parallel and what
//! does not, where items cross threads, and what bounds the memory.
#![forbid(unsafe_code)]

mod edge;
mod node;
mod plan;
mod settings;

pub use edge::{Edge, EdgeKind, ItemType};
pub use node::{Node, NodeId, Placement, Role, Schedule, State};
pub use plan::{Domain, Plan};
pub use settings::{Burst, Executor, Settings, Wait};
