//! What the loom models share.

/// Runs `model` in every interleaving with at most `preemptions` preemptions, under every outcome that the
/// memory model allows. Threads that all wait for one another are a failure: loom reports a deadlock.
pub fn check(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    builder.check(model);
}
