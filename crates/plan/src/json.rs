//! The plan as JSON, for programs.

use crate::Plan;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of the format that [`Plan::to_json`] writes and [`Plan::from_json`] reads.
///
/// It rises with a change that makes older texts unreadable. Fields that were added later may be missing in a
/// text. A reader that does not know a field rejects the text, so nothing is dropped silently.
pub const JSON_VERSION: u32 = 1;

/// The reason why a text is not a plan.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// The text is not JSON, or not the JSON of a plan.
    #[error("this is not a plan in JSON: {0}")]
    Shape(#[from] serde_json::Error),
    /// The text has another version of the format.
    #[error(
        "the plan has format version {found}, but this program reads version {JSON_VERSION}: write the plan again with \
         the version of Anabranch that reads it"
    )]
    Version {
        /// The version in the text.
        found: u32,
    },
}

#[derive(Serialize)]
struct Written<'a, P> {
    version: u32,
    plan: &'a P,
}

#[derive(Deserialize)]
struct Header {
    version: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read<P> {
    #[serde(rename = "version")]
    _version: u32,
    plan: P,
}

/// Does the same as [`Plan::to_json`] for plans of any kind.
pub fn write_json(plan: &impl Serialize) -> String {
    let document = Written { version: JSON_VERSION, plan };
    serde_json::to_string_pretty(&document)
        .expect("strings, numbers, booleans and lists of them always have JSON")
}

/// Does the same as [`Plan::from_json`] for plans of any kind.
pub fn read_json<P: DeserializeOwned>(text: &str) -> Result<P, JsonError> {
    let header: Header = serde_json::from_str(text)?;
    if header.version != JSON_VERSION {
        return Err(JsonError::Version { found: header.version });
    }
    let document: Read<P> = serde_json::from_str(text)?;
    Ok(document.plan)
}

impl Plan {
    /// The plan as indented JSON: an object with the fields `version` ([`JSON_VERSION`]) and `plan`.
    ///
    /// [`from_json`](Plan::from_json) reads the same plan back.
    ///
    /// It needs the feature `json`.
    ///
    /// ```
    /// use anabranch_plan::{ItemType, Node, Plan, Settings};
    ///
    /// let mut plan = Plan::new(Settings::new(4, 64)).named("count");
    /// plan.push(Node::source("from_iter"));
    /// plan.then(ItemType::of::<u64>(), Node::sink("count"));
    /// assert_eq!(Plan::from_json(&plan.to_json())?, plan);
    /// # Ok::<(), anabranch_plan::JsonError>(())
    /// ```
    pub fn to_json(&self) -> String {
        write_json(self)
    }

    /// Reads a plan that [`to_json`](Plan::to_json) wrote. It does not check whether the plan makes sense;
    /// use [`validate`](Plan::validate) for that.
    ///
    /// Needs the feature `json`.
    ///
    /// # Errors
    ///
    /// [`JsonError`] if the text is not JSON, has another version, or has fields that are missing, unknown or
    /// of the wrong type. The error says where.
    pub fn from_json(text: &str) -> Result<Plan, JsonError> {
        read_json(text)
    }
}
