//! Pictures of boxes and arrows: graphs that are not a line.

use super::canvas::{Anchor, Canvas, GROUND, LINE_PX, Letters, Paint, width, wrapped};

const BOX: Paint = Paint::new("#fdf3dc", "#8a6414");
const ROUND: Paint = Paint::new("#e3effa", "#1f5c94");
const ARROW: Paint = Paint::line("#3d4856").wide(1.5);
const STRONG: Paint = Paint::line("#b3261e").wide(3.0);

const MARGIN_PX: f64 = 20.0;
/// The padding inside a box, in pixels.
const PAD_PX: f64 = 10.0;
/// The least space between two boxes, in pixels.
const GAP_PX: f64 = 30.0;
/// The space between two arrows beside the boxes, in pixels.
const BESIDE_PX: f64 = 18.0;
/// The width at which the title is broken into lines, in pixels.
const TITLE_PX: f64 = 620.0;

/// A picture of boxes and arrows, in SVG 1.1.
///
/// The boxes stand below each other in the order in which they were added. An arrow to the next box is drawn
/// between the two, and any other arrow beside the boxes: the shorter ones nearer to them.
///
/// ```
/// use anabranch_plan::Sketch;
///
/// let mut sketch = Sketch::new("Two that wait for each other");
/// let left = sketch.tile(["left"]);
/// let right = sketch.round_tile(["right", "a rule"]);
/// sketch.arrow(left, right, "an item of record 1", true);
/// sketch.arrow(right, left, "room in record 0", true);
/// let picture = sketch.to_svg();
/// assert!(picture.starts_with("<svg ") && picture.contains("room in record 0"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Sketch {
    title: String,
    tiles: Vec<Tile>,
    arrows: Vec<Arrow>,
}

#[derive(Clone, Debug)]
struct Tile {
    lines: Vec<String>,
    is_round: bool,
}

#[derive(Clone, Debug)]
struct Arrow {
    from: usize,
    to: usize,
    label: Vec<String>,
    strong: bool,
}

impl Sketch {
    /// Creates a picture without boxes. The title stands above it.
    pub fn new(title: &str) -> Self {
        Sketch { title: title.to_owned(), ..Sketch::default() }
    }

    /// Adds a box with sharp corners and these lines of text. The first line is bold. Returns the number of
    /// the box.
    pub fn tile(&mut self, lines: impl IntoIterator<Item = impl Into<String>>) -> usize {
        self.add(lines.into_iter().map(Into::into).collect(), false)
    }

    /// Like [`tile`](Self::tile), with round corners.
    pub fn round_tile(&mut self, lines: impl IntoIterator<Item = impl Into<String>>) -> usize {
        self.add(lines.into_iter().map(Into::into).collect(), true)
    }

    fn add(&mut self, lines: Vec<String>, is_round: bool) -> usize {
        self.tiles.push(Tile { lines, is_round });
        self.tiles.len() - 1
    }

    /// Adds an arrow between two boxes, or from a box to itself. The label may have several lines. A strong
    /// arrow is bold and red. An arrow from or to a box that is not there is not drawn.
    pub fn arrow(&mut self, from: usize, to: usize, label: &str, strong: bool) {
        let label = label.lines().map(str::to_owned).collect();
        self.arrows.push(Arrow { from, to, label, strong });
    }

