//! Tests of the translator: its errors, its translations, and the program.

mod command;
mod compiler;
mod examples;
mod misuses;
mod preprocessor;
mod programs;
mod translation;
