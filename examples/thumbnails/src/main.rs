use std::error::Error;
use std::{env, fs};

use anabranch::TryStream;
use anabranch_cluster::{Cluster, prelude::*};
use thumbnails::{Image, SHRINK, Thumb, functions};

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let cluster = Cluster::from_env()?;
    let shrink = cluster.function(&functions(), SHRINK)?;
    let names: Vec<String> = env::args().skip(1).collect();
    let images = names.into_iter().map(|name| {
        let pixels = fs::read(&name)?.into();
        Ok::<_, Failure>(Image { name, pixels })
    });
    TryStream::try_from_iter(images)
        .window(32) // at most 32 images are under way
        .map_remote(&shrink)
        .try_for_each(|Thumb { name, pixels }| Ok(fs::write(name + ".thumb", pixels)?))
}
