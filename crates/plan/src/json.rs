//! The plan as JSON, for programs.

use crate::Plan;
use serde::{Deserialize, Serialize};

/// The version of the format that [`Plan::to_json`] writes and [`Plan::from_json`] reads. A change that leaves
/// texts of before unreadable makes it greater. A field that is added later may be left out, and who does not
/// know it refuses the text: nothing is dropped silently.
pub const JSON_VERSION: u32 = 1;

/// Why a text is not a plan.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// It is not JSON, or not JSON of the shape of a plan.
    #[error("not a plan in JSON: {0}")]
    Shape(#[from] serde_json::Error),
    /// It is of a version that is not read here.
    #[error("a plan of format version {found}, where {JSON_VERSION} is read")]
    Version {
        /// The version that the text states.
        found: u32,
    },
}

#[derive(Serialize)]
struct Written<'a> {
    version: u32,
    plan: &'a Plan,
}

#[derive(Deserialize)]
struct Header {
    version: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    #[serde(rename = "version")]
    _version: u32,
    plan: Plan,
}

impl Plan {
    /// The plan as indented JSON: an object with `version` ([`JSON_VERSION`]) and `plan`.
    /// [`from_json`](Plan::from_json) gives the same plan back.
    ///
    /// Needs the feature `json`.
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
        let document = Written { version: JSON_VERSION, plan: self };
        serde_json::to_string_pretty(&document)
            .expect("strings, numbers, booleans and lists of them always have JSON")
    }

    /// The plan that [`to_json`](Plan::to_json) wrote. It is read as it stands: whether it makes sense,
    /// [`validate`](Plan::validate) says.
    ///
    /// Needs the feature `json`.
    ///
    /// # Errors
    ///
    /// [`JsonError`] if the text is not JSON, is of another version, or has fields missing, unknown or of
    /// the wrong type; it says where.
    pub fn from_json(text: &str) -> Result<Plan, JsonError> {
        let header: Header = serde_json::from_str(text)?;
        if header.version != JSON_VERSION {
            return Err(JsonError::Version { found: header.version });
        }
        let document: Read = serde_json::from_str(text)?;
        Ok(document.plan)
    }
}
