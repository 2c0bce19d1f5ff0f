//! A variant of an application, as something that can be run.

use crate::{
    Data, GENERATED, Output, Probe, Scale, Workload, bunzip2, bzip2, dedup, experiments, eyes, farm, fastq,
    files, gzip, images, lanes, log, lunzip, lzip, matmul, micro, order, radio, similarity, sink, words,
};

/// A program with its data.
#[allow(missing_debug_implementations)] // it is a closure
pub struct Prepared {
    /// How much there is to do, in the unit of the application.
    pub amount: f64,
    /// The real data that it has, or that they are generated.
    pub data: String,
    /// Runs once with this number of workers, and writes to the output.
    pub run: Box<dyn Fn(usize, Output) -> Output>,
}

type Prepare = Box<dyn Fn(&str, Scale, Option<&Data>) -> Result<Option<Prepared>, String>>;

/// The data of a workload, which live as long as the process, because some libraries borrow nothing shorter.
fn leaked<W: Workload>(name: &str, scale: Scale, data: Option<&Data>) -> Result<Option<&'static W>, String> {
    let input = W::prepare(name, scale, data)?;
    Ok(input.map(|input| &*Box::leak(Box::new(input))))
}

/// What was read of the real data.
fn used(data: Option<&Data>) -> String {
    data.map_or_else(|| GENERATED.into(), Data::used)
}

/// A variant of an application.
#[allow(missing_debug_implementations)] // it is a closure
pub struct Program {
    /// The name of the application.
    pub application: &'static str,
    /// The name of the variant.
    pub variant: &'static str,
    prepare: Prepare,
}

impl Program {
    /// A variant that `run` runs. Its second argument is the number of workers.
    pub fn new<W: Workload>(
        variant: &'static str,
        run: impl Fn(&'static W, usize, Output) -> Output + Copy + 'static,
    ) -> Self {
        let prepare = move |name: &str, scale, data: Option<&Data>| {
            let Some(input) = leaked::<W>(name, scale, data)? else { return Ok(None) };
            Ok(Some(Prepared {
                amount: input.amount(),
                data: used(data),
                run: Box::new(move |workers, output| run(input, workers, output)),
            }))
        };
        Self { application: W::ABOUT.name, variant, prepare: Box::new(prepare) }
    }

    /// Makes the data of a workload. `None` if the application has no such workload.
    ///
    /// # Errors
    /// If a file of the real data is missing or cannot be read.
    pub fn prepare(
        &self,
        workload: &str,
        scale: Scale,
        data: Option<&Data>,
    ) -> Result<Option<Prepared>, String> {
        (self.prepare)(workload, scale, data)
    }
}

/// The sequential programs.
pub fn sequential() -> Vec<Program> {
    fn of<W: Workload>(run: fn(&'static W, usize, Output) -> Output) -> Program {
        Program::new("sequential", run)
    }
    vec![
        of(micro::sequential),
        of(images::sequential),
        of(bzip2::sequential),
        of(dedup::sequential),
        of(log::sequential),
        of(fastq::sequential),
        of(gzip::sequential),
        of(lzip::sequential),
        of(similarity::sequential),
        of(matmul::sequential),
        of(farm::sequential),
        of(bunzip2::sequential),
        of(lunzip::sequential),
        of(files::sequential),
        of(words::sequential),
        of(lanes::sequential),
        of(eyes::sequential),
        of(radio::sequential),
        of(sink::sequential),
        of(order::sequential),
        of(experiments::queue::sequential),
        of(experiments::memory::sequential),
        of(experiments::operations::sequential),
        of(experiments::skew::sequential),
        of(experiments::bursts::sequential),
        of(experiments::accelerator::sequential),
        of(experiments::compression::sequential),
    ]
}

type Observe = Box<dyn Fn(&str, Scale, Option<&Data>) -> Result<Option<(Probe, String)>, String>>;

/// A sequential program whose stages are measured.
#[allow(missing_debug_implementations)] // it is a closure
pub struct Observed {
    /// The name of the application.
    pub application: &'static str,
    observe: Observe,
}

impl Observed {
    fn of<W: Workload>(run: fn(&'static W, Output, &mut Probe) -> Output) -> Self {
        let observe = move |name: &str, scale, data: Option<&Data>| {
            let Some(input) = leaked::<W>(name, scale, data)? else { return Ok(None) };
            // The first run warms up.
            run(input, Output::begin(), &mut Probe::default());
            let mut probe = Probe::default();
            run(input, Output::begin(), &mut probe);
            Ok(Some((probe, used(data))))
        };
        Self { application: W::ABOUT.name, observe: Box::new(observe) }
    }

    /// Runs a workload, and says which data it has. `None` if the application has no such workload.
    ///
    /// # Errors
    /// If a file of the real data is missing or cannot be read.
    pub fn run(
        &self,
        workload: &str,
        scale: Scale,
        data: Option<&Data>,
    ) -> Result<Option<(Probe, String)>, String> {
        (self.observe)(workload, scale, data)
    }
}

/// The sequential programs with their stages measured.
pub fn observed() -> Vec<Observed> {
    vec![
        Observed::of(micro::observed),
        Observed::of(images::observed),
        Observed::of(bzip2::observed),
        Observed::of(bunzip2::observed),
        Observed::of(files::observed),
        Observed::of(dedup::observed),
        Observed::of(log::observed),
        Observed::of(fastq::observed),
        Observed::of(gzip::observed),
        Observed::of(lzip::observed),
        Observed::of(lunzip::observed),
        Observed::of(words::observed),
        Observed::of(lanes::observed),
        Observed::of(eyes::observed),
        Observed::of(radio::observed),
        Observed::of(similarity::observed),
        Observed::of(matmul::observed),
        Observed::of(farm::observed),
        Observed::of(sink::observed),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::APPLICATIONS;

    #[test]
    fn the_measured_loops_write_what_the_plain_loops_write() {
        fn same<W: Workload>(
            plain: fn(&'static W, usize, Output) -> Output,
            measured: fn(&'static W, Output, &mut Probe) -> Output,
        ) {
            let name = W::ABOUT.workloads[0];
            let input: &'static W = Box::leak(Box::new(W::generate(name, Scale::Tiny).expect("a workload")));
            let hash = plain(input, 1, Output::begin()).hash();
            let mut probe = Probe::default();
            assert_eq!(measured(input, Output::begin(), &mut probe).hash(), hash, "{}", W::ABOUT.name);
            let items = probe.stages()[0].items;
            assert!(items > 0 && probe.stages().len() > 1, "{}", W::ABOUT.name);
        }
        same(micro::sequential, micro::observed);
        same(images::sequential, images::observed);
        same(bzip2::sequential, bzip2::observed);
        same(bunzip2::sequential, bunzip2::observed);
        same(files::sequential, files::observed);
        same(dedup::sequential, dedup::observed);
        same(log::sequential, log::observed);
        same(fastq::sequential, fastq::observed);
        same(gzip::sequential, gzip::observed);
        same(lzip::sequential, lzip::observed);
        same(lunzip::sequential, lunzip::observed);
        same(words::sequential, words::observed);
        same(lanes::sequential, lanes::observed);
        same(eyes::sequential, eyes::observed);
        same(radio::sequential, radio::observed);
        same(similarity::sequential, similarity::observed);
        same(matmul::sequential, matmul::observed);
        same(farm::sequential, farm::observed);
        same(sink::sequential, sink::observed);
    }

    #[test]
    fn every_application_is_measured_stage_by_stage() {
        let all = observed();
        assert!(APPLICATIONS.iter().all(|about| all.iter().any(|one| one.application == about.name)));
    }
}
