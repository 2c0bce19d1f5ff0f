//! The network as JSON, for programs.

use anabranch_plan::{JsonError, read_json, write_json};

use super::Plan;

impl Plan {
    /// The network as indented JSON: an object with the fields `version` ([`JSON_VERSION`](anabranch_plan::JSON_VERSION)) and
    /// `plan`. [`from_json`](Plan::from_json) reads the same network back. It needs the feature `json`.
    ///
    /// ```
    /// use anabranch_network::plan::{Node, Plan};
    ///
    /// let mut plan = Plan::network(1);
    /// plan.rule(Node::rule("signal").with("rate", 44_100));
    /// assert_eq!(Plan::from_json(&plan.to_json())?, plan);
    /// # Ok::<(), anabranch::plan::JsonError>(())
    /// ```
    pub fn to_json(&self) -> String {
        write_json(self)
    }

    /// Reads a network that [`to_json`](Plan::to_json) wrote. It does not check whether the network makes sense;
    /// use [`validate`](Plan::validate) for that. It needs the feature `json`.
    ///
    /// # Errors
    ///
    /// [`JsonError`] if the text is not JSON, has another version, or has fields that are missing, unknown or
    /// of the wrong type. The error says where.
    pub fn from_json(text: &str) -> Result<Plan, JsonError> {
        read_json(text)
    }
}
