//! Looks for what a cascade describes, at all places and in all sizes of a picture: OpenCV's `detectMultiScale`.

use super::cascade::{Cascade, Next};
use super::grouping::{grouped, round};
use super::{Light, Rectangle};

/// Each size of the window is so many times the one before.
const FACTOR: f64 = 1.1;
/// As many similar windows and more must be found.
const NEIGHBOURS: usize = 3;
/// Windows whose light varies less, in shades, are not looked at.
const LEAST_DEVIATION: f32 = 10.0;

/// A cascade, with the places of its features in the sums of a picture.
#[derive(Debug)]
pub struct Detector {
    width: usize,
    height: usize,
    /// How many sums there are in a row, whatever the width of the picture is. So features have the same places in each size.
    stride: usize,
    stages: Vec<Stage>,
    trees: Vec<Tree>,
    nodes: Vec<Node>,
    leaves: Vec<f64>,
}

#[derive(Debug)]
struct Stage {
    threshold: f64,
    /// The number of its trees, which follow those of the stage before.
    trees: usize,
}

/// Where the nodes and the leaves of a tree begin.
#[derive(Debug)]
struct Tree {
    node: u32,
    leaf: u32,
}

#[derive(Debug)]
struct Node {
    threshold: f32,
    /// The number of a node of the tree, or the complement of the number of a leaf.
    left: i32,
    right: i32,
    /// For each rectangle the places of its corners, and its weight. A third one that is missing has the weight 0.
    areas: [([u32; 4], f32); 3],
}

/// The sum of the light, and of its squares, above and to the left of each corner of a pixel.
#[derive(Debug, Default)]
struct Sums {
    light: Vec<i32>,
    /// These overflow, but the differences of neighbours do not.
    squares: Vec<u32>,
}

/// How far a window has come.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    /// The light varies too little.
    Flat,
    /// It has failed in the stage of this number.
    Failed(usize),
    Found,
}

impl Detector {
    /// Prepares a cascade for pictures of at most this width.
    pub fn new(cascade: &Cascade, widest: usize) -> Self {
        let Cascade { width, height, .. } = *cascade;
        let stride = widest + 1;
        let mut all =
            Self { width, height, stride, stages: vec![], trees: vec![], nodes: vec![], leaves: vec![] };
        let number = |next| match next {
            Next::Node(node) => node as i32,
            Next::Leaf(leaf) => !(leaf as i32),
        };
        for stage in &cascade.stages {
            all.stages.push(Stage { threshold: f64::from(stage.threshold), trees: stage.trees.len() });
            for tree in &stage.trees {
                all.trees.push(Tree { node: all.nodes.len() as u32, leaf: all.leaves.len() as u32 });
                all.leaves.extend(tree.leaves.iter().map(|&leaf| f64::from(leaf)));
                for node in &tree.nodes {
                    let mut areas = [([0; 4], 0.0); 3];
                    for (into, &(area, weight)) in areas.iter_mut().zip(&cascade.features[node.feature].0) {
                        *into = (corners(stride, area.x, area.y, area.width, area.height), weight);
                    }
                    let (left, right) = (number(node.left), number(node.right));
                    all.nodes.push(Node { threshold: node.threshold, left, right, areas });
                }
            }
        }
        all
    }

    /// The places where the cascade finds something that is at least `least` pixels wide and high, in the order of rectangles.
    ///
    /// # Panics
    /// If the picture is wider than the widest one that was expected.
    pub fn detect(&self, picture: &Light, least: usize) -> Vec<Rectangle> {
        assert!(picture.width < self.stride, "a picture of {} pixels is too wide", picture.width);
        let (mut found, mut scaled, mut sums) = (Vec::new(), Vec::new(), Sums::default());
        let mut factor = 1.0;
        loop {
            let side = |side: usize| round(side as f64 * factor);
            let (width, height) = (side(self.width), side(self.height));
            if width as usize > picture.width || height as usize > picture.height {
                break;
            }
            if width as usize >= least && height as usize >= least {
                let scale = factor as f32;
                let smaller = |side: usize| round(f64::from(side as f32 / scale)) as usize;
                let size = (smaller(picture.width), smaller(picture.height));
                picture.scaled_to(size.0, size.1, &mut scaled);
                sums.fill(&scaled, size.0, self.stride);
                self.scan(&sums, size, scale, |x, y| {
                    let place = |at: usize| round(f64::from(at as f32 * scale));
                    found.push(Rectangle { x: place(x), y: place(y), width, height });
                });
            }
            factor *= FACTOR;
        }
        grouped(&found, NEIGHBOURS)
    }

