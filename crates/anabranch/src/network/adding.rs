//! Adding firing rules to a network, before it runs and while it runs.

use super::{
    board::{Board, Member, RuleCell},
    graph::Rates,
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
        let process = self.new_process(name, true);
        self.add_rules(|link| {
            let body = Body::new(inputs, outputs, code, &process, link);
            vec![Member::new(&process, FIRINGS, Box::new(body))]
        })
    }

    /// Ends the network with an error if the rates of a new rule are not possible. Before a run, the check of
    /// the whole graph finds this.
    pub(super) fn check_ports(&self, cell: &RuleCell<'env, E>) {
        let Some(mut held) = cell.baton.try_acquire() else { return };
        let mut message = None;
        for member in held.state().iter() {
            for port in member.body.as_ref().map_or(Vec::new(), |body| body.describe()) {
                let (title, most) = (port.record.title(), port.record.most);
                message = message.or_else(|| Rates::of(&port).defect(&member.process.name, &title, most));
            }
        }
        held.let_go();
        if let Some(message) = message {
            self.hub.misuse(message);
        }
    }
}
