//! The four parallel stages.

use super::{Input, Light, Rectangle};
use crate::Picture;

/// A frame of the film.
pub type Frame = Picture;

/// Faces are at least so wide and high, in pixels.
const LEAST_FACE: usize = 30;

/// A frame and its shades.
#[derive(Debug)]
pub struct Grey {
    frame: Frame,
    light: Light,
}

/// The first stage: the shades of a frame, spread evenly.
pub fn grey(frame: Frame) -> Grey {
    Grey { light: Light::of(&frame).equalised(), frame }
}

/// A frame and its faces.
#[derive(Debug)]
pub struct Faces {
    grey: Grey,
    faces: Vec<Rectangle>,
}

/// The second stage: finds the faces.
pub fn faces(input: &Input, grey: Grey) -> Faces {
    Faces { faces: input.face.detect(&grey.light, LEAST_FACE), grey }
}

/// A frame with its faces and their eyes.
#[derive(Debug)]
pub struct Eyes {
    frame: Frame,
    faces: Vec<Rectangle>,
    eyes: Vec<Rectangle>,
}

impl Eyes {
    /// The faces.
    pub fn faces(&self) -> &[Rectangle] {
        &self.faces
    }

    /// The eyes of all faces.
    pub fn eyes(&self) -> &[Rectangle] {
        &self.eyes
    }
}

/// The third stage: finds the eyes in each face.
pub fn eyes(input: &Input, Faces { grey: Grey { frame, light }, faces }: Faces) -> Eyes {
    let of_face = |face: &Rectangle| {
        let eyes = input.eye.detect(&light.part(*face), 0);
        let (x, y) = (face.x.max(0), face.y.max(0));
        eyes.into_iter().map(move |eye| Rectangle { x: x + eye.x, y: y + eye.y, ..eye })
    };
    let eyes = faces.iter().flat_map(of_face).collect();
    Eyes { frame, faces, eyes }
}

/// The fourth stage: draws a frame around each face and around each eye.
pub fn draw(Eyes { mut frame, faces, eyes }: Eyes) -> Frame {
    const OF_FACES: [u8; 3] = [255, 0, 255];
    const OF_EYES: [u8; 3] = [255, 255, 0];
    faces.iter().for_each(|&face| outline(&mut frame, face, OF_FACES));
    eyes.iter().for_each(|&eye| outline(&mut frame, eye, OF_EYES));
    frame
}

/// Draws the outline of a rectangle, two pixels wide, as far as it is inside of the frame.
fn outline(frame: &mut Frame, Rectangle { x, y, width, height }: Rectangle, colour: [u8; 3]) {
    for row in y.max(0)..(y + height).min(frame.height as i32) {
        let is_edge = row < y + 2 || row >= y + height - 2;
        for column in x.max(0)..(x + width).min(frame.width as i32) {
            if is_edge || column < x + 2 || column >= x + width - 2 {
                frame.pixels[row as usize * frame.width + column as usize] = colour;
            }
        }
    }
}

impl Grey {
    /// The size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.frame.bytes().len() + self.light.pixels.len()
    }
}

impl Faces {
    /// The size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.grey.bytes() + size_of_val(&self.faces[..])
    }
}

impl Eyes {
    /// The size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.frame.bytes().len() + size_of_val(&self.faces[..]) + size_of_val(&self.eyes[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_is_two_pixels_wide_and_ends_at_the_border() {
        let mut frame = Picture { width: 6, height: 5, pixels: vec![[0; 3]; 30] };
        outline(&mut frame, Rectangle { x: -1, y: 0, width: 6, height: 6 }, [1; 3]);
        let drawn: String = frame.pixels.iter().map(|pixel| if pixel[0] == 1 { '#' } else { '.' }).collect();
        assert_eq!(drawn, "#####.#####.#..##.#..##.#####.");
    }
}
