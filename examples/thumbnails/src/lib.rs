//! Thumbnails of images: the functions that programs and workers share.

use std::fmt;

use anabranch_cluster::{Functions, Named};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub struct Image {
    pub name: String,
    pub pixels: Bytes,
}

#[derive(Serialize, Deserialize)]
pub struct Thumb {
    pub name: String,
    pub pixels: Bytes,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Empty(pub String);

impl fmt::Display for Empty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has no pixels", self.0)
    }
}

impl std::error::Error for Empty {}

/// The function from an `Image` to its `Thumb`, or to the error `Empty`.
pub const SHRINK: Named<Image, Thumb, Empty> = Named::new("shrink");

pub fn functions() -> Functions {
    Functions::new("thumbnails", env!("CARGO_PKG_VERSION")).function(SHRINK, shrink)
}

fn shrink(image: Image) -> Result<Thumb, Empty> {
    let Image { name, pixels } = image;
    if pixels.is_empty() {
        return Err(Empty(name));
    }
    Ok(Thumb { name, pixels: pixels.iter().copied().step_by(16).collect() })
}
