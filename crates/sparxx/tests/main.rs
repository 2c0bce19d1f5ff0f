//! The translator: what it refuses, what it gives, and what the program does.

mod command;
mod compiler;
mod examples;
mod misuses;
mod programs;
mod translation;
