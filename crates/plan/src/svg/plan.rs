//! The plan as a picture, with its measurements.

use super::canvas::{Anchor, Canvas, LINE_PX, Letters, Paint, width, wrapped};
use crate::display::{domain_line, headline, kind, notes, settings_line};
use crate::quantity::{count, percent, rate, span, time};
use crate::wording::{item_text, plain};
use crate::{Burst, Edge, EdgeKind, Executor, Node, NodeId, Overlay, Plan};

/// A serial node.
pub const SERIAL: Paint = Paint::new("#fdf3dc", "#8a6414");
/// A parallel node.
pub const PARALLEL: Paint = Paint::new("#e3effa", "#1f5c94");
/// A frame around nodes.
pub const FRAME: Paint = Paint::new("#f6f7f9", "#a3abb6").wide(1.0);
const LANE: Paint = Paint::line("#3d4856").wide(2.0);
/// An arrow for a call.
pub const CALL: Paint = Paint::line("#3d4856").wide(1.0).dashed();
const WORST: Paint = Paint::line("#b3261e").wide(3.5);
const BUSY: Paint = Paint::new("#4c5a6b", "#4c5a6b").wide(0.0);
const IDLE: Paint = Paint::new("#ffffff", "#4c5a6b").wide(1.0);

/// The space around the picture, in pixels.
pub const MARGIN_PX: f64 = 20.0;
/// The padding inside a frame and inside a box, in pixels.
const PAD_PX: f64 = 12.0;
/// How far the sheets of a parallel unit stick out behind each other, in pixels.
const SHEET_PX: f64 = 6.0;
/// The height of an arrow between two units, and between two nodes of one unit, in pixels.
const LANE_HEIGHT_PX: f64 = 44.0;
const CALL_HEIGHT_PX: f64 = 28.0;
/// The space left of the boxes for edges that skip nodes, in pixels.
const DETOUR_PX: f64 = 26.0;
const METER_PX: f64 = 90.0;

impl Plan {
    /// The plan as a picture in SVG 1.1, which needs no other file.
    ///
    /// Each domain is a frame. Each unit is a box in it, with a line for each of its nodes. A serial unit is
    /// a sheet with sharp corners, and a parallel unit is a stack of sheets with round corners. A lane is a
    /// bold arrow with its window, and a plain call is a thin dashed arrow. A node or an edge shows more
    /// under the pointer.
    ///
    /// ```
    /// use anabranch_plan::{ItemType, Node, Plan, Settings};
    ///
    /// let mut plan = Plan::new(Settings::new(4, 64));
    /// plan.push(Node::source("read"));
    /// plan.then(ItemType::of::<u64>(), Node::sink("write"));
    /// let picture = plan.to_svg();
    /// assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
    /// assert!(picture.contains("u64, 8 B · 64 slots"));
    /// ```
    pub fn to_svg(&self) -> String {
        self.to_svg_with(&Overlay::new())
    }

    /// Like [`to_svg`](Plan::to_svg), with the measurements: the items, the share of the time in which a node
    /// was busy as a meter, what waited before it, a bold outline for the bottleneck, and the prediction next
    /// to the measured time.
    pub fn to_svg_with(&self, overlay: &Overlay) -> String {
        Drawing::new(self, overlay).finish()
    }
}

/// A picture that is being drawn from top to bottom.
struct Drawing<'p> {
    plan: &'p Plan,
    overlay: &'p Overlay,
    canvas: Canvas,
    /// The place at which the next part begins.
    y: f64,
    /// The left edge of the boxes.
    left: f64,
    width: f64,
    /// The middle of each node's side, for edges that skip nodes.
    middles: Vec<f64>,
}

/// The lines of text of a node.
struct Rows {
    name: String,
    operator: String,
    kind: String,
    about: Vec<String>,
    measured: Vec<String>,
    busy: Option<f64>,
}

