//! The form of Listing 2 of the SPar paper: the stream has the numbers of the workers, and each decompresses the members of its
//! number. So nothing is written before all of them are decompressed.

use measure_programs::Output;
use measure_programs::lunzip::{Input, decompress};

/// Runs with this many workers.
#[anabranch::stream]
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut dealt = Vec::new();
    #[to_stream(workers = workers)]
    for worker in 0..workers {
        #[stage(replicate)]
        let blocks: Vec<_> =
            (worker..input.len()).step_by(workers).map(|index| decompress(input.member(index))).collect();
        dealt.push(blocks);
    }
    for index in 0..input.len() {
        output.write(&dealt[index % workers][index / workers]);
    }
    output
}
