//! The loop with annotations.

use measure_programs::contract::{Failure, System};

/// See above.
pub struct Annotations;

impl System for Annotations {
    const NAME: &'static str = "annotations";

    #[anabranch::stream]
    fn run(
        source: impl Iterator<Item = u64> + Send + 'static,
        workers: usize,
        stage: impl Fn(u64) -> Result<u64, Failure> + Send + Sync + Copy + 'static,
        mut sink: impl FnMut(u64) -> Result<(), Failure> + Send + 'static,
    ) -> Result<(), Failure> {
        #[to_stream(workers = workers)]
        for item in source {
            #[stage(replicate)]
            let result = stage(item)?;
            sink(result)?;
        }
        Ok(())
    }
}
