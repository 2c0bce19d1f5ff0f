//! Reports as text.

use std::fmt;
use std::time::Duration;

use anabranch_plan::Role;
use anabranch_plan::quantity::{count, percent, rate, time};

use super::{Latency, NodeReport, Report, each};

impl fmt::Display for Report {
    /// Prints a table, the latencies, the throughput with its prediction, and what bounds the throughput.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline())?;
        self.write_table(f)?;
        writeln!(f)?;
        let throughputs = self.throughputs();
        let names = self.latency_names();
        let width = names.iter().map(|name| name.chars().count()).chain([10]).max().unwrap_or(0);
        for (name, latency) in names.iter().zip(&self.latencies) {
            writeln!(f, "  {name:width$}  {latency}")?;
        }
        if let Some(text) = throughputs {
            writeln!(f, "  {:width$}  {text}", "Throughput")?;
        }
        write!(f, "\n{}", self.explanation())?;
        self.remarks.iter().try_for_each(|remark| write!(f, "\n\n{remark}"))?;
        self.streams.iter().try_for_each(|stream| write!(f, "\n\nA stream inside: {stream}"))
    }
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { p50, p95, p99, .. } = self;
        write!(f, "half within {}, 95 % within {}, 99 % within {}", short(*p50), short(*p95), short(*p99))
    }
}

/// A time with three digits and its unit.
pub(crate) fn short(span: Duration) -> String {
    time(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
}

impl Report {
    /// The stages that ran, and their times.
    pub(super) fn headline(&self) -> String {
        let items = count(usize::try_from(self.source_items()).unwrap_or(usize::MAX), "item");
        let workers = count(self.plan.settings.workers, "worker");
        let cores = count(self.cores, "core");
        let name = self.plan.name.as_ref().map_or(String::new(), |name| format!("{name}: "));
        format!("{name}{items} in {} with {workers} on {cores}", short(self.wall))
    }

    /// The measured and the predicted throughput, in one line.
    pub(super) fn throughputs(&self) -> Option<String> {
        let measured = self.per_item()?;
        let mut text = format!("{} measured", rate(self.throughput()));
        if let Some(prediction) = &self.prediction {
            let off = prediction.throughput / self.throughput() - 1.0;
            text += &format!(", {} predicted from the costs above", rate(prediction.throughput));
            if off.abs() >= 0.005 && measured > 0.0 {
                text += &format!(" ({} {})", percent(off.abs()), if off > 0.0 { "more" } else { "less" });
            }
        }
        Some(text)
    }

    /// The names of the latencies. If there are several, with the nodes between which they are.
    pub(super) fn latency_names(&self) -> Vec<String> {
        match &self.latencies[..] {
            [_] => vec!["Latency".to_owned()],
            several => several.iter().map(|one| format!("Latency from {} to {}", one.from, one.to)).collect(),
        }
    }

    /// Writes the table of the units.
    pub(crate) fn write_table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.nodes.iter().map(|node| node.name.chars().count()).max().unwrap_or(0).max(5);
        writeln!(
            f,
            "  {:name$}  {:>12}  {:>8}  {:>8}  {:>5}  {:>8}  {:>9}",
            "stage", "items", "busy", "an item", "used", "waiting", "occupancy"
        )?;
        for node in &self.nodes {
            let shown = node.name.replace(char::is_control, " ");
            let [items, busy, each, used, waiting, occupancy] = cells(node);
            let line = format!(
                "  {shown:name$}  {items:>12}  {busy:>8}  {each:>8}  {used:>5}  {waiting:>8}  {occupancy:>9}"
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// The cells of a node's row.
pub(super) fn cells(node: &NodeReport) -> [String; 6] {
    let is_source = node.role == Role::Source;
    [
        node.items.to_string(),
        short(node.busy),
        if node.items == 0 { String::new() } else { time(each(node.busy, node.items)) },
        percent(node.utilization),
        if is_source { String::new() } else { short(node.waiting) },
        if is_source { String::new() } else { format!("{:.1}", node.occupancy) },
    ]
}
