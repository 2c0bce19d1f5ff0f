//! (under construction)

pub mod baton;
pub mod crew;
mod event;
pub mod lane;
mod record;
mod ring;
pub mod sync;

pub use baton::{Baton, Held, Word};
pub use crew::Crew;
pub use event::{EventCount, Ticket};
pub use record::{
    All, Closed, Deal, Dealt, Items, Observer, Owning, ReadDeal, ReadView, Reader, Record, RegisterError,
    Slots, Tickets, TryStallError, ViewItems, ViewSlots, WriteDeal, WriteView, Writer, one_to_one,
};
