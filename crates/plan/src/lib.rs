//! The graph of a streaming loop as plain data: which stages there are, what runs in parallel and what
//! does not, where items cross threads, and what bounds the memory.
//!
//! Every front end of Anabranch lowers to a [`Plan`], every pass rewrites one, and every executor runs one
//! (its closures lie beside it, keyed by [`NodeId`]).
//!
//! ```
//! use anabranch_plan::{ItemType, Node, Plan, Settings, State};
//!
//! // read -> encode -> check -> write, on 4 workers, with at most 64 blocks in flight
//! let mut plan = Plan::new(Settings::new(4, 64)).named("compress");
//! plan.push(Node::source("try_from_iter").named("read").fallible());
//! plan.then(ItemType::of::<Vec<u8>>(), Node::parallel("map_with").named("encode").state(State::PerWorker));
//! plan.compose(ItemType::of::<(u64, Vec<u8>)>(), Node::parallel("try_map").named("check").fallible());
//! plan.then(ItemType::of::<(u64, Vec<u8>)>(), Node::sink("try_for_each").named("write").fallible());
//! plan.validate()?;
//!
//! let text = "\
//! Plan \"compress\": 4 workers, threads of this run; window 64; adaptive bursts; idle workers park
//!
//! Domain 0: in source order, at most 64 items in flight
//!
//!   │    read    try_from_iter  serial source  in order  may fail
//!   ├┬┐    Vec<u8>, 24 B, through 64 slots
//!   │││  encode  map_with       parallel ×4    in order  state per worker
//!   │││    (u64, Vec<u8>), 32 B
//!   │││  check   try_map        parallel ×4    in order  may fail
//!   ├┴┘    (u64, Vec<u8>), 32 B, through 64 slots
//!   │    write   try_for_each   serial sink    in order  may fail
//!
//! Threads  4 workers
//! Memory   at most 64 items in flight; 3.5 KiB in slots, and what the items own
//! Picture  │ one item at a time   │││ several at once   ├┬┐ ├┴┘ ┿ items may change threads
//! ";
//! # if cfg!(target_pointer_width = "64") {
//! assert_eq!(plan.to_string(), text);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it promises
//!
//! - A plan is data: no threads, no closures, no generics over items. It can be compared, cloned, hashed,
//!   and, with the feature `json`, saved as JSON and read back unchanged (`Plan::to_json`, `Plan::from_json`).
//! - [`Plan::validate`] finds what an executor could not run, and its errors name the node.
//! - [`Plan::predict`] says, from the costs of the nodes, how quick it should be on so many workers, what limits
//!   it and what to do about that.
//! - [`Passes`] rewrite a plan so that it runs better, and say what they did and why.
//! - Text ([`Plan::explain`]), a picture ([`Plan::to_svg`]), Graphviz ([`Plan::to_dot`]) and JSON can be had of
//!   plans that are not valid too, so that one can look at them.
//!
//! # What it does not
//!
//! - It runs nothing, and measures nothing: costs are what somebody put there, and a prediction is as good as
//!   they are.
//! - The text and the drawings are for people, and their wording changes; programs read the JSON.
//!
//! # Features
//!
//! - `json`: a plan is written as JSON and read back by `Plan::to_json` and `Plan::from_json`, and the types of this crate
//!   that a plan, a prediction or a note is made of implement `serde::Serialize`. It brings `serde` and `serde_json`.
#![forbid(unsafe_code)]

mod display;
mod dot;
mod edge;
mod item;
#[cfg(feature = "json")]
mod json;
mod node;
mod overlay;
pub mod passes;
mod plan;
mod predict;
pub mod quantity;
mod settings;
mod svg;
mod validate;

pub use edge::{Edge, EdgeKind};
pub use item::ItemType;
#[cfg(feature = "json")]
pub use json::{JSON_VERSION, JsonError};
pub use node::{Node, NodeId, Placement, Rate, Role, Schedule, State};
pub use overlay::{Measured, Overlay};
pub use passes::{Note, Pass, Passes};
pub use plan::{Domain, Plan};
pub use predict::{
    CROWDING, Curve, LANE_NS, Limit, MEETING, Machine, Overhead, PredictError, Prediction, SHARING, WAKE_NS,
};
pub use settings::{Burst, Executor, Settings, Wait};
pub use validate::{NodeName, PlanError};
