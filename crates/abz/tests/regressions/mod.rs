//! Faults that were reported, each as a test that is named by what was wrong. The comment says where it was reported. Generators
//! find these faults, too; the cases here are the shortest ones.

mod damage;
mod outputs;
mod zstd;