impl<'p> Drawing<'p> {
    fn new(plan: &'p Plan, overlay: &'p Overlay) -> Self {
        let rows = plan.nodes.iter().map(|node| Rows::new(plan, overlay, node).width());
        let edges = plan.edges.iter().map(|edge| width(&edge_label(plan, edge), Letters::FAINT) * 2.0 + 80.0);
        let domains = (0..plan.domains.len()).map(|domain| width(&domain_line(plan, domain), Letters::FAINT));
        let inside = rows.chain(edges).chain(domains).fold(300.0, f64::max);
        let detours =
            if plan.edges.iter().any(|edge| is_detour(edge.from, edge.to)) { DETOUR_PX } else { 0.0 };
        Drawing {
            plan,
            overlay,
            canvas: Canvas::default(),
            y: MARGIN_PX,
            left: MARGIN_PX + PAD_PX + detours,
            width: inside + 2.0 * PAD_PX,
            middles: vec![0.0; plan.nodes.len()],
        }
    }

    /// The width of the frames.
    fn frame(&self) -> f64 {
        self.left - MARGIN_PX + self.width + 2.0 * SHEET_PX + PAD_PX
    }

    fn finish(mut self) -> String {
        self.header();
        let domains: Vec<&[Node]> = self.plan.nodes.chunk_by(|a, b| a.domain == b.domain).collect();
        for (index, domain) in domains.into_iter().enumerate() {
            if index > 0 {
                self.edge_into(domain[0].id);
            }
            self.domain(domain);
        }
        self.detours();
        self.footer();
        let (width, height) = (self.frame() + 2.0 * MARGIN_PX, self.y + MARGIN_PX);
        self.canvas.document(&headline(self.plan), width, height)
    }

    fn header(&mut self) {
        let name = self.plan.name.as_deref().map_or("Plan".to_owned(), plain);
        self.y += Letters::TITLE.size;
        self.canvas.text((MARGIN_PX, self.y), Anchor::Start, Letters::TITLE, &name);
        self.lines(&settings_line(self.plan), Letters::FAINT);
        self.y += PAD_PX;
    }

    fn lines(&mut self, text: &str, letters: Letters) {
        for line in wrapped(text, letters, self.frame()) {
            self.y += LINE_PX;
            self.canvas.text((MARGIN_PX, self.y), Anchor::Start, letters, &line);
        }
    }

    fn domain(&mut self, nodes: &[Node]) {
        let top = self.y;
        let units: Vec<&[Node]> = nodes.chunk_by(|a, b| a.unit == b.unit).collect();
        let heights: f64 = units.iter().map(|unit| self.unit_height(unit)).sum();
        let height = LINE_PX + PAD_PX + heights + (units.len() - 1) as f64 * LANE_HEIGHT_PX + PAD_PX;
        self.canvas.rect([MARGIN_PX, top, self.frame(), height], 8.0, FRAME);
        self.y += LINE_PX;
        let label = domain_line(self.plan, nodes[0].domain);
        self.canvas.text((self.left, self.y), Anchor::Start, Letters::FAINT, &label);
        self.y += PAD_PX;
        for (index, unit) in units.into_iter().enumerate() {
            if index > 0 {
                self.edge_into(unit[0].id);
            }
            self.unit(unit);
        }
        self.y = top + height;
    }

    /// The height of a unit, including the sheets behind it.
    fn unit_height(&self, nodes: &[Node]) -> f64 {
        self.box_height(nodes) + if nodes[0].role.is_parallel() { 2.0 * SHEET_PX } else { 0.0 }
    }

    fn box_height(&self, nodes: &[Node]) -> f64 {
        let rows: f64 = nodes.iter().map(|node| Rows::new(self.plan, self.overlay, node).height()).sum();
        rows + 2.0 * PAD_PX + (nodes.len() - 1) as f64 * CALL_HEIGHT_PX
    }

