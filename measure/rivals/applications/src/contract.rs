//! The experiments of the contract with each library.

use std::marker::PhantomData;

use measure_programs::contract::{Failure, Subject, System};

use crate::ordered::Ordered;

/// The subject of a library.
pub fn subject<O: Ordered>() -> Subject {
    Subject::of::<Asked<O>>()
}

struct Asked<O>(PhantomData<O>);

impl<O: Ordered> System for Asked<O> {
    const NAME: &'static str = O::NAME;

    fn run(
        source: impl Iterator<Item = u64> + Send + 'static,
        workers: usize,
        stage: impl Fn(u64) -> Result<u64, Failure> + Send + Sync + Copy + 'static,
        mut sink: impl FnMut(u64) -> Result<(), Failure> + Send + 'static,
    ) -> Result<(), Failure> {
        for result in O::try_map(source, workers, stage)? {
            sink(result?)?;
        }
        Ok(())
    }
}
