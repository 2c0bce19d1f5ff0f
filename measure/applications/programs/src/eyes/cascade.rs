//! A cascade of boosted classifiers, as OpenCV keeps it in a file.

use std::str::FromStr;

use roxmltree::{Document, Node as Element};

/// Stages that a part of a picture must pass one after the other to be what is looked for (P. Viola, M. Jones, *Rapid object
/// detection using a boosted cascade of simple features*, 2001).
#[derive(Debug, Clone, PartialEq)]
pub struct Cascade {
    /// The size of the window, in pixels.
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) stages: Vec<Stage>,
    pub(super) features: Vec<Feature>,
}

/// A stage is passed if the values of its trees have at least this sum.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stage {
    pub(super) threshold: f32,
    pub(super) trees: Vec<Tree>,
}

/// A tree of decisions, which begins at its first node and ends at a leaf. A stump has one node.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) leaves: Vec<f32>,
}

/// A decision: to the left if the feature is below the threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Node {
    pub(super) feature: usize,
    pub(super) threshold: f32,
    pub(super) left: Next,
    pub(super) right: Next,
}

/// Where a decision leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Node(usize),
    Leaf(usize),
}

/// The sum of the light in two or three rectangles, each with a weight.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Feature(pub(super) Vec<(Area, f32)>);

/// A rectangle inside of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) width: usize,
    pub(super) height: usize,
}

impl Cascade {
    /// Reads a file of OpenCV's format for boosted cascades of Haar features.
    ///
    /// # Errors
    /// What is not as expected. Features that are rotated by 45 degrees are not supported.
    pub fn parse(xml: &str) -> Result<Self, String> {
        let document = Document::parse(xml).map_err(|error| error.to_string())?;
        let root = child(document.root_element(), "cascade")?;
        for (name, expected) in [("stageType", "BOOST"), ("featureType", "HAAR")] {
            let found = child(root, name)?.text().unwrap_or_default().trim();
            if found != expected {
                return Err(format!("its `{name}` is `{found}` and not `{expected}`"));
            }
        }
        let (width, height) = (number(child(root, "width")?)?, number(child(root, "height")?)?);
        let features: Vec<Feature> =
            entries(child(root, "features")?).map(feature).collect::<Result<_, _>>()?;
        let stages: Vec<Stage> = entries(child(root, "stages")?).map(stage).collect::<Result<_, _>>()?;
        let cascade = Self { width, height, stages, features };
        if cascade.is_sound() { Ok(cascade) } else { Err("a number in it is out of its range".into()) }
    }

    /// Whether all features are inside of the window, and all decisions lead on to something that exists.
    fn is_sound(&self) -> bool {
        let fits = |&(area, _): &(Area, f32)| {
            let Area { x, y, width, height } = area;
            x.saturating_add(width) <= self.width && y.saturating_add(height) <= self.height
        };
        let is_tree = |tree: &Tree| {
            let mut nodes = tree.nodes.iter().enumerate();
            !tree.nodes.is_empty()
                && nodes.all(|(at, node)| {
                    node.feature < self.features.len()
                        && [node.left, node.right].into_iter().all(|next| match next {
                            Next::Node(next) => next > at && next < tree.nodes.len(),
                            Next::Leaf(leaf) => leaf < tree.leaves.len(),
                        })
                })
        };
        (3..=1_000).contains(&self.width)
            && (3..=1_000).contains(&self.height)
            && !self.stages.is_empty()
            && self
                .features
                .iter()
                .all(|feature| (1..=3).contains(&feature.0.len()) && feature.0.iter().all(fits))
            && self.stages.iter().all(|stage| stage.trees.iter().all(is_tree))
    }
}

fn feature(element: Element) -> Result<Feature, String> {
    let tilted = element.children().find(|child| child.has_tag_name("tilted"));
    if tilted.is_some_and(|tilted| tilted.text().unwrap_or_default().trim() != "0") {
        return Err("it has tilted features".into());
    }
    let area = |element| {
        let text = words::<String>(element)?;
        let [x, y, width, height, weight] = &text[..] else {
            return Err(format!("a rectangle has {} numbers", text.len()));
        };
        let [x, y, width, height] = [parsed(x)?, parsed(y)?, parsed(width)?, parsed(height)?];
        Ok((Area { x, y, width, height }, parsed::<f32>(weight)?))
    };
    Ok(Feature(entries(child(element, "rects")?).map(area).collect::<Result<_, String>>()?))
}

fn stage(element: Element) -> Result<Stage, String> {
    // OpenCV reduces the threshold by this, because sums are not exact.
    const EPSILON: f32 = 1e-5;
    let threshold = number::<f32>(child(element, "stageThreshold")?)? - EPSILON;
    let trees = entries(child(element, "weakClassifiers")?).map(tree).collect::<Result<_, _>>()?;
    Ok(Stage { threshold, trees })
}

