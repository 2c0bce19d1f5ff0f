//! The graph of a streaming loop as plain data: its stages, what runs in parallel, where items cross threads,
//! and what bounds the memory.
//!
//! Every front end of Anabranch lowers to a [`Plan`], every pass rewrites a plan, and every executor runs
//! one. The closures of the stages are kept outside of the plan, by [`NodeId`].
//!
//! ```
//! use anabranch_plan::{ItemType, Node, Plan, Settings, State};
//!
//! // read -> encode -> check -> write, on 4 workers, with at most 64 blocks in flight
//! let mut plan = Plan::new(Settings::new(4, 64)).named("compress");
//! plan.push(Node::source("try_from_iter").named("read").fallible());
//! plan.then(ItemType::of::<Vec<u8>>(), Node::parallel("map_init").named("encode").state(State::PerWorker));
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
//!   │││  encode  map_init       parallel ×4    in order  state per worker
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
//! # Guarantees
//!
//! - A plan is data. It has no threads, no closures, and no type parameter for its items. It can be compared,
//!   cloned and hashed. With the feature `json` it can be saved as JSON and read back
//!   unchanged (`Plan::to_json`, `Plan::from_json`).
//! - [`Plan::validate`] finds everything that an executor could not run. Its errors name the node.
//! - [`Plan::predict`] computes the throughput for a number of workers from the costs of the nodes. It says
//!   what limits the throughput, and what to do about it.
//! - [`Passes`] rewrite a plan so that it runs better, and say what they did and why.
//! - Text ([`Plan::explain`]), a picture ([`Plan::to_svg`]), Graphviz ([`Plan::to_dot`]) and JSON also work
//!   for plans that are not valid, so that you can look at them.
//!
//! # What is not here
//!
//! - The crate runs nothing and measures nothing. Costs are what a caller has set, and a prediction is only
//!   as good as its costs.
//! - The text and the pictures are for people, and their wording may change. Programs should read the JSON.
//!
//! # Features
//!
//! - `json`: `Plan::to_json` writes a plan as JSON, and `Plan::from_json` reads it. The types of plans,
//!   predictions and notes implement `serde::Serialize`. The feature depends on `serde` and `serde_json`.
#![forbid(unsafe_code)]

mod display;
mod dot;
#[doc(hidden)]
pub mod drawing;
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
mod wording;

pub use edge::{Edge, EdgeKind};
pub use item::ItemType;
#[cfg(feature = "json")]
pub use json::{JSON_VERSION, JsonError};
#[cfg(feature = "json")]
#[doc(hidden)]
pub use json::{read_json, write_json};
pub use node::{Node, NodeId, Placement, Rate, Role, Schedule, State};
pub use overlay::{Measured, Overlay};
pub use passes::{Note, Pass, Passes};
pub use plan::{Domain, Plan};
pub use predict::{
    CROWDING, Curve, FIRING_NS, LANE_NS, Limit, MEETING, Machine, Overhead, PredictError, Prediction,
    SHARING, TURN_NS, WAKE_NS,
};
pub use settings::{Burst, Executor, Settings, Wait};
pub use svg::Sketch;
pub use validate::{NodeName, PlanError};