    fn unit(&mut self, nodes: &[Node]) {
        let (top, height) = (self.y, self.box_height(nodes));
        let parallel = nodes[0].role.is_parallel();
        let (paint, round, sheets) = if parallel { (PARALLEL, 12.0, 2) } else { (SERIAL, 0.0, 0) };
        for sheet in (0..=sheets).rev() {
            let by = f64::from(sheet) * SHEET_PX;
            self.canvas.rect([self.left + by, top + by, self.width, height], round, paint);
        }
        if nodes.iter().any(|node| self.overlay.bottleneck == Some(node.id)) {
            let outline = [self.left - 3.0, top - 3.0, self.width + 6.0, height + 6.0];
            self.canvas.rect(outline, round, WORST);
        }
        self.y += PAD_PX;
        for (index, node) in nodes.iter().enumerate() {
            if index > 0 {
                let label = self.label_into(node.id);
                let x = self.left + self.width / 2.0;
                self.canvas.open(&label);
                self.canvas.arrow(x, self.y + 2.0, self.y + CALL_HEIGHT_PX - 2.0, CALL);
                let at = (x + 12.0, self.y + CALL_HEIGHT_PX / 2.0 + 4.0);
                self.canvas.text(at, Anchor::Start, Letters::FAINT, &label);
                self.canvas.close();
                self.y += CALL_HEIGHT_PX;
            }
            self.node(node);
        }
        self.y = top + self.unit_height(nodes);
    }

    fn node(&mut self, node: &Node) {
        let rows = Rows::new(self.plan, self.overlay, node);
        if let Some(middle) = self.middles.get_mut(node.id.0) {
            *middle = self.y + rows.height() / 2.0;
        }
        let (left, right) = (self.left + PAD_PX, self.left + self.width - PAD_PX);
        self.canvas.open(&tip(self.plan, node));
        let y = self.y + LINE_PX - 4.0;
        self.canvas.text((left, y), Anchor::Start, Letters::BOLD, &rows.name);
        let after = left + width(&rows.name, Letters::BOLD) + 8.0;
        self.canvas.text((after, y), Anchor::Start, Letters::FAINT, &rows.operator);
        self.canvas.text((right, y), Anchor::End, Letters::PLAIN, &rows.kind);
        let mut y = y;
        for line in &rows.about {
            y += LINE_PX;
            self.canvas.text((left, y), Anchor::Start, Letters::FAINT, line);
        }
        let worst = self.overlay.bottleneck == Some(node.id);
        for (index, line) in rows.measured.iter().enumerate() {
            y += LINE_PX;
            let bold = if worst { Letters::BOLD } else { Letters::PLAIN };
            self.canvas.text((left, y), Anchor::Start, bold, line);
            if let (0, Some(busy)) = (index, rows.busy) {
                let bar = [right - METER_PX, y - 10.0, METER_PX, 11.0];
                self.canvas.rect(bar, 0.0, IDLE);
                self.canvas.rect([bar[0], bar[1], METER_PX * busy.clamp(0.0, 1.0), bar[3]], 0.0, BUSY);
                let at = (right - METER_PX - 8.0, y);
                self.canvas.text(at, Anchor::End, Letters::PLAIN, &format!("busy {}", percent(busy)));
            }
        }
        self.canvas.close();
        self.y += rows.height();
    }

    /// Draws the arrow from the previous node, if there is an edge. It moves down by the height of the arrow
    /// in any case.
    fn edge_into(&mut self, to: NodeId) {
        let from = NodeId(to.0.wrapping_sub(1));
        if let Some(edge) = self.plan.edges.iter().find(|edge| edge.from == from && edge.to == to) {
            let label = edge_label(self.plan, edge);
            let x = self.left + self.width / 2.0;
            self.canvas.open(&format!("{}: {} to {}, {label}", edge.item.name, edge.from, edge.to));
            let paint = if edge.kind.is_lane() { LANE } else { CALL };
            self.canvas.arrow(x, self.y, self.y + LANE_HEIGHT_PX, paint);
            let at = (x + 14.0, self.y + LANE_HEIGHT_PX / 2.0 + 4.0);
            self.canvas.text(at, Anchor::Start, Letters::FAINT, &label);
            self.canvas.close();
        }
        self.y += LANE_HEIGHT_PX;
    }

    fn label_into(&self, to: NodeId) -> String {
        let from = NodeId(to.0.wrapping_sub(1));
        let edge = self.plan.edges.iter().find(|edge| edge.from == from && edge.to == to);
        edge.map_or(String::new(), |edge| edge_label(self.plan, edge))
    }

