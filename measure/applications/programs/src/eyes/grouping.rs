//! Rectangles that are found, and those that stay when similar ones are joined.

/// A rectangle in a picture, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rectangle {
    /// The left edge.
    pub x: i32,
    /// The upper edge.
    pub y: i32,
    /// The width.
    pub width: i32,
    /// The height.
    pub height: i32,
}

/// How far rectangles may differ, relative to their size.
const FAR: f64 = 0.2;

impl Rectangle {
    fn edges(self) -> [i32; 4] {
        [self.x, self.y, self.x + self.width, self.y + self.height]
    }

    fn is_like(self, other: Self) -> bool {
        let far = FAR * f64::from(self.width.min(other.width) + self.height.min(other.height)) * 0.5;
        self.edges().iter().zip(other.edges()).all(|(one, other)| f64::from((one - other).abs()) <= far)
    }

    fn is_inside(self, other: Self) -> bool {
        let (across, down) = (round(f64::from(other.width) * FAR), round(f64::from(other.height) * FAR));
        let ([left, top, right, bottom], around) = (self.edges(), other.edges());
        left >= around[0] - across
            && top >= around[1] - down
            && right <= around[2] + across
            && bottom <= around[3] + down
    }
}

/// To the nearest whole number, and from the middle to the even one.
pub(super) fn round(number: f64) -> i32 {
    number.round_ties_even() as i32
}

/// Joins rectangles that are alike, directly or through others, to their mean. A mean of `neighbours` or fewer is dropped, and so
/// is a mean inside of another one that more rectangles have made. These are the rules of OpenCV's `groupRectangles`; the order
/// is that of the rectangles.
pub(super) fn grouped(found: &[Rectangle], neighbours: usize) -> Vec<Rectangle> {
    let mut group: Vec<usize> = (0..found.len()).collect();
    for at in 0..found.len() {
        for before in 0..at {
            if group[before] != group[at] && found[at].is_like(found[before]) {
                let (from, to) = (group[at].max(group[before]), group[at].min(group[before]));
                group.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
            }
        }
    }
    let mut means = Vec::new();
    for number in 0..found.len() {
        let members: Vec<Rectangle> =
            found.iter().zip(&group).filter(|(_, of)| **of == number).map(|(one, _)| *one).collect();
        if members.len() <= neighbours {
            continue;
        }
        let share = 1.0 / members.len() as f32;
        let mean = |of: fn(&Rectangle) -> i32| {
            let sum: i32 = members.iter().map(of).sum();
            round(f64::from(sum as f32 * share))
        };
        let (x, y) = (mean(|one| one.x), mean(|one| one.y));
        let (width, height) = (mean(|one| one.width), mean(|one| one.height));
        means.push((Rectangle { x, y, width, height }, members.len()));
    }
    let is_part = |at: usize| {
        let (one, count) = means[at];
        let around = |(other, (rectangle, more)): (usize, &(Rectangle, usize))| {
            other != at && one.is_inside(*rectangle) && (*more > count.max(3) || count < 3)
        };
        means.iter().enumerate().any(around)
    };
    let mut left: Vec<Rectangle> =
        (0..means.len()).filter(|&at| !is_part(at)).map(|at| means[at].0).collect();
    left.sort_unstable();
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(x: i32, y: i32, side: i32) -> Rectangle {
        Rectangle { x, y, width: side, height: side }
    }

    #[test]
    fn rectangles_that_are_alike_become_their_mean() {
        // Each is 2 pixels from the next, and the most that counts as alike is 4. The first and the last are joined by others.
        let found = [square(0, 0, 20), square(6, 0, 20), square(2, 0, 20), square(4, 1, 20)];
        assert_eq!(grouped(&found, 3), [square(3, 0, 20)]);
        assert_eq!(grouped(&found, 4), []);
        let apart = [square(0, 0, 20), square(5, 0, 20)];
        assert_eq!(grouped(&apart, 0), apart);
        assert_eq!(grouped(&[], 0), []);
    }

    #[test]
    fn a_rectangle_inside_of_a_stronger_one_is_dropped() {
        let many = |one: Rectangle, times| vec![one; times];
        let (outer, inner) = (square(0, 0, 60), square(20, 20, 20));
        let found = |of_outer, of_inner| grouped(&[many(outer, of_outer), many(inner, of_inner)].concat(), 2);
        assert_eq!(found(5, 3), [outer]);
        assert_eq!(found(4, 4), [outer, inner]);
        assert_eq!(found(3, 5), [outer, inner], "the larger one is not inside of the smaller one");
    }
}
