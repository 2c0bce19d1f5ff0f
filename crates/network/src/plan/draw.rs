//! Networks as pictures: columns of boxes from left to right, and an arrow for each record.

use super::text::{abouts, flow_text, headline};
use crate::plan::{Flow, Plan, Role};
use anabranch_plan::drawing::{
    Anchor, CALL, Canvas, FRAME, LINE_PX, Letters, MARGIN_PX, PARALLEL, Paint, SERIAL, plain, width, wrapped,
};
use std::collections::BTreeSet;

const LINE: Paint = Paint::line("#3d4856").wide(1.0);

/// The padding inside a box, in pixels.
const PAD_PX: f64 = 8.0;
/// The width at which the text of a box is broken into lines, in pixels.
const TEXT_PX: f64 = 170.0;
/// The least distance of two arrows at a box, in pixels.
const PORT_PX: f64 = 16.0;
/// The space between two boxes of a column, and the least between two columns, in pixels.
const GAP_PX: f64 = 22.0;
const COLUMN_PX: f64 = 90.0;

struct Tile {
    lines: Vec<String>,
    /// The left and the upper edge, the width and the height.
    at: [f64; 4],
}

impl Tile {
    fn middle(&self) -> f64 {
        self.at[1] + self.at[3] / 2.0
    }
}

impl Plan {
    /// The network as a picture: a document in SVG 1.1. Boxes in columns are its nodes, and arrows its records.
    pub fn to_svg(&self) -> String {
        draw(self)
    }
}

fn draw(plan: &Plan) -> String {
    let count = plan.nodes.len();
    let ends = |at: &usize| (plan.edges[*at].from.0, plan.edges[*at].to.0);
    let edges: Vec<usize> = (0..plan.edges.len()).filter(|at| ends(at).0.max(ends(at).1) < count).collect();
    let (mut inputs, mut outputs) = (vec![Vec::new(); count], vec![Vec::new(); count]);
    for at in &edges {
        outputs[ends(at).0].push(*at);
        inputs[ends(at).1].push(*at);
    }
    let mut tiles = Vec::new();
    for ((node, about), (inputs, outputs)) in
        plan.nodes.iter().zip(abouts(plan)).zip(inputs.iter().zip(&outputs))
    {
        let mut lines = vec![plain(&node.name)];
        lines.extend(about.iter().flat_map(|text| wrapped(text, Letters::FAINT, TEXT_PX)));
        let wide = lines.iter().map(|line| width(line, Letters::BOLD)).fold(0.0, f64::max);
        let ports = inputs.len().max(outputs.len()) as f64 * PORT_PX;
        let high = (lines.len() as f64 * LINE_PX).max(ports) + 2.0 * PAD_PX;
        tiles.push(Tile { lines, at: [0.0, 0.0, wide + 2.0 * PAD_PX, high] });
    }
    let mut canvas = Canvas::default();
    let title = headline(plan);
    canvas.text((MARGIN_PX, MARGIN_PX + LINE_PX), Anchor::Start, Letters::BOLD, &title);
    let both = |at: &usize| {
        labels(plan, ends(at), &plan.edges[*at].flow).map(|text| width(&text, Letters::FAINT) + 14.0)
    };
    let gap = edges.iter().map(|at| both(at).iter().sum()).fold(COLUMN_PX, f64::max);
    let (right, bottom) = place(&mut tiles, gap, &edges, ends);

    // At each side of a box, the arrows are in the order of their other ends.
    let mut heights = vec![[0.0; 2]; plan.edges.len()];
    for (node, (mut inputs, mut outputs)) in inputs.into_iter().zip(outputs).enumerate() {
        inputs.sort_by(|a, b| tiles[ends(a).0].middle().total_cmp(&tiles[ends(b).0].middle()));
        outputs.sort_by(|a, b| tiles[ends(a).1].middle().total_cmp(&tiles[ends(b).1].middle()));
        for (side, ports) in [outputs, inputs].into_iter().enumerate() {
            let step = tiles[node].at[3] / (ports.len() + 1) as f64;
            for (place, at) in ports.into_iter().enumerate() {
                heights[at][side] = tiles[node].at[1] + (place + 1) as f64 * step;
            }
        }
    }
    let mut lowest = bottom;
    for at in &edges {
        let (from, to) = ends(at);
        let start = (tiles[from].at[0] + tiles[from].at[2], heights[*at][0]);
        let end = (tiles[to].at[0], heights[*at][1]);
        canvas.open(&format!("{}; {}", plan.edges[*at].text(), flow_text(&plan.edges[*at].flow)));
        if start.0 < end.0 {
            canvas.curve(start, end, (gap / 2.0, 0.0), LINE);
        } else {
            // An arrow that leads back goes below the boxes, as far as a curve of this form reaches.
            let down = (bottom + GAP_PX - f64::midpoint(start.1, end.1)) * 4.0 / 3.0;
            canvas.curve(start, end, (gap, down), CALL);
            lowest = bottom + 2.0 * GAP_PX;
        }
        canvas.close();
    }
    for (node, tile) in plan.nodes.iter().zip(&tiles) {
        let (paint, round) = match node.role {
            Role::Process => (PARALLEL, 10.0),
            Role::Record => (FRAME.dashed(), 0.0),
            _ => (SERIAL, 0.0),
        };
        canvas.rect(tile.at, round, paint);
        for (line, text) in tile.lines.iter().enumerate() {
            let letters = if line == 0 { Letters::BOLD } else { Letters::FAINT };
            let y = tile.at[1] + PAD_PX + (line as f64 + 0.75) * LINE_PX;
            canvas.text((tile.at[0] + PAD_PX, y), Anchor::Start, letters, text);
        }
    }
    for at in &edges {
        let ((from, to), flow, [y, to_y]) = (ends(at), &plan.edges[*at].flow, heights[*at]);
        let [writes, reads] = labels(plan, (from, to), flow);
        let x = tiles[from].at[0] + tiles[from].at[2] + 4.0;
        canvas.text((x, y - 4.0), Anchor::Start, Letters::FAINT, &writes);
        canvas.text((tiles[to].at[0] - 10.0, to_y - 4.0), Anchor::End, Letters::FAINT, &reads);
    }
    let wide = right.max(MARGIN_PX + width(&title, Letters::BOLD)) + MARGIN_PX;
    canvas.document(&title, wide, lowest + MARGIN_PX)
}

