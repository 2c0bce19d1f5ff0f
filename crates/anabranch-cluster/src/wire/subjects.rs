//! The subjects of messages. All begin with [`PREFIX`].

/// The beginning of all subjects. It has the version of the messages.
pub(crate) const PREFIX: &str = "anabranch2";

/// Programs that use a set of functions say here that they live. `*` stands for all sets.
pub(crate) fn beat(set: &str) -> String {
    format!("{PREFIX}.beat.{set}")
}

/// Workers ask here for beats at once.
pub(crate) fn ask(set: &str) -> String {
    format!("{PREFIX}.ask.{set}")
}

/// Workers say here to the program of a run that they live, or want to serve it: `topic` by `topic`.
pub(crate) fn member(run: u64, topic: &str) -> String {
    format!("{PREFIX}.member.{run:016x}.{topic}")
}

/// The other messages to the program of a run.
pub(crate) fn run(run: u64, topic: &str) -> String {
    format!("{PREFIX}.run.{run:016x}.{topic}")
}

/// The messages to a worker.
pub(crate) fn worker(worker: u64, topic: &str) -> String {
    format!("{PREFIX}.worker.{worker:016x}.{topic}")
}

/// The queue that a run has made for the nth time: `work`, and `alone` for items that must run alone.
pub(crate) fn queue(run: u64, times_made: u32, kind: &str) -> String {
    format!("{PREFIX}.queue.{times_made}.{run:016x}.{kind}")
}

/// The part of a subject after the last dot.
pub(crate) fn topic(subject: &str) -> &str {
    subject.rsplit('.').next().unwrap_or_default()
}

/// The number in a topic such as `ok-1f`.
pub(crate) fn number_of(topic: &str, name: &str) -> Option<u64> {
    u64::from_str_radix(topic.strip_prefix(name)?, 16).ok()
}

/// The run of a subject of [`queue`], and of a reply to a pull request, `anabranch2.worker.ID.pull.RUN.KIND`.
pub(crate) fn run_of(subject: &str) -> Option<u64> {
    u64::from_str_radix(subject.rsplit('.').nth(1)?, 16).ok()
}