    /// Tries the window at all places of a picture of one size: at every second one while it is small.
    fn scan(
        &self,
        sums: &Sums,
        (width, height): (usize, usize),
        scale: f32,
        mut found: impl FnMut(usize, usize),
    ) {
        let step = if scale >= 2.0 { 1 } else { 2 };
        for y in (0..(height + 1).saturating_sub(self.height)).step_by(step) {
            let mut x = 0;
            while x + self.width <= width {
                match self.test(sums, y * self.stride + x) {
                    Outcome::Found => found(x, y),
                    // What fails so early is not nearly found next to it.
                    Outcome::Failed(0) => x += step,
                    Outcome::Failed(_) | Outcome::Flat => {}
                }
                x += step;
            }
        }
    }

    /// Tries the window at one place of the sums.
    fn test(&self, sums: &Sums, at: usize) -> Outcome {
        let (width, height) = (self.width - 2, self.height - 2);
        let inner = corners(self.stride, 1, 1, width, height);
        let area = (width * height) as f64;
        let sum = f64::from(sum(&sums.light[at..], &inner));
        let [a, b, c, d] = inner.map(|corner| sums.squares[at + corner as usize]);
        let squares = f64::from(a.wrapping_sub(b).wrapping_sub(c).wrapping_add(d));
        let variance = area * squares - sum * sum;
        if variance <= 0.0 {
            return Outcome::Flat;
        }
        let norm = (1.0 / variance.sqrt()) as f32;
        if area * f64::from(norm) >= f64::from(1.0 / LEAST_DEVIATION) {
            return Outcome::Flat;
        }
        let light = &sums.light[at..];
        let mut trees = self.trees.iter();
        for (number, stage) in self.stages.iter().enumerate() {
            let value: f64 = trees.by_ref().take(stage.trees).map(|tree| self.value(tree, light, norm)).sum();
            if value < stage.threshold {
                return Outcome::Failed(number);
            }
        }
        Outcome::Found
    }

    /// The value of the leaf to which a tree leads.
    fn value(&self, tree: &Tree, light: &[i32], norm: f32) -> f64 {
        let nodes = &self.nodes[tree.node as usize..];
        let mut at = 0;
        loop {
            let node = &nodes[at];
            let [first, second, third] = &node.areas;
            let weighed = |(corners, weight): &([u32; 4], f32)| weight * sum(light, corners) as f32;
            let mut value = weighed(first) + weighed(second);
            if third.1 != 0.0 {
                value += weighed(third);
            }
            let next = if value * norm < node.threshold { node.left } else { node.right };
            if next < 0 {
                return self.leaves[tree.leaf as usize + !next as usize];
            }
            at = next as usize;
        }
    }
}

/// The places of the corners of a rectangle relative to the place of the window.
fn corners(stride: usize, x: usize, y: usize, width: usize, height: usize) -> [u32; 4] {
    let above = y * stride + x;
    let below = above + height * stride;
    [above, above + width, below, below + width].map(|corner| corner as u32)
}

/// The sum of the light in a rectangle.
fn sum(light: &[i32], &[a, b, c, d]: &[u32; 4]) -> i32 {
    let at = |corner: u32| light[corner as usize];
    at(a) - at(b) - at(c) + at(d)
}

