//! Deadlocks of a network: which process waits for what, in words and as a drawing.

use std::fmt::{self, Write};

use anabranch_plan::Sketch;

/// The most processes outside of the cycle that a picture shows.
const SHOWN: usize = 24;

/// A deadlock: each process of the network waits for another one.
///
/// A deadlock is *artificial* if a process waits for room; with a wider horizon of the record, that process
/// could go on. Otherwise no horizon helps: the processes wait for items that none of them can write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadlock {
    pub(super) waits: Vec<WaitOn>,
}

/// A process that waits, and the items or the room that it waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitOn {
    pub(super) process: String,
    pub(super) process_index: usize,
    pub(super) record: String,
    pub(super) for_room: bool,
    pub(super) count: usize,
    pub(super) horizon: usize,
    pub(super) asks: usize,
    /// The names and indices of the processes on the other side of the record.
    pub(super) others: Vec<(String, usize)>,
    /// Whether the record is the queue before a stage, which has the horizon of the record that the stage reads.
    pub(super) is_queue: bool,
    /// How many views on the other side no process has used.
    pub(super) unused: usize,
}

impl WaitOn {
    /// The items or the room that the process waits for, on one or two lines.
    fn what(&self) -> String {
        if self.for_room {
            format!("room in {}\nhorizon {}, asks for {}", self.record, self.horizon, self.asks)
        } else {
            format!("{} of {}", items(self.count), self.record)
        }
    }

    /// The name of the process that waits.
    pub fn process(&self) -> &str {
        &self.process
    }

    /// The record for which the process waits: its name or number, and the type of its items.
    pub fn record(&self) -> &str {
        &self.record
    }

    /// Whether the process waits for room to write. If not, it waits for items to read.
    pub fn is_for_room(&self) -> bool {
        self.for_room
    }

    /// How many slots the process waits for, or how many items.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many items the record may hold.
    pub fn horizon(&self) -> usize {
        self.horizon
    }

    /// The horizon that the waiting call needs, in items. If the process waits for room, the call would
    /// return with this horizon. If it waits for items, the call cannot return with a smaller one.
    pub fn asks(&self) -> usize {
        self.asks
    }

    /// The names of the processes that this process waits for. They are on the other side of the record.
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

    /// A cycle of processes, each of which waits for the next one, and the last one for the first. The result
    /// has their positions in [`waits`](Self::waits). It is empty if there is no cycle, because a process
    /// waits for a view that no process uses.
    pub fn cycle(&self) -> Vec<usize> {
        let position = |index: usize| self.waits.iter().position(|wait| wait.process_index == index);
        for start in 0..self.waits.len() {
            let mut path = vec![start];
            while let Some(&(_, next)) = path.last().and_then(|&last| {
                // If it waits for several processes, the first one that waits itself is followed.
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

    /// The deadlock as a graph in Graphviz's language. An edge leads from each process to each process that
    /// it waits for. The edges of the [cycle](Self::cycle) are red.
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
            let what = wait.what();
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

    /// The deadlock as a picture in SVG 1.1: a box for each process, and an arrow to each process that it
    /// waits for. The processes of the [cycle](Self::cycle) come first, and its arrows are bold and red. At
    /// most 24 further processes are shown.
    pub fn svg(&self) -> String {
        let cycle = self.cycle();
        let rest = (0..self.waits.len()).filter(|at| !cycle.contains(at));
        let order: Vec<usize> = cycle.iter().copied().chain(rest).take(cycle.len() + SHOWN).collect();
        let kind = if self.is_artificial() { "a horizon is too small" } else { "items are missing" };
        let mut title = format!("Deadlock of {} processes: {kind}", self.waits.len());
        if order.len() < self.waits.len() {
            let _ = write!(title, " ({} more wait and are not shown)", self.waits.len() - order.len());
        }
        let mut sketch = Sketch::new(&title);
        let mut tiles: Vec<(usize, usize)> = Vec::new();
        for &at in &order {
            let wait = &self.waits[at];
            let what = if wait.for_room { "waits for room" } else { "waits for items" };
            tiles.push((wait.process_index, sketch.tile([wait.process.as_str(), what])));
        }
        for &at in &order {
            let wait = &self.waits[at];
            let Some(from) = tile_of(&tiles, wait.process_index) else { continue };
            let strong = cycle.contains(&at);
            let mut to: Vec<usize> = Vec::new();
            for (name, index) in &wait.others {
                let known = tile_of(&tiles, *index);
                to.push(known.unwrap_or_else(|| {
                    let tile = sketch.round_tile([name.as_str(), "does not wait, or is not shown"]);
                    tiles.push((*index, tile));
                    tile
                }));
            }
            if wait.others.is_empty() {
                to.push(sketch.round_tile(["nobody"]));
            }
            for to in to {
                sketch.arrow(from, to, &wait.what(), strong);
            }
        }
        sketch.to_svg()
    }
}

/// The box of the process with this index.
fn tile_of(tiles: &[(usize, usize)], index: usize) -> Option<usize> {
    tiles.iter().find(|(process, _)| *process == index).map(|(_, tile)| *tile)
}

fn items(count: usize) -> String {
    if count == 1 { "an item".into() } else { format!("{count} items") }
}

/// `text` as a quoted string in Graphviz's language.
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
            let mut full = shown.iter().copied().chain(&self.waits).filter(|wait| wait.for_room);
            let queue = full.clone().next();
            if let Some(wait) = full.find(|wait| !wait.is_queue) {
                write!(
                    f,
                    ". Make {} with a horizon of {} or more, or let it grow with Horizon::grow_to",
                    wait.record, wait.asks
                )?;
            } else if let Some(wait) = queue {
                write!(
                    f,
                    ". Make the record from which {} is filled with a horizon of {} or more: the queue has the same",
                    wait.record, wait.asks
                )?;
            }
        } else {
            f.write_str(". Give one of these records items to begin with (record_with)")?;
        }
        Ok(())
    }
}
