//! Anabranch's programs for the experiments of the papers, one file each.

mod accelerator;
mod bursts;
mod compression;
mod memory;
mod operations;
mod queue;
mod skew;

use measure_programs::{Kind, Program};

/// Adds the programs of the experiments.
pub fn add(programs: &mut Vec<Program>) {
    programs.push(Program::new("record", Kind::Streams, queue::one_by_one));
    programs.push(Program::new("record-bursts", Kind::Streams, queue::in_bursts));
    programs.push(Program::new("fresh", Kind::Streams, memory::fresh));
    programs.push(Program::new("recycled", Kind::Streams, memory::recycled));
    programs.push(Program::new("arena", Kind::Streams, memory::arena));
    programs.push(Program::new("huge-pages", Kind::Streams, memory::huge_pages));
    programs.push(Program::new("builder", Kind::Streams, operations::run));
    programs.push(Program::new("on-demand", Kind::Streams, skew::on_demand));
    programs.push(Program::new("dealt", Kind::Streams, skew::dealt));
    programs.push(Program::new("builder", Kind::Streams, bursts::run));
    programs.push(Program::new("offload", Kind::Streams, accelerator::offload));
    programs.push(Program::new("builder", Kind::Streams, accelerator::stream));
    programs.push(Program::new("builder", Kind::Streams, compression::run));
}