impl Sums {
    fn fill(&mut self, pixels: &[u8], width: usize, stride: usize) {
        let rows = pixels.len() / width + 1;
        self.light.clear();
        self.light.resize(rows * stride, 0);
        self.squares.clear();
        self.squares.resize(rows * stride, 0);
        for (y, row) in pixels.chunks_exact(width).enumerate() {
            let (mut light, mut squares) = (0, 0u32);
            let (above, below) = (y * stride + 1, (y + 1) * stride + 1);
            for (x, &pixel) in row.iter().enumerate() {
                light += i32::from(pixel);
                squares = squares.wrapping_add(u32::from(pixel) * u32::from(pixel));
                self.light[below + x] = self.light[above + x] + light;
                self.squares[below + x] = self.squares[above + x].wrapping_add(squares);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cascade::tests::TINY;
    use super::*;

    /// The tiny cascade with other thresholds of its first stump and of the root of its tree.
    fn detector(stump: &str, root: &str) -> Detector {
        let xml = TINY.replace("0 -1 0 3.5", stump).replace("1 0 0 4.5", root);
        Detector::new(&Cascade::parse(&xml).unwrap(), 16)
    }

    fn tested(detector: &Detector, pixels: &[u8], at: usize) -> Outcome {
        let mut sums = Sums::default();
        sums.fill(pixels, 4, detector.stride);
        detector.test(&sums, at)
    }

    /// Two dark columns and two columns of 200. The pixels inside of the window are 0 and 200, twice: the sum of 4 is 400 and
    /// that of the squares 80,000, so the deviation times 4 is sqrt(4 * 80,000 - 400 * 400) = 400. The first feature is twice the
    /// light on the right, 1,600, less all light, 1,600, divided by it: 1,600 / 400 = 4.
    const EDGE: [u8; 16] = [0, 0, 200, 200, 0, 0, 200, 200, 0, 0, 200, 200, 0, 0, 200, 200];

    #[test]
    fn a_feature_is_the_difference_of_light_by_its_deviation() {
        // Above 4 fails the first stage. The tree goes to its second node below 4.5, whose feature is 0 and has the leaf 1.
        assert_eq!(tested(&detector("0 -1 0 4.001", "1 0 0 4.5"), &EDGE, 0), Outcome::Failed(0));
        assert_eq!(tested(&detector("0 -1 0 3.999", "1 0 0 4.5"), &EDGE, 0), Outcome::Found);
        // At its root it goes to the right, to the leaf -1, from 4 on.
        assert_eq!(tested(&detector("0 -1 0 3.999", "1 0 0 3.999"), &EDGE, 0), Outcome::Failed(1));
        // A first row that is darker than the last makes the second feature negative: the leaf -2.
        let mut darker = EDGE;
        darker[2..4].fill(190);
        assert_eq!(tested(&detector("0 -1 0 3.5", "1 0 0 4.5"), &darker, 0), Outcome::Failed(1));
    }

    #[test]
    fn what_has_nearly_one_shade_is_flat() {
        let tiny = detector("0 -1 0 3.5", "1 0 0 4.5");
        assert_eq!(tested(&tiny, &[9; 16], 0), Outcome::Flat);
        // The deviation is half of the difference: 9.5 and 10.5 shades.
        assert_eq!(tested(&tiny, &EDGE.map(|light| light / 200 * 19), 0), Outcome::Flat);
        assert_eq!(tested(&tiny, &EDGE.map(|light| light / 200 * 21), 0), Outcome::Found);
    }

    #[test]
    fn a_scan_finds_the_places_where_the_window_fits() {
        // A bright band with black on its left: the window fits where half of it is black. Windows before that are black, so
        // none of them fails and makes the scan skip a place.
        let (width, height) = (16, 8);
        let shade = |at: usize| match at % width {
            0..=5 => 0,
            6 | 7 => 200,
            _ => 100,
        };
        let picture = Light { width, height, pixels: (0..width * height).map(shade).collect() };
        let tiny = detector("0 -1 0 3.5", "1 0 0 4.5");
        let mut found = Vec::new();
        let mut sums = Sums::default();
        sums.fill(&picture.pixels, width, tiny.stride);
        tiny.scan(&sums, (width, height), 1.0, |x, y| found.push((x, y)));
        assert_eq!(found, [(4, 0), (4, 2), (4, 4)]);
        found.clear();
        tiny.scan(&sums, (width, height), 2.0, |x, y| found.push((x, y)));
        assert_eq!(found, [(4, 0), (4, 1), (4, 2), (4, 3), (4, 4)]);
        assert!(tiny.detect(&picture, 17).is_empty());
    }
}
