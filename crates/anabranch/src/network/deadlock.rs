//! A network that stands still: who waits for what, in words and as a drawing.

use std::fmt::{self, Write};

/// Why a network stood still: each of its processes waits for another one.
///
/// It is *artificial* if one of them waits for room: a record with a wider horizon would let it go on. Else it is a
/// true one, which no horizon helps: the processes wait in a circle for items that none of them can write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadlock {
    pub(super) waits: Vec<WaitOn>,
}

/// A process that waits, and for what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitOn {
    pub(super) process: String,
    pub(super) process_index: usize,
    pub(super) record: String,
    pub(super) for_room: bool,
    pub(super) count: usize,
    pub(super) horizon: usize,
    pub(super) asks: usize,
    /// Name and index of the processes on the other side.
    pub(super) others: Vec<(String, usize)>,
    /// Views on the other side that no process has used.
    pub(super) unused: usize,
}

impl WaitOn {
    /// The name of the process that waits.
    pub fn process(&self) -> &str {
        &self.process
    }

    /// The record on which it waits, by name or number, with the type of its items.
    pub fn record(&self) -> &str {
        &self.record
    }

    /// Whether it waits for room to write, or else for items to read.
    pub fn is_for_room(&self) -> bool {
        self.for_room
    }

    /// How many items (slots) it waits for.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many items the record may hold.
    pub fn horizon(&self) -> usize {
        self.horizon
    }

    /// How many items the record would have to hold for the waiting call to return, or, if it is for items, to be able
    /// to return.
    pub fn asks(&self) -> usize {
        self.asks
    }

    /// The names of the processes that it waits for: those on the other side of the record.
    pub fn waits_for(&self) -> impl Iterator<Item = &str> {
        self.others.iter().map(|(name, _)| name.as_str())
    }
}

impl Deadlock {
    /// The processes that wait, in the order of their creation.
    pub fn waits(&self) -> &[WaitOn] {
        &self.waits
    }

    /// Whether a wider horizon would let a process go on.
    pub fn is_artificial(&self) -> bool {
        self.waits.iter().any(|wait| wait.for_room)
    }

    /// The waits of a circle of processes, each of which waits for the next one and the last one for the first: their
    /// positions in [`waits`](Self::waits). Empty if there is none: somebody waits for a view that nobody uses.
    pub fn cycle(&self) -> Vec<usize> {
        let position = |index: usize| self.waits.iter().position(|wait| wait.process_index == index);
        for start in 0..self.waits.len() {
            let mut path = vec![start];
            while let Some(&(_, next)) = path.last().and_then(|&last| {
                // Of several the first that waits itself.
                self.waits[last].others.iter().find(|(_, index)| position(*index).is_some())
            }) {
                let Some(next) = position(next) else { break };
                if let Some(at) = path.iter().position(|&step| step == next) {
                    return path.split_off(at);
                }
                path.push(next);
            }
        }
        Vec::new()
    }

    /// The processes and what they wait for in Graphviz's language: an edge from each process to those that it waits
    /// for. Those of the [cycle](Self::cycle) are red.
    pub fn dot(&self) -> String {
        let cycle = self.cycle();
        let mut text = String::from("digraph deadlock {\n    node [shape=box];\n");
        let mut names: Vec<(usize, &str)> = Vec::new();
        for wait in &self.waits {
            names.push((wait.process_index, &wait.process));
            names.extend(wait.others.iter().map(|(name, index)| (*index, name.as_str())));
        }
        names.sort_unstable();
        names.dedup();
        for (index, name) in names {
            let _ = writeln!(text, "    p{index} [label={}];", quoted(name));
        }
        for (at, wait) in self.waits.iter().enumerate() {
            let what = if wait.for_room {
                format!("room in {}\nhorizon {}, asks for {}", wait.record, wait.horizon, wait.asks)
            } else {
                format!("{} of {}", items(wait.count), wait.record)
            };
            let red = if cycle.contains(&at) { ", color=red" } else { "" };
            for (_, other) in &wait.others {
                let _ =
                    writeln!(text, "    p{} -> p{other} [label={}{red}];", wait.process_index, quoted(&what));
            }
            if wait.others.is_empty() {
                let _ = writeln!(text, "    nobody{at} [label=\"nobody\", style=dashed];");
                let _ =
                    writeln!(text, "    p{} -> nobody{at} [label={}];", wait.process_index, quoted(&what));
            }
        }
        text.push_str("}\n");
        text
    }
}

fn items(count: usize) -> String {
    if count == 1 { "an item".into() } else { format!("{count} items") }
}

/// A string of Graphviz's.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

impl fmt::Display for WaitOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { process, record, count, horizon, asks, others, .. } = self;
        if self.for_room {
            write!(f, "\"{process}\" waits for room in {record} (horizon {horizon}, it asks for {asks})")?;
        } else {
            write!(f, "\"{process}\" waits for {} of {record}", items(*count))?;
        }
        match others.as_slice() {
            [] if self.unused > 0 => {
                f.write_str(if self.for_room {
                    ", which nobody has read yet"
                } else {
                    ", which nobody has written yet"
                })?;
            }
            [] => {}
            others => {
                f.write_str(if self.for_room { ", which is read by " } else { ", which is written by " })?;
                for (at, (name, _)) in others.iter().enumerate() {
                    write!(f, "{}\"{name}\"", if at == 0 { "" } else { ", " })?;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let artificial = self.is_artificial();
        f.write_str(if artificial {
            "the network stands still because a horizon is too small: "
        } else {
            "the network stands still because its processes wait for items that none of them can write: "
        })?;
        let cycle = self.cycle();
        let shown: Vec<&WaitOn> = match cycle.as_slice() {
            [] => self.waits.iter().collect(),
            cycle => cycle.iter().map(|&at| &self.waits[at]).collect(),
        };
        for (at, wait) in shown.iter().enumerate() {
            write!(f, "{}{wait}", if at == 0 { "" } else { "; " })?;
        }
        let more = self.waits.len() - shown.len();
        if more > 0 {
            write!(f, "; {more} more wait for these")?;
        }
        if artificial {
            let full = shown.iter().copied().chain(&self.waits).find(|wait| wait.for_room);
            if let Some(wait) = full {
                write!(
                    f,
                    ". Make {} with a horizon of {} or more, or let it grow with Horizon::grow_to",
                    wait.record, wait.asks
                )?;
            }
        } else {
            f.write_str(". Give a record of the circle items to begin with (record_with)")?;
        }
        Ok(())
    }
}
