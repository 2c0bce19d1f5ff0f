//! Adding firing rules to a network, before it runs and while it runs.

use anabranch_plan::Node;

use super::{
    board::{Board, Member, RuleCell},
    ports::Ports,
    rule::{Body, Verdict},
    worker::FIRINGS,
};

impl<'env, E: Send> Board<'env, E> {
    /// Adds a rule, which does not fire before its link is started.
    pub(super) fn add_rule<I, O, V, F>(
        &self,
        name: &str,
        inputs: I,
        outputs: O,
        code: F,
    ) -> Option<&RuleCell<'env, E>>
    where
        I: Ports + Send + 'env,
        O: Ports + Send + 'env,
        V: Verdict,
        F: for<'a> FnMut(&mut I::Bursts<'a>, &mut O::Bursts<'a>) -> Result<V, E> + Send + 'env,
    {
        let process = self.new_process(Node::rule("rule").named(name.to_owned()));
        self.add_rules(|link| {
            let body = Body::new(inputs, outputs, code, &process, link);
            vec![Member::new(&process, FIRINGS, Box::new(body))]
        })
    }
}
