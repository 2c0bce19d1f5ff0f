//! Anabranch's programs for the experiments of the papers, one file each.

mod accelerator;
mod bursts;
mod compression;
mod memory;
mod operations;
mod queue;
mod skew;

use measure_programs::Program;

/// Adds the programs of the experiments.
pub fn add(programs: &mut Vec<Program>) {
    programs.push(Program::new("record", queue::one_by_one));
    programs.push(Program::new("record-bursts", queue::in_bursts));
    programs.push(Program::new("fresh", memory::fresh));
    programs.push(Program::new("recycled", memory::recycled));
    programs.push(Program::new("arena", memory::arena));
    programs.push(Program::new("huge-pages", memory::huge_pages));
    programs.push(Program::new("builder", operations::run));
    programs.push(Program::new("on-demand", skew::on_demand));
    programs.push(Program::new("dealt", skew::dealt));
    programs.push(Program::new("builder", bursts::run));
    programs.push(Program::new("offload", accelerator::offload));
    programs.push(Program::new("builder", accelerator::stream));
    programs.push(Program::new("builder", compression::run));
}
