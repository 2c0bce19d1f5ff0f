//! Pictures of real data, as they are in portable pixmaps and graymaps.

/// A picture with a red, a green and a blue byte for each pixel, row after row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// In pixels, at least 1.
    pub width: usize,
    /// In pixels, at least 1.
    pub height: usize,
    /// As many as the width times the height.
    pub pixels: Vec<[u8; 3]>,
}

impl Picture {
    /// Reads a binary portable pixmap (`P6`) or graymap (`P5`) with one byte a sample (netpbm, *ppm* and *pgm*). `None` if
    /// it is not one, or is too short.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let mut word = || {
            let begin = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
            let length = rest[begin..].iter().position(u8::is_ascii_whitespace)?;
            let word = std::str::from_utf8(&rest[begin..begin + length]).ok()?;
            // One space separates the last word from the samples.
            rest = &rest[begin + length + 1..];
            Some(word)
        };
        let samples = match word()? {
            "P6" => 3,
            "P5" => 1,
            _ => return None,
        };
        let (width, height): (usize, usize) = (word()?.parse().ok()?, word()?.parse().ok()?);
        if word()? != "255" || width == 0 || height == 0 {
            return None;
        }
        let data = rest.get(..width.checked_mul(height)?.checked_mul(samples)?)?;
        let pixel = |sample: &[u8]| {
            if let [red, green, blue] = *sample { [red, green, blue] } else { [sample[0]; 3] }
        };
        Some(Self { width, height, pixels: data.chunks_exact(samples).map(pixel).collect() })
    }

    /// All bytes of the picture.
    pub fn bytes(&self) -> &[u8] {
        self.pixels.as_flattened()
    }

    /// The middle of the picture with the proportions of `width` to `height`, scaled to that size.
    pub fn cover(&self, width: usize, height: usize) -> Self {
        let across = (self.height * width / height).clamp(1, self.width);
        let down = (self.width * height / width).clamp(1, self.height);
        self.part((self.width - across) / 2, (self.height - down) / 2, across, down).scaled(width, height)
    }

    /// The whole picture, scaled so that it fits into `width` by `height` pixels.
    pub fn inside(&self, width: usize, height: usize) -> Self {
        let across = (self.width * height / self.height).clamp(1, width);
        let down = (self.height * across / self.width).clamp(1, height);
        self.scaled(across, down)
    }

    /// A rectangle of the picture, whose upper left corner is at `x`, `y`.
    ///
    /// # Panics
    /// If it is not inside.
    pub fn part(&self, x: usize, y: usize, width: usize, height: usize) -> Self {
        let rows = self.pixels.chunks_exact(self.width).skip(y).take(height);
        Self { width, height, pixels: rows.flat_map(|row| &row[x..x + width]).copied().collect() }
    }

    /// The picture in another size. It is halved as often as possible, and then interpolated in whole numbers.
    pub fn scaled(&self, width: usize, height: usize) -> Self {
        if self.width >= 2 * width && self.height >= 2 * height {
            return self.halved().scaled(width, height);
        }
        let columns = steps(self.width, width);
        let mut pixels = Vec::with_capacity(width * height);
        for (above, below, down) in steps(self.height, height) {
            for &(left, right, across) in &columns {
                let at = |x: usize, y: usize| self.pixels[y * self.width + x];
                let corners = [at(left, above), at(right, above), at(left, below), at(right, below)];
                let weights = [
                    (256 - across) * (256 - down),
                    across * (256 - down),
                    (256 - across) * down,
                    across * down,
                ];
                pixels.push(std::array::from_fn(|band| {
                    let sum: u32 = corners
                        .iter()
                        .zip(weights)
                        .map(|(pixel, weight)| u32::from(pixel[band]) * weight)
                        .sum();
                    ((sum + (1 << 15)) >> 16) as u8
                }));
            }
        }
        Self { width, height, pixels }
    }

    /// Half of the size in both directions: each pixel is the mean of four.
    fn halved(&self) -> Self {
        let (width, height) = (self.width / 2, self.height / 2);
        let pixel = |at: usize| {
            let from = at / width * 2 * self.width + at % width * 2;
            let four = [from, from + 1, from + self.width, from + self.width + 1];
            std::array::from_fn(|band| {
                let sum: u32 = four.iter().map(|&at| u32::from(self.pixels[at][band])).sum();
                ((sum + 2) / 4) as u8
            })
        };
        Self { width, height, pixels: (0..width * height).map(pixel).collect() }
    }

    /// Lays another picture on this one, with its upper left corner at `x`, `y`. What is outside is cut off.
    pub fn lay(&mut self, other: &Self, x: usize, y: usize) {
        let x = x.min(self.width);
        let length = other.width.min(self.width - x);
        let rows = self.pixels.chunks_exact_mut(self.width).skip(y);
        for (row, from) in rows.zip(other.pixels.chunks_exact(other.width)) {
            row[x..x + length].copy_from_slice(&from[..length]);
        }
    }
}

/// For each of `to` places: the two places among `from` between which its middle lies, and how far it is from the first to the
/// second, in 256ths.
fn steps(from: usize, to: usize) -> Vec<(usize, usize, u32)> {
    let step = |at: usize| {
        let place = (((2 * at + 1) * from * 128) / to).saturating_sub(128).min((from - 1) * 256);
        (place / 256, (place / 256 + 1).min(from - 1), (place % 256) as u32)
    };
    (0..to).map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey(width: usize, rows: &[u8]) -> Picture {
        Picture { width, height: rows.len() / width, pixels: rows.iter().map(|&light| [light; 3]).collect() }
    }

    #[test]
    fn pixmaps_and_graymaps_are_read() {
        let picture = Picture::parse(b"P6\n2 1\n255\n\x01\x02\x03\n \xFF").unwrap();
        assert_eq!(picture, Picture { width: 2, height: 1, pixels: vec![[1, 2, 3], [10, 32, 255]] });
        assert_eq!(Picture::parse(b"P5 1 2 255 ab"), Some(grey(1, b"ab")));
        for wrong in
            [&b"P6 2 1 255 abcde"[..], b"P5 0 1 255 ", b"P5 1 1 65535 ab", b"P4 1 1 255 a", b"P5", b""]
        {
            assert_eq!(Picture::parse(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_picture_is_scaled_by_means_and_between_neighbours() {
        let picture = grey(4, &[0, 4, 8, 12, 4, 8, 12, 16]);
        assert_eq!(picture.scaled(2, 1), grey(2, &[4, 12]));
        assert_eq!(grey(2, &[0, 100]).scaled(4, 1), grey(4, &[0, 25, 75, 100]));
        assert_eq!(picture.scaled(4, 2), picture);
    }

    #[test]
    fn the_middle_is_kept_or_all_of_it() {
        let picture = grey(4, &[1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(picture.cover(2, 2), grey(2, &[2, 3, 6, 7]));
        assert_eq!(picture.inside(4, 4), picture);
        assert_eq!(picture.inside(2, 2), grey(2, &[4, 6]));
        let mut under = picture.clone();
        under.lay(&grey(2, &[0, 0, 0, 0]), 3, 1);
        assert_eq!(under, grey(4, &[1, 2, 3, 4, 5, 6, 7, 0]));
    }
}
