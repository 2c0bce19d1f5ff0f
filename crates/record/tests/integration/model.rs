//! The shared part of the loom models.

/// Runs `model` in every interleaving with at most `preemptions` preemptions, and with every outcome that the
/// memory model allows. It is a failure if all threads wait for one another: loom reports a deadlock.
pub fn check(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    builder.check(model);
}