    /// Draws the edges that skip nodes, around the left side.
    fn detours(&mut self) {
        let middle = |id: NodeId| self.middles.get(id.0).copied();
        let edges = self.plan.edges.iter().filter(|edge| is_detour(edge.from, edge.to));
        for (index, edge) in edges.enumerate() {
            let (Some(from), Some(to)) = (middle(edge.from), middle(edge.to)) else { continue };
            let to = to + (index % 3) as f64 * 8.0 - 8.0;
            let x = self.left - 8.0 - (index % 3) as f64 * 7.0;
            let paint = if edge.kind.is_lane() { LANE } else { CALL };
            self.canvas.open(&format!("{} to {}, {}", edge.from, edge.to, edge_label(self.plan, edge)));
            let end = self.left - 1.0;
            self.canvas.line(&[(end, from), (x, from), (x, to), (end - 2.0, to)], paint);
            let head = Paint { fill: paint.line, dashed: false, width: 1.0, ..paint };
            self.canvas.polygon(&[(end - 6.0, to - 5.0), (end - 6.0, to + 5.0), (end + 1.0, to)], head);
            self.canvas.close();
        }
    }

    /// Draws the legend, and the predicted next to the measured time.
    fn footer(&mut self) {
        let workers = match self.plan.settings.executor {
            Executor::Inline => 1,
            Executor::Threads | Executor::Pool => self.plan.settings.workers,
        };
        let prediction = self.plan.predict_on(&self.overlay.machine, workers).ok();
        let said = |per_item: f64| format!("{} an item, {}", span(per_item), rate(1e9 / per_item));
        self.y += PAD_PX;
        if let Some(prediction) = &prediction {
            self.y += LINE_PX;
            let text = format!("Predicted: {}", said(prediction.per_item));
            self.canvas.text((MARGIN_PX, self.y), Anchor::Start, Letters::BOLD, &text);
        }
        if let Some(measured) =
            self.overlay.per_item.filter(|measured| measured.is_finite() && *measured > 0.0)
        {
            self.y += LINE_PX;
            let beside = prediction.as_ref().map_or(String::new(), |prediction| {
                let off = measured / prediction.per_item - 1.0;
                let side = if off < 0.0 { "less" } else { "more" };
                format!(", {} {side} time than predicted", percent(off.abs()))
            });
            let text = format!("Measured: {}{beside}", said(measured));
            self.canvas.text((MARGIN_PX, self.y), Anchor::Start, Letters::BOLD, &text);
        }
        if let Some(prediction) = &prediction {
            self.lines(&prediction.advice, Letters::PLAIN);
        }
        self.y += PAD_PX + LINE_PX;
        let (y, mut x) = (self.y, MARGIN_PX);
        self.canvas.rect([x, y - 11.0, 20.0, 12.0], 0.0, SERIAL);
        x += 28.0;
        self.canvas.text((x, y), Anchor::Start, Letters::FAINT, "one item at a time");
        x += width("one item at a time", Letters::FAINT) + 16.0;
        for by in [6.0, 3.0, 0.0] {
            self.canvas.rect([x + by, y - 13.0 + by, 18.0, 10.0], 4.0, PARALLEL.wide(1.0));
        }
        x += 32.0;
        self.canvas.text((x, y), Anchor::Start, Letters::FAINT, "several at once");
        self.y += LINE_PX;
        let (y, mut x) = (self.y, MARGIN_PX);
        self.canvas.line(&[(x, y - 4.0), (x + 20.0, y - 4.0)], LANE);
        x += 28.0;
        self.canvas.text((x, y), Anchor::Start, Letters::FAINT, "may change threads");
        x += width("may change threads", Letters::FAINT) + 16.0;
        self.canvas.line(&[(x, y - 4.0), (x + 20.0, y - 4.0)], CALL);
        x += 32.0;
        self.canvas.text((x, y), Anchor::Start, Letters::FAINT, "plain call");
    }
}

