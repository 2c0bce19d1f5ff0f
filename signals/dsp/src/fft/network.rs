//! The network of processes.

use std::ops::ControlFlow::{Break, Continue};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use anabranch_network::{Horizon, Network, Reader, Writer};

use crate::slices::Joined;
use crate::{Error, Result, Run};

use super::kernels::{Cut, Whole, order};
use super::samples::{Source, Target};
use super::{Complex, Shape, Split};

/// The number of samples that a record holds for each of its views. A worker that is woken then has work for longer
/// than the wake-up took.
const SAMPLES: usize = 32_768;
/// The least number of bursts that a record holds for each of its views: 16 MiB for the largest blocks.
const LEAST_BURSTS: usize = 2;

pub(super) fn transform(
    mut source: Source<'_>,
    mut target: Target<'_, '_>,
    shape: &Shape,
    run: &Run,
) -> Result<()> {
    let copies = shape.copies_on(run.workers());
    let burst = shape.size * shape.burst;
    // The last burst may have fewer blocks. It is filled with zeros, and the end of the network leaves these
    // out. The number of blocks is stored before that burst is committed, so the end sees it in time.
    let blocks = AtomicU64::new(u64::MAX);
    let mut net = Network::new();
    let mut lay = Lay { net: &mut net, run, copies, burst };

    let (give, takes) = lay.spread("samples");
    let meter = run.meters().stage("read");
    let (mut joined, mut total, mut is_over, stored) = (Joined::new(), 0, false, &blocks);
    lay.net.rule("read", (), give.produces(burst), move |(), samples| {
        if is_over {
            return Ok(Break(()));
        }
        let mut read = Ok(0);
        joined.write(samples, |samples| read = meter.time(|| source.fill(samples)));
        let read = read?;
        total += read as u64;
        if read < shape.burst {
            is_over = true;
            stored.store(total, Relaxed);
        }
        Ok(if read == 0 { Break(()) } else { Continue(()) })
    });

    let take = match shape.split {
        Split::Data => {
            let whole = Whole::new(shape.size);
            let (gives, take) = lay.gather("spectrum");
            lay.stages("transform", takes, gives, || {
                let mut whole = whole.clone();
                move |from, to| whole.transform(from, to)
            });
            take
        }
        Split::Pipeline | Split::Both => {
            let cut = Cut::new(shape.size);
            let (gives, to_rows) = lay.links("columns");
            lay.stages("columns", takes, gives, || {
                let mut columns = cut.columns();
                move |from, to| columns.transform(from, to)
            });
            let (gives, to_order) = lay.links("rows");
            lay.stages("rows", to_rows, gives, || {
                let mut rows = cut.rows();
                move |from, to| rows.transform(from, to)
            });
            let (gives, take) = lay.gather("spectrum");
            let (rows, columns) = (cut.rows, cut.columns);
            lay.stages("order", to_order, gives, || move |from, to| order(from, to, rows, columns));
            take
        }
    };

    let meter = run.meters().stage("write");
    let (mut joined, mut written, stored) = (Joined::new(), 0, &blocks);
    lay.net.rule("write", take.consumes(burst), (), move |spectrum, ()| {
        let left = stored.load(Relaxed).saturating_sub(written).min(shape.burst as u64);
        written += left;
        let mut put = Ok(());
        joined.read(spectrum, |spectrum| {
            put = meter.time(|| target.put(&spectrum[..left as usize * shape.size]));
        });
        put
    });
    run.network(net)
}

impl Shape {
    /// Returns the number of bursts that the record before a stage holds, if the stage has this number of copies.
    pub fn bursts_held(&self, copies: usize) -> usize {
        (SAMPLES / self.samples()).max(LEAST_BURSTS) * copies
    }
}

/// A builder of records between the stages of a network, all of which have the same number of copies.
struct Lay<'n, 'env> {
    net: &'n mut Network<'env, Error>,
    run: &'n Run,
    copies: usize,
    burst: usize,
}

impl<'env> Lay<'_, 'env> {
    fn horizon(&self) -> usize {
        self.burst * (SAMPLES / self.burst).max(LEAST_BURSTS)
    }

    /// Adds a record from one process to the copies of a stage, which take turns.
    fn spread(&mut self, name: &str) -> (Writer<Complex>, Vec<Reader<Complex>>) {
        let horizon = Horizon::of(self.horizon() * self.copies).named(name);
        if self.copies == 1 {
            let (give, take) = self.net.record(horizon);
            return (give, vec![take]);
        }
        self.net.deal(horizon, self.copies, self.burst)
    }

    /// Adds a record from the copies of a stage, which take turns, to one process.
    fn gather(&mut self, name: &str) -> (Vec<Writer<Complex>>, Reader<Complex>) {
        let horizon = Horizon::of(self.horizon() * self.copies).named(name);
        if self.copies == 1 {
            let (give, take) = self.net.record(horizon);
            return (vec![give], take);
        }
        self.net.merge(horizon, self.copies, self.burst)
    }

    /// Adds a record from each copy of a stage to the same copy of the next one.
    fn links(&mut self, name: &str) -> (Vec<Writer<Complex>>, Vec<Reader<Complex>>) {
        let horizon = Horizon::of(self.horizon()).named(name);
        (0..self.copies).map(|_| self.net.record(horizon.clone())).unzip()
    }

    /// Adds the copies of a stage. `make` makes the code of each copy.
    fn stages<F: FnMut(&[Complex], &mut [Complex]) + Send + 'env>(
        &mut self,
        name: &str,
        takes: Vec<Reader<Complex>>,
        gives: Vec<Writer<Complex>>,
        make: impl Fn() -> F,
    ) {
        for (take, give) in takes.into_iter().zip(gives) {
            let (mut code, meter) = (make(), self.run.meters().stage(name));
            let (mut before, mut after) = (Joined::new(), Joined::new());
            self.net.rule(name, take.consumes(self.burst), give.produces(self.burst), move |from, to| {
                before.read(from, |from| after.write(to, |to| meter.time(|| code(from, to))));
                Ok(())
            });
        }
    }
}
