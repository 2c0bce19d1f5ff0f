//! The eye detector of the paper on Rust-SSP (sections 4.1 and 4.2): finds the faces in each frame of a film, and the eyes in
//! each face, and draws both. The frames have no face, one, several, or a number that changes.
//!
//! The detector is an evaluator of OpenCV's cascades, with the same pyramid, windows and groups as its `detectMultiScale`. With
//! real data the cascades are OpenCV's own, and the frames are photographs on which photographs of people are laid. Without them
//! both are drawn: the faces are simple figures, and the cascades are made of what is drawn. So the work is of the same kind, but
//! there are fewer stages and stumps.

mod cascade;
mod detector;
mod drawn;
mod film;
mod grouping;
mod light;
mod observed;
mod sequential;
mod stages;

use crate::data::{EYE, FACE};
use crate::{About, Data, Scale, Workload};

pub use cascade::Cascade;
pub use detector::Detector;
pub use grouping::Rectangle;
pub use light::Light;
pub(crate) use observed::run as observed;
pub use sequential::run as sequential;
pub use stages::{Eyes, Faces, Frame, Grey, draw, eyes, faces, grey};

/// The frames, and the detectors for their width.
#[derive(Debug)]
pub struct Input {
    frames: Vec<Frame>,
    face: Detector,
    eye: Detector,
}

/// How many faces a film has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cast {
    None,
    One,
    Several,
    /// One of the others, and after a while another.
    Mixed,
}

impl Cast {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "one" => Self::One,
            "mixed" => Self::Mixed,
            "several" => Self::Several,
            "none" => Self::None,
            _ => return None,
        })
    }

    /// Who is in a frame of the film.
    fn at(self, frame: usize) -> Self {
        match self {
            Self::Mixed => [Self::One, Self::None, Self::Several][frame / 50 % 3],
            other => other,
        }
    }
}

/// How many frames a film has. A run takes some of them, which are spread over the whole film.
const FILM: usize = 450;

/// The size of the frames, and one of how many frames is taken.
fn sizes(scale: Scale) -> (usize, usize, usize) {
    scale.choose((160, 90, 50), (320, 180, 50), (640, 360, 30))
}

impl Workload for Input {
    const ABOUT: About = About {
        name: "eyes",
        what: "finds the faces in the frames of a film and the eyes in each face by cascades, and draws both",
        item: "a frame of 640x360 (320x180 with --quick)",
        unit: "frames",
        workloads: &["one", "mixed", "several", "none"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        let (cast, (width, height, step)) = (Cast::named(name)?, sizes(scale));
        let frames =
            (0..FILM).step_by(step).map(|number| drawn::frame(cast.at(number), number, width, height));
        let (face, eye) = drawn::cascades();
        Some(Self::of(frames.collect(), &face, &eye))
    }

    fn read(name: &str, scale: Scale, data: &Data) -> Option<Result<Self, String>> {
        let (cast, (width, height, step)) = (Cast::named(name)?, sizes(scale));
        let cascade = |file| {
            let xml = data.text(file)?;
            Cascade::parse(&xml).map_err(|what| data.problem(file, &format!("it is no cascade: {what}")))
        };
        let made = || {
            let film = film::Film::read(data, width, height)?;
            let frames = (0..FILM).step_by(step).map(|number| film.frame(cast.at(number), number));
            Ok(Self::of(frames.collect(), &cascade(FACE)?, &cascade(EYE)?))
        };
        Some(made())
    }

    fn amount(&self) -> f64 {
        self.frames.len() as f64
    }
}

impl Input {
    fn of(frames: Vec<Frame>, face: &Cascade, eye: &Cascade) -> Self {
        let widest = frames.iter().map(|frame| frame.width).max().unwrap_or(0);
        Self { face: Detector::new(face, widest), eye: Detector::new(eye, widest), frames }
    }

    /// The source: the frames. Each is a copy, as if it had been read from a film.
    pub fn frames(&self) -> impl Iterator<Item = Frame> + Send {
        self.frames.iter().cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_faces_are_found_as_are_drawn() {
        for (name, expected) in [("none", [0; 3]), ("one", [1; 3]), ("several", [3; 3]), ("mixed", [1, 0, 3])]
        {
            let input = Input::generate(name, Scale::Quick).unwrap();
            // Frames of the first, the second and the third part of a mixed film.
            let found: Vec<Eyes> =
                input.frames().take(3).map(|frame| eyes(&input, faces(&input, grey(frame)))).collect();
            let counts: Vec<usize> = found.iter().map(|found| found.faces().len()).collect();
            assert_eq!(counts, expected, "{name}");
            for found in &found {
                assert_eq!(found.eyes().len(), 2 * found.faces().len(), "{name}: {found:?}");
            }
        }
    }
}