impl Rows {
    fn new(plan: &Plan, overlay: &Overlay, node: &Node) -> Self {
        let operator = if node.operator == node.name { String::new() } else { plain(&node.operator) };
        let mut about = Vec::new();
        let mut facts = vec![if node.ordered { "in order" } else { "any order" }.to_owned()];
        facts.extend(Some(notes(node)).filter(|notes| !notes.is_empty()));
        facts.extend(node.cost.map(|cost| format!("{} an item", time(cost))));
        about.push(facts.join(" · "));
        let found = overlay.nodes.get(&node.id).copied().unwrap_or_default();
        let busy = found.busy.filter(|busy| busy.is_finite());
        let mut first = Vec::new();
        if overlay.bottleneck == Some(node.id) {
            first.push("bottleneck".to_owned());
        }
        let items = |items: u64| count(items.try_into().unwrap_or(usize::MAX), "item");
        first.extend(found.items.map(items));
        first.extend(found.cost.map(|cost| format!("{} an item", time(cost))));
        let mut waiting = Vec::new();
        waiting.extend(
            found
                .occupancy
                .filter(|items| items.is_finite())
                .map(|items| format!("{items:.1} waiting before it")),
        );
        waiting.extend(found.waiting.map(|wait| format!("{} each", time(wait))));
        let mut measured = Vec::new();
        if !first.is_empty() || busy.is_some() {
            measured.push(first.join(" · "));
        }
        if !waiting.is_empty() {
            measured.push(waiting.join(", "));
        }
        Rows { name: plain(&node.name), operator, kind: kind(plan, node), about, measured, busy }
    }

    fn height(&self) -> f64 {
        (1 + self.about.len() + self.measured.len()) as f64 * LINE_PX
    }

    fn width(&self) -> f64 {
        let (name, operator) = (width(&self.name, Letters::BOLD), width(&self.operator, Letters::FAINT));
        let first = name + 8.0 + operator + 24.0 + width(&self.kind, Letters::PLAIN);
        let about = self.about.iter().map(|line| width(line, Letters::FAINT));
        let meter = if self.busy.is_some() { METER_PX + 100.0 } else { 0.0 };
        let measured = self.measured.iter().map(|line| width(line, Letters::BOLD) + meter);
        about.chain(measured).fold(first, f64::max)
    }
}

fn is_detour(from: NodeId, to: NodeId) -> bool {
    Some(to.0) != from.0.checked_add(1)
}

/// The type of the items, and through how many slots they pass.
fn edge_label(plan: &Plan, edge: &Edge) -> String {
    let mut label = item_text(&edge.item);
    if let EdgeKind::Lane { window, burst } = edge.kind {
        label += &format!(" · {}", count(window, "slot"));
        match burst {
            Burst::Fixed(items) if burst != plan.settings.burst => label += &format!(", {items} at a time"),
            _ => {}
        }
    }
    if let EdgeKind::Back { places } = edge.kind {
        label += &format!(" · again {} later", count(places, "place"));
    }
    label
}

/// Everything that is known about a node.
fn tip(plan: &Plan, node: &Node) -> String {
    let mut lines = vec![format!("{} ({})", plain(&node.name), node.id)];
    lines.push(format!("{}, {}", plain(&node.operator), kind(plan, node)));
    lines.push(format!("unit {}, domain {}", node.unit, node.domain));
    lines.extend(Some(notes(node)).filter(|notes| !notes.is_empty()));
    lines.extend(node.cost.map(|cost| format!("{} an item", time(cost))));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::canvas::{FAINT, GROUND, INK};
    use super::*;

    #[test]
    fn ink_is_dark_and_grounds_are_light() {
        // Relative luminance and contrast as defined in WCAG 2.1.
        let luminance = |color: &str| {
            let part = |at: usize| {
                let value = f64::from(u8::from_str_radix(&color[at..at + 2], 16).unwrap()) / 255.0;
                if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
        };
        let contrast = |dark: &str, light: &str| (luminance(light) + 0.05) / (luminance(dark) + 0.05);
        for ground in [GROUND, SERIAL.fill, PARALLEL.fill, FRAME.fill] {
            assert!(contrast(INK, ground) >= 7.0, "{ground}");
            assert!(contrast(FAINT, ground) >= 4.5, "{ground}");
        }
    }
}
