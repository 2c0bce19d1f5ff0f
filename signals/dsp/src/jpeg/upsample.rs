//! Interpolation of components that are sampled more coarsely. A sample lies a quarter of a step from its nearer
//! neighbour and three quarters from the other, so they have the weights three and one. The rounding alternates, so
//! that it favours no direction.

use super::frame::{Component, Frame};

/// The way in which a component is enlarged to the size of the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// It has that size already.
    Whole,
    /// Interpolated between left and right.
    Across,
    /// Interpolated between above and below.
    Down,
    /// Interpolated in both directions.
    Both,
    /// Each sample is repeated so many times.
    Repeated(usize, usize),
}

/// Makes rows of a component as large as those of the picture.
#[derive(Debug, Clone)]
pub(super) struct Upsampler {
    way: Way,
    /// Samples of a row.
    width: usize,
    /// Sums of two rows.
    sums: Vec<u16>,
}

impl Upsampler {
    pub(super) fn new(frame: &Frame, component: &Component) -> Self {
        let ratio = (frame.across / component.across, frame.down / component.down);
        let is_wide = component.width > 2;
        let way = match ratio {
            (1, 1) => Way::Whole,
            (2, 1) if is_wide => Way::Across,
            (1, 2) => Way::Down,
            (2, 2) if is_wide => Way::Both,
            (across, down) => Way::Repeated(across, down),
        };
        Self { way, width: component.width, sums: Vec::new() }
    }

    /// Returns whether the rows above and below are needed.
    pub(super) fn needs_neighbours(&self) -> bool {
        matches!(self.way, Way::Down | Way::Both)
    }

    /// Returns whether rows stay unchanged.
    pub(super) fn is_whole(&self) -> bool {
        self.way == Way::Whole
    }

    /// Returns the number of rows that are made of one.
    pub(super) fn rows(&self) -> usize {
        match self.way {
            Way::Whole | Way::Across => 1,
            Way::Down | Way::Both => 2,
            Way::Repeated(_, down) => down,
        }
    }

    /// Makes the rows for `row`. `above` and `below` are its neighbours, or itself at the border of the picture. `wide`
    /// has [`rows`](Self::rows) rows of `stride` samples.
    pub(super) fn row(&mut self, [above, row, below]: [&[u8]; 3], wide: &mut [u8], stride: usize) {
        let width = self.width;
        let row = &row[..width];
        match self.way {
            Way::Whole => wide[..width].copy_from_slice(row),
            Way::Across => across(row, &mut wide[..2 * width]),
            Way::Down => {
                for ((wide, far), rounding) in wide.chunks_mut(stride).zip([above, below]).zip([1, 2]) {
                    for ((wide, near), far) in wide.iter_mut().zip(row).zip(&far[..width]) {
                        *wide = ((3 * u16::from(*near) + u16::from(*far) + rounding) >> 2) as u8;
                    }
                }
            }
            Way::Both => {
                self.sums.resize(width, 0);
                for (wide, far) in wide.chunks_mut(stride).zip([above, below]) {
                    for ((sum, near), far) in self.sums.iter_mut().zip(row).zip(&far[..width]) {
                        *sum = 3 * u16::from(*near) + u16::from(*far);
                    }
                    both(&self.sums, &mut wide[..2 * width]);
                }
            }
            Way::Repeated(across, down) => {
                for wide in wide.chunks_mut(stride).take(down) {
                    for (wide, sample) in wide.chunks_exact_mut(across).zip(row) {
                        wide.fill(*sample);
                    }
                }
            }
        }
    }
}

fn across(row: &[u8], wide: &mut [u8]) {
    let count = row.len();
    for (wide, near) in wide.as_chunks_mut::<2>().0[1..count - 1].iter_mut().zip(row.windows(3)) {
        let [left, near, right] = [near[0], near[1], near[2]].map(u16::from);
        *wide = [((3 * near + left + 1) >> 2) as u8, ((3 * near + right + 2) >> 2) as u8];
    }
    let mixed =
        |near: u8, far: u8, rounding: u16| ((3 * u16::from(near) + u16::from(far) + rounding) >> 2) as u8;
    wide[0] = row[0];
    wide[1] = mixed(row[0], row[1], 2);
    wide[2 * count - 2] = mixed(row[count - 1], row[count - 2], 1);
    wide[2 * count - 1] = row[count - 1];
}

/// Does the same for sums of two rows, which are four times as large as a sample.
fn both(sums: &[u16], wide: &mut [u8]) {
    let count = sums.len();
    for (wide, near) in wide.as_chunks_mut::<2>().0[1..count - 1].iter_mut().zip(sums.windows(3)) {
        let [left, near, right] = [near[0], near[1], near[2]];
        *wide = [((3 * near + left + 8) >> 4) as u8, ((3 * near + right + 7) >> 4) as u8];
    }
    let last = count - 1;
    wide[0] = ((4 * sums[0] + 8) >> 4) as u8;
    wide[1] = ((3 * sums[0] + sums[1] + 7) >> 4) as u8;
    wide[2 * last] = ((3 * sums[last] + sums[last - 1] + 8) >> 4) as u8;
    wide[2 * last + 1] = ((4 * sums[last] + 7) >> 4) as u8;
}
