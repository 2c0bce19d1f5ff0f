//! Pictures in shades of grey.

use super::Rectangle;
use super::grouping::round;
use crate::Picture;

/// A picture in shades of grey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Light {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) pixels: Vec<u8>,
}

impl Light {
    /// The brightness of each pixel, by ITU-R BT.601 in 15 bits.
    pub(super) fn of(picture: &Picture) -> Self {
        let brightness = |&[red, green, blue]: &[u8; 3]| {
            ((9_798 * u32::from(red) + 19_235 * u32::from(green) + 3_735 * u32::from(blue) + (1 << 14)) >> 15)
                as u8
        };
        let pixels = picture.pixels.iter().map(brightness).collect();
        Self { width: picture.width, height: picture.height, pixels }
    }

    /// Spreads the shades, so that each range of them has about as many pixels: OpenCV's `equalizeHist`.
    pub(super) fn equalised(mut self) -> Self {
        let mut counts = [0u32; 256];
        self.pixels.iter().for_each(|&shade| counts[usize::from(shade)] += 1);
        let darkest = counts.iter().position(|&count| count > 0).unwrap_or(0);
        let others = self.pixels.len() as u32 - counts[darkest];
        if others == 0 {
            return self;
        }
        let scale = 255.0 / others as f32;
        let (mut sum, mut shades) = (0, [0; 256]);
        for shade in darkest + 1..256 {
            sum += counts[shade];
            shades[shade] = round(f64::from(sum as f32 * scale)).min(255) as u8;
        }
        self.pixels.iter_mut().for_each(|shade| *shade = shades[usize::from(*shade)]);
        self
    }

    /// A rectangle of the picture, as far as it is inside.
    pub(super) fn part(&self, rectangle: Rectangle) -> Self {
        let clamped = |from: i32, length: i32, most: usize| {
            let most = most as i32;
            let begin = from.clamp(0, most);
            (begin as usize, (from + length).clamp(begin, most) as usize)
        };
        let (left, right) = clamped(rectangle.x, rectangle.width, self.width);
        let (top, bottom) = clamped(rectangle.y, rectangle.height, self.height);
        let rows = self.pixels.chunks_exact(self.width).take(bottom).skip(top);
        let pixels = rows.flat_map(|row| &row[left..right]).copied().collect();
        Self { width: right - left, height: bottom - top, pixels }
    }

    /// Scales to this size between the four nearest pixels, in 256ths: OpenCV's `INTER_LINEAR_EXACT`.
    pub(super) fn scaled_to(&self, width: usize, height: usize, into: &mut Vec<u8>) {
        into.clear();
        let columns = steps(self.width, width);
        let mut rows: [(usize, Vec<u32>); 2] = [(usize::MAX, Vec::new()), (usize::MAX, Vec::new())];
        for (above, below, down) in steps(self.height, height) {
            // Each row of the picture is interpolated once, because rows come in their order.
            if rows[0].0 != above {
                rows.swap(0, 1);
            }
            for (slot, row) in [(0, above), (1, below)] {
                if rows[slot].0 != row {
                    let from = &self.pixels[row * self.width..][..self.width];
                    let between = |&(left, right, across): &(usize, usize, u32)| {
                        u32::from(from[left]) * (256 - across) + u32::from(from[right]) * across
                    };
                    rows[slot].0 = row;
                    rows[slot].1.clear();
                    rows[slot].1.extend(columns.iter().map(between));
                }
            }
            let [(_, above), (_, below)] = &rows;
            let between = |(above, below): (&u32, &u32)| {
                ((above * (256 - down) + below * down + (1 << 15)) >> 16) as u8
            };
            into.extend(above.iter().zip(below).map(between));
        }
    }
}

/// For each of `to` places: the two of `from` places between which its middle lies, and how far it is from the first to the
/// second, in 256ths.
fn steps(from: usize, to: usize) -> Vec<(usize, usize, u32)> {
    let scale = from as f64 / to as f64;
    let step = |at: usize| {
        let place = (scale * (at as f64 + 0.5) - 0.5).clamp(0.0, (from - 1) as f64);
        let first = place as usize;
        (first, (first + 1).min(from - 1), round((place - first as f64) * 256.0) as u32)
    };
    (0..to).map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn light(width: usize, pixels: &[u8]) -> Light {
        Light { width, height: pixels.len() / width, pixels: pixels.to_vec() }
    }

    #[test]
    fn brightness_is_mostly_green() {
        let picture =
            Picture { width: 4, height: 1, pixels: vec![[255; 3], [255, 0, 0], [0, 255, 0], [0, 0, 255]] };
        assert_eq!(Light::of(&picture).pixels, [255, 76, 150, 29]);
    }

    #[test]
    fn shades_are_spread() {
        // Two of four are the darkest; the others are at one half and at all of the rest.
        assert_eq!(light(4, &[10, 20, 10, 30]).equalised().pixels, [0, 128, 0, 255]);
        assert_eq!(light(2, &[7, 7]).equalised().pixels, [7, 7]);
    }

    #[test]
    fn a_smaller_picture_is_between_the_pixels() {
        let scaled = |from: &Light, width, height| {
            let mut into = vec![1];
            from.scaled_to(width, height, &mut into);
            into
        };
        // The places are 0.25 and 1.75.
        assert_eq!(scaled(&light(3, &[0, 100, 200]), 2, 1), [25, 175]);
        assert_eq!(scaled(&light(1, &[0, 100, 200]), 1, 2), [25, 175]);
        let same = light(2, &[1, 2, 3, 4]);
        assert_eq!(scaled(&same, 2, 2), same.pixels);
    }

    #[test]
    fn a_part_ends_where_the_picture_ends() {
        let part =
            |x, y, width, height| light(3, &[1, 2, 3, 4, 5, 6]).part(Rectangle { x, y, width, height });
        assert_eq!(part(1, 0, 2, 2), light(2, &[2, 3, 5, 6]));
        assert_eq!(part(2, 1, 5, 5), light(1, &[6]));
        assert_eq!(part(-1, -1, 2, 2), light(1, &[1]));
        assert!(part(9, 9, 1, 1).pixels.is_empty());
    }
}
