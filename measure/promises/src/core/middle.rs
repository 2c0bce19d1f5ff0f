//! A serial stage of 10 us between two parallel stages of 5 us, compared with the speed of the serial stage
//! alone.

use anabranch::Stream;

use super::{Setup, nanos};
use measure_harness::rounds::{Ceiling, Contender, measure};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::{Digest, Running, Work};

const WORKERS: [usize; 2] = [2, 4];

pub fn rows(setup: &Setup) -> Vec<Row> {
    let serial = setup.works.us_10;
    // An item takes 20 us in all, so two cores are just enough to keep the serial stage busy.
    let items = serial.items(setup.plain / 2.0);
    let ceiling = Ceiling { work: serial, items: 2 * items };
    let shape = Shape { serial, around: serial.half(), items };
    let expected = shape.plain();
    let alone = Contender::timed("the serial stage alone", serial.fold(0..items), || serial.fold(0..items));
    let with =
        |workers: usize| Contender::timed(format!("{workers} workers"), expected, move || shape.run(workers));
    let contenders = [alone].into_iter().chain(WORKERS.map(with)).collect();
    let rounds = measure(setup.budget, Some(ceiling), contenders);
    let row = |at: usize, target: f64| {
        let what = format!(
            "serial stage of 10 us between 5 us and 5 us, {} workers: share of its rate",
            WORKERS[at]
        );
        Row::new("middle", what, (Target::AtLeast(target), Unit::Percent), &rounds, |rounds| {
            let each = nanos(rounds.median(|round| round.samples[1 + at]), items) / 1e3;
            let alone = nanos(rounds.median(|round| round.samples[0]), items) / 1e3;
            let two = rounds.median(|round| 100.0 * round.samples[0] / round.two());
            (
                rounds.summary(|round| 100.0 * round.samples[0] / round.samples[1 + at]),
                format!(
                    "{each:.2} us an item, the stage alone {alone:.2}; two plain threads with all of the work \
                     reach {two:.1} %"
                ),
            )
        })
    };
    vec![row(0, 92.0), row(1, 86.0)]
}

#[derive(Debug, Clone, Copy)]
struct Shape {
    serial: Work,
    around: Work,
    items: u64,
}

impl Shape {
    fn plain(self) -> Digest {
        let mut running = Running::default();
        (0..self.items)
            .map(|item| self.around.run(item))
            .map(|item| self.serial.run(running.next(item)))
            .map(|item| self.around.run(item))
            .fold(Digest::EMPTY, Digest::with)
    }

    fn run(self, workers: usize) -> Digest {
        let mut running = Running::default();
        Stream::from_iter(0..self.items)
            .workers(workers)
            .map(|item| self.around.run(item))
            .serial_map(|item| self.serial.run(running.next(item)))
            .map(|item| self.around.run(item))
            .fold(Digest::EMPTY, Digest::with)
    }
}