    /// The picture as a document.
    pub fn to_svg(&self) -> String {
        let mut canvas = Canvas::default();
        let mut y = MARGIN_PX;
        for line in wrapped(&self.title, Letters::BOLD, TITLE_PX) {
            y += LINE_PX;
            canvas.text((MARGIN_PX, y), Anchor::Start, Letters::BOLD, &line);
        }
        y += PAD_PX;
        let exists = |arrow: &&Arrow| arrow.from.max(arrow.to) < self.tiles.len();
        // The first of several arrows to the next box is drawn between the boxes.
        let mut between: Vec<Option<&Arrow>> = vec![None; self.tiles.len()];
        let mut beside = Vec::new();
        for arrow in self.arrows.iter().filter(exists) {
            match &mut between[arrow.from] {
                place @ None if arrow.to == arrow.from + 1 => *place = Some(arrow),
                _ => beside.push(arrow),
            }
        }
        let texts =
            |lines: &[String], letters| lines.iter().map(|line| width(line, letters)).fold(0.0, f64::max);
        let labels = between.iter().flatten().map(|arrow| 2.0 * texts(&arrow.label, Letters::FAINT) + 60.0);
        let inside = self.tiles.iter().map(|tile| texts(&tile.lines, Letters::BOLD)).chain(labels);
        let wide = inside.fold(120.0, f64::max) + 2.0 * PAD_PX;
        let mut sides = Vec::new();
        for (tile, arrow) in self.tiles.iter().zip(&between) {
            let height = tile.lines.len() as f64 * LINE_PX + 2.0 * PAD_PX;
            let (paint, round) = if tile.is_round { (ROUND, 12.0) } else { (BOX, 0.0) };
            canvas.rect([MARGIN_PX, y, wide, height], round, paint);
            for (at, line) in tile.lines.iter().enumerate() {
                let letters = if at == 0 { Letters::BOLD } else { Letters::FAINT };
                let place = (MARGIN_PX + PAD_PX, y + PAD_PX + (at as f64 + 0.75) * LINE_PX);
                canvas.text(place, Anchor::Start, letters, line);
            }
            sides.push((y, height));
            y += height;
            let mut gap = GAP_PX;
            if let Some(arrow) = arrow {
                gap = gap.max(arrow.label.len() as f64 * LINE_PX + 2.0 * PAD_PX);
                let x = MARGIN_PX + wide / 2.0;
                canvas.arrow(x, y, y + gap, paint_of(arrow));
                write(&mut canvas, (x + PAD_PX, y + PAD_PX), arrow);
            }
            y += gap;
        }
        beside.sort_by_key(|arrow| arrow.from.abs_diff(arrow.to));
        let ends = Ends::of(&beside, &sides);
        let (mut x, mut labels) = (MARGIN_PX + wide, Vec::new());
        for (lane, arrow) in beside.into_iter().enumerate() {
            x += BESIDE_PX;
            let [from, to] = ends.heights[lane];
            let paint = paint_of(arrow);
            canvas.line(&[(MARGIN_PX + wide, from), (x, from), (x, to), (MARGIN_PX + wide + 8.0, to)], paint);
            let head = Paint { fill: paint.line, width: 1.0, ..paint };
            let tip = MARGIN_PX + wide;
            canvas.polygon(&[(tip + 9.0, to - 5.0), (tip + 9.0, to + 5.0), (tip, to)], head);
            labels.push((x + 6.0, ends.label(lane, arrow.label.len() as f64 * LINE_PX), arrow));
            x += texts(&arrow.label, Letters::FAINT) + 6.0;
        }
        // The labels come last, and on their own ground, because a line may have to pass below one of them.
        for (x, y, arrow) in labels {
            let (wide, high) = (texts(&arrow.label, Letters::FAINT), arrow.label.len() as f64 * LINE_PX);
            canvas.rect([x - 2.0, y, wide + 4.0, high], 0.0, Paint::new(GROUND, "none"));
            write(&mut canvas, (x, y), arrow);
        }
        let title = texts(&wrapped(&self.title, Letters::BOLD, TITLE_PX), Letters::BOLD);
        canvas.document(&self.title, (x + MARGIN_PX).max(title + 2.0 * MARGIN_PX), y + MARGIN_PX)
    }
}

/// The places at which the arrows beside the boxes begin and end.
struct Ends {
    /// For each arrow, the heights of its beginning and of its end.
    heights: Vec<[f64; 2]>,
}

impl Ends {
    /// `arrows` are sorted by their distance from the boxes, the nearest first. `boxes` has the top and the height of
    /// each box. At each box, arrows that lead up end above those that lead down. The nearest of the first ends
    /// highest, and that of the second lowest. So arrows of one box do not cross.
    fn of(arrows: &[&Arrow], boxes: &[(f64, f64)]) -> Self {
        let mut at: Vec<Vec<(bool, isize, usize, usize)>> = vec![Vec::new(); boxes.len()];
        for (lane, arrow) in arrows.iter().enumerate() {
            for (end, (here, there)) in
                [(arrow.from, arrow.to), (arrow.to, arrow.from)].into_iter().enumerate()
            {
                // An arrow from a box to itself comes back below where it leaves.
                let leads_down = there > here || (there == here && end == 1);
                let order = if leads_down { -(lane as isize) } else { lane as isize };
                at[here].push((leads_down, order, lane, end));
            }
        }
        let mut heights = vec![[0.0; 2]; arrows.len()];
        for (mut ends, &(top, height)) in at.into_iter().zip(boxes) {
            ends.sort_unstable();
            let step = height / (ends.len() + 1) as f64;
            for (place, (_, _, lane, end)) in ends.into_iter().enumerate() {
                heights[lane][end] = top + (place + 1) as f64 * step;
            }
        }
        Ends { heights }
    }

    /// The top of an arrow's label of this height. It is near the middle of the arrow, where no line of an arrow
    /// further away passes, if there is such a place.
    fn label(&self, lane: usize, height: f64) -> f64 {
        let [from, to] = self.heights[lane];
        let middle = (from + to - height) / 2.0;
        let (least, most) = (from.min(to), from.max(to) - height);
        let is_free = |y: f64| {
            let lines = self.heights[lane + 1..].iter().flatten();
            lines.into_iter().all(|line| !(y - 3.0..y + height + 3.0).contains(line))
        };
        let places = (0..200).map(|n| middle + f64::from(n / 2) * if n % 2 == 0 { 4.0 } else { -4.0 });
        places.filter(|y| (least..=most).contains(y)).find(|y| is_free(*y)).unwrap_or(middle)
    }
}

fn paint_of(arrow: &Arrow) -> Paint {
    if arrow.strong { STRONG } else { ARROW }
}

/// Writes the label of an arrow, below `y`.
fn write(canvas: &mut Canvas, (x, y): (f64, f64), arrow: &Arrow) {
    for (at, line) in arrow.label.iter().enumerate() {
        canvas.text((x, y + (at as f64 + 0.75) * LINE_PX), Anchor::Start, Letters::FAINT, line);
    }
}
