//! The measurements over time, by the names of the units.

use super::Report;
use crate::measures::Track;

impl Report {
    /// For each unit after the source, how many indices waited before it in each stretch. A stretch in which
    /// no thread looked counts like the one before it.
    pub(super) fn waiting_lines(&self) -> impl Iterator<Item = (&str, Vec<f64>)> {
        self.nodes.iter().skip(1).map(|node| {
            let mut last = 0.0;
            let values = self.waiting.rows().map(|row| {
                let time = row[row.len() - 1];
                if time > 0 {
                    last = row[node.id.0] as f64 / time as f64;
                }
                last
            });
            (&*node.name, values.collect())
        })
    }

    /// For each unit, the share of each stretch that a thread spent in it. The last entry is the share
    /// without work.
    pub(super) fn shares_of<'t>(&'t self, track: &'t Track) -> impl Iterator<Item = (&'t str, Vec<f64>)> {
        let idle = self.plan.nodes.len();
        let columns = self.nodes.iter().map(|node| (&*node.name, node.id.0)).chain([("idle", idle)]);
        let width = track.time.width() as f64;
        columns.map(move |(name, column)| {
            let share = |row: &[u64]| (row[column] as f64 / width).min(1.0);
            (name, track.time.rows().map(share).collect())
        })
    }
}