/// The rates of a record at its two ends. Only firing rules have rates.
fn labels(plan: &Plan, (from, to): (usize, usize), flow: &Flow) -> [String; 2] {
    let sees = if flow.sees() > flow.consumes { format!(" of {}", flow.sees()) } else { String::new() };
    let at = |node: usize, label: String| match plan.nodes[node].role {
        Role::Rule => label,
        _ => String::new(),
    };
    [at(from, flow.produces.to_string()), at(to, format!("{}{sees}", flow.consumes))]
}

/// Gives each box its place, with `gap` pixels between two columns. Returns the right and the lower edge of all.
fn place(
    tiles: &mut [Tile],
    gap: f64,
    edges: &[usize],
    ends: impl Fn(&usize) -> (usize, usize),
) -> (f64, f64) {
    let mut inputs = vec![Vec::new(); tiles.len()];
    edges.iter().map(&ends).for_each(|(from, to)| inputs[to].push(from));
    let mut columns: Vec<Vec<usize>> = Vec::new();
    for (node, column) in columns_of(tiles.len(), edges.iter().map(&ends)).into_iter().enumerate() {
        columns.resize_with(columns.len().max(column + 1), Vec::new);
        columns[column].push(node);
    }
    let high = |tiles: &[Tile], column: &[usize]| {
        column.iter().map(|node| tiles[*node].at[3] + GAP_PX).sum::<f64>() - GAP_PX
    };
    let highest = columns.iter().map(|column| high(tiles, column)).fold(0.0, f64::max);
    let top = MARGIN_PX + 2.0 * LINE_PX;
    let mut x = MARGIN_PX;
    for (number, mut column) in columns.into_iter().enumerate() {
        // A box is about as high as those before it from which arrows lead to it.
        let mean = |node: &usize| {
            let before: Vec<f64> = inputs[*node]
                .iter()
                .map(|from| &tiles[*from])
                .filter(|tile| tile.at[0] > 0.0)
                .map(Tile::middle)
                .collect();
            before.iter().sum::<f64>() / before.len().max(1) as f64
        };
        if number > 0 {
            column.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
        }
        let wide = column.iter().map(|node| tiles[*node].at[2]).fold(0.0, f64::max);
        let mut y = top + (highest - high(tiles, &column)) / 2.0;
        for node in column {
            let [.., high] = tiles[node].at;
            tiles[node].at = [x, y, wide, high];
            y += high + GAP_PX;
        }
        x += wide + gap;
    }
    (x - gap, top + highest)
}

/// The column of each box: behind the boxes from which arrows lead to it. In a cycle, the arrows to the box that was added first
/// do not count.
fn columns_of(count: usize, edges: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
    let (mut left, mut outputs) = (vec![0; count], vec![Vec::new(); count]);
    for (from, to) in edges {
        outputs[from].push(to);
        left[to] += 1;
    }
    let mut ready: BTreeSet<usize> = (0..count).filter(|node| left[*node] == 0).collect();
    let mut rest: BTreeSet<usize> = (0..count).collect();
    let mut columns = vec![0; count];
    while let Some(node) = ready.pop_first().or_else(|| rest.first().copied()) {
        rest.remove(&node);
        for &to in &outputs[node] {
            left[to] -= 1;
            if rest.contains(&to) {
                columns[to] = columns[to].max(columns[node] + 1);
                if left[to] == 0 {
                    ready.insert(to);
                }
            }
        }
    }
    columns
}
