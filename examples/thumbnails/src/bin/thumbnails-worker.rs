use anabranch_cluster::{Error, Worker};
use thumbnails::functions;

fn main() -> Result<(), Error> {
    Worker::from_env()?.serve(functions())
}
