//! The general form of a record: many writers, many readers, registration and growth.

mod core;
mod deal;
mod generation;
mod handle;
mod lease;
mod observer;
mod outside;
mod reader;
mod side;
mod writer;

pub use deal::{All, Deal, Dealt, Owning, ReadDeal, Tickets, WriteDeal};
pub use handle::Record;
pub use observer::Observer;
pub use outside::Revoker;
pub use reader::ReadView;
pub use writer::WriteView;
