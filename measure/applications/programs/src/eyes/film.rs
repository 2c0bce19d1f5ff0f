//! A film of photographs. A photograph without faces is the background, and photographs of people are laid on it, which move.

use super::{Cast, FILM, Frame};
use crate::data::{NO_FACE, ONE_FACE, SEVERAL_FACES};
use crate::{Data, Picture};

/// The photographs of the film, in the sizes in which they are shown.
#[derive(Debug)]
pub(super) struct Film {
    backgrounds: Vec<Picture>,
    portraits: Vec<Picture>,
    groups: Vec<Picture>,
}

/// How often the photographs change in a film.
const CHANGES: usize = 9;

impl Film {
    /// # Errors
    /// If a photograph is missing or cannot be read.
    pub(super) fn read(data: &Data, width: usize, height: usize) -> Result<Self, String> {
        let few = 16;
        Ok(Self {
            backgrounds: data.pictures(NO_FACE, few, |one| one.cover(width, height))?,
            portraits: data.pictures(ONE_FACE, few, |one| one.inside(width / 2, height * 9 / 10))?,
            groups: data.pictures(SEVERAL_FACES, few, |one| one.inside(width * 9 / 10, height * 9 / 10))?,
        })
    }

    /// A frame of the film.
    pub(super) fn frame(&self, cast: Cast, number: usize) -> Frame {
        let of = |all: &[Picture]| number * CHANGES / FILM % all.len();
        let mut frame = self.backgrounds[of(&self.backgrounds)].clone();
        let shown = match cast {
            Cast::None | Cast::Mixed => return frame,
            Cast::One => &self.portraits[of(&self.portraits)],
            Cast::Several => &self.groups[of(&self.groups)],
        };
        let (across, down) = (frame.width - shown.width, frame.height - shown.height);
        frame.lay(shown, across * swing(number, 60) / 60, down * swing(number, 90) / 90);
        frame
    }
}

/// Goes from 0 to `end` and back, by one with each frame.
pub(super) fn swing(number: usize, end: usize) -> usize {
    end.abs_diff(number % (2 * end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(width: usize, height: usize, shade: u8) -> Picture {
        Picture { width, height, pixels: vec![[shade; 3]; width * height] }
    }

    #[test]
    fn those_of_the_cast_are_in_the_frame() {
        let film = Film {
            backgrounds: vec![plain(8, 6, 1), plain(8, 6, 2)],
            portraits: vec![plain(2, 3, 10)],
            groups: vec![plain(4, 6, 20), plain(8, 1, 21)],
        };
        let count = |cast, number, shade| {
            film.frame(cast, number).pixels.iter().filter(|pixel| pixel[0] == shade).count()
        };
        assert_eq!([count(Cast::None, 0, 1), count(Cast::None, 50, 2), count(Cast::None, 449, 1)], [48; 3]);
        for number in 0..FILM {
            let second = number / 50 % 2 == 1;
            assert_eq!(count(Cast::One, number, 10), 6);
            assert_eq!(
                count(Cast::Several, number, if second { 21 } else { 20 }),
                if second { 8 } else { 24 }
            );
        }
    }

    #[test]
    fn a_swing_goes_there_and_back() {
        assert_eq!((0..9).map(|number| swing(number, 3)).collect::<Vec<_>>(), [3, 2, 1, 0, 1, 2, 3, 2, 1]);
    }
}
