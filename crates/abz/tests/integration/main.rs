//! The program `abz` and its library, checked from outside: all tests are one program, which is linked once.

mod archive;
mod bad_inputs;
mod bzip2;
mod checks;
mod command;
mod corrupted;
mod descriptors;
mod faults;
mod index;
mod interop;
mod interruptions;
mod legacy;
mod lzip;
mod memory;
mod names;
mod outputs;
mod progress;
mod range;
mod readers;
mod recover;
mod reports;
mod support;
mod tar_forms;
mod ways;
mod xz;
mod zstd;