fn tree(element: Element) -> Result<Tree, String> {
    let text = words::<String>(child(element, "internalNodes")?)?;
    let next = |text: &String| {
        let next: i32 = parsed(text)?;
        let place = next.unsigned_abs() as usize;
        Ok::<_, String>(if next > 0 { Next::Node(place) } else { Next::Leaf(place) })
    };
    let node = |four: &[String]| {
        let [left, right, feature, threshold] = four else { return Err("a node has four numbers".into()) };
        let (left, right) = (next(left)?, next(right)?);
        Ok(Node { feature: parsed(feature)?, threshold: parsed(threshold)?, left, right })
    };
    let nodes = text.chunks(4).map(node).collect::<Result<_, String>>()?;
    Ok(Tree { nodes, leaves: words(child(element, "leafValues")?)? })
}

fn child<'a, 'input>(element: Element<'a, 'input>, name: &str) -> Result<Element<'a, 'input>, String> {
    let mut children = element.children();
    let found = children.find(|child| child.has_tag_name(name));
    found.ok_or_else(|| format!("`{}` has no `{name}`", element.tag_name().name()))
}

/// The entries of a list, which all have the name `_`.
fn entries<'a, 'input: 'a>(element: Element<'a, 'input>) -> impl Iterator<Item = Element<'a, 'input>> {
    element.children().filter(|child| child.has_tag_name("_"))
}

fn words<T: FromStr>(element: Element) -> Result<Vec<T>, String> {
    element.text().unwrap_or_default().split_ascii_whitespace().map(parsed).collect()
}

fn number<T: FromStr>(element: Element) -> Result<T, String> {
    parsed(element.text().unwrap_or_default().trim())
}

fn parsed<T: FromStr>(text: impl AsRef<str>) -> Result<T, String> {
    let text = text.as_ref();
    text.parse().map_err(|_| format!("`{text}` is not the number that is expected there"))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A cascade of a window of 4 by 4 pixels, with a stump and a tree of two nodes.
    pub const TINY: &str = "<?xml version=\"1.0\"?><opencv_storage><cascade type_id=\"opencv-cascade-classifier\">\
        <stageType>BOOST</stageType><featureType>HAAR</featureType><height>4</height><width>4</width><stages>\
        <_><stageThreshold>1.</stageThreshold><weakClassifiers><_><internalNodes>0 -1 0 3.5</internalNodes>\
        <leafValues>0. 2.</leafValues></_></weakClassifiers></_>\
        <_><stageThreshold>5e-01</stageThreshold><weakClassifiers><_><internalNodes>1 0 0 4.5 -1 -2 1 0.</internalNodes>\
        <leafValues>-1. -2. 1.</leafValues></_></weakClassifiers></_></stages>\
        <features><_><rects><_>0 0 4 4 -1.</_><_>2 0 2 4 2.</_></rects><tilted>0</tilted></_>\
        <_><rects><_>0 0 4 1 1.</_><_>0 3 4 1 -1.</_></rects></_></features></cascade></opencv_storage>";

    #[test]
    fn a_file_is_read_as_it_is() {
        let cascade = Cascade::parse(TINY).unwrap();
        let area = |x, y, width, height| Area { x, y, width, height };
        let features = vec![
            Feature(vec![(area(0, 0, 4, 4), -1.0), (area(2, 0, 2, 4), 2.0)]),
            Feature(vec![(area(0, 0, 4, 1), 1.0), (area(0, 3, 4, 1), -1.0)]),
        ];
        let leaf = Next::Leaf;
        let stump = Node { feature: 0, threshold: 3.5, left: leaf(0), right: leaf(1) };
        let first = Node { feature: 0, threshold: 4.5, left: Next::Node(1), right: leaf(0) };
        let second = Node { feature: 1, threshold: 0.0, left: leaf(1), right: leaf(2) };
        let one = Tree { nodes: vec![stump], leaves: vec![0.0, 2.0] };
        let two = Tree { nodes: vec![first, second], leaves: vec![-1.0, -2.0, 1.0] };
        let stage = |threshold, tree| Stage { threshold, trees: vec![tree] };
        let stages = vec![stage(1.0 - 1e-5, one), stage(0.5 - 1e-5, two)];
        assert_eq!(cascade, Cascade { width: 4, height: 4, stages, features });
    }

    #[test]
    fn what_is_not_such_a_cascade_is_an_error() {
        for (from, to, expected) in [
            ("HAAR", "LBP", "its `featureType` is `LBP`"),
            ("<tilted>0", "<tilted>1", "tilted"),
            ("<stages>", "<nothing>", "expected"),
            ("2 0 2 4 2.", "2 0 3 4 2.", "out of its range"),
            ("0 -1 0 3.5", "0 -2 0 3.5", "out of its range"),
            ("0 -1 0 3.5", "0 -1 2 3.5", "out of its range"),
            ("1 0 0 4.5", "2 0 0 4.5", "out of its range"),
            ("0 -1 0 3.5", "0 -1 0", "four numbers"),
            ("2 0 2 4 2.", "2 0 2 4", "a rectangle has 4 numbers"),
            ("0 -1 0 3.5", "0 -1 -1 3.5", "`-1` is not the number"),
            ("<height>4</height>", "", "`cascade` has no `height`"),
        ] {
            assert_ne!(TINY.replace(from, to), TINY);
            let error = Cascade::parse(&TINY.replace(from, to)).unwrap_err();
            assert!(error.contains(expected), "{to}: {error}");
        }
    }
}
