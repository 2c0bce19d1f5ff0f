//! Programs with many short pipelines. They show how much compile time one pipeline takes.

/// The programs, and how many pipelines each has. The difference in compile time of two programs of one
/// library, over the difference of these numbers, is the time that one pipeline adds.
pub const SOURCES: [(&str, Library, usize); 5] = [
    ("anabranch1", Library::Anabranch, 1),
    ("anabranch21", Library::Anabranch, 21),
    ("rayon1", Library::Rayon, 1),
    ("rayon21", Library::Rayon, 21),
    ("stages120", Library::Anabranch, STAGES / 3),
];

/// The number of stages of the last program, three in each pipeline.
pub const STAGES: usize = 120;

/// The library whose pipelines a program has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Library {
    Anabranch,
    Rayon,
}

/// A program whose `main` calls each of its pipelines. Each pipeline is a function with three stages and an
/// end.
pub fn source(library: Library, pipelines: usize) -> String {
    let one = |number: usize| {
        let body = match library {
            Library::Anabranch => format!(
                "    let mut sum = {number}u64;\n    \
                 anabranch::Stream::from_iter(items.iter().copied())\n        \
                 .map(|n| n.wrapping_mul({number}7) ^ 5)\n        \
                 .serial_map(move |n| {{\n            sum = sum.wrapping_add(n);\n            sum\n        }})\n        \
                 .map(|n| (n, n.rotate_left({number})))\n        \
                 .fold({number}u64, |all, (n, m)| all.wrapping_mul(31).wrapping_add(n ^ m))\n"
            ),
            Library::Rayon => format!(
                "    use rayon::prelude::*;\n    \
                 items.par_iter().copied()\n        \
                 .map(|n| n.wrapping_mul({number}7) ^ 5)\n        \
                 .filter(|n| n % {} != 0)\n        \
                 .map(|n| (n, n.rotate_left({number})))\n        \
                 .map(|(n, m)| n ^ m)\n        \
                 .reduce(|| {number}u64, |all, n| all.wrapping_add(n))\n",
                number + 3
            ),
        };
        format!("fn pipeline{number}(items: &[u64]) -> u64 {{\n{body}}}\n\n")
    };
    let functions: String = (0..pipelines).map(one).collect();
    let calls: String =
        (0..pipelines).map(|number| format!("    all ^= pipeline{number}(&items);\n")).collect();
    format!(
        "{functions}fn main() {{\n    let items: Vec<u64> = (0..100).collect();\n    let mut all = 0u64;\n\
         {calls}    println!(\"{{all}}\");\n}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::{Library, STAGES, source};

    #[test]
    fn a_program_has_as_many_stages_as_it_says() {
        let text = source(Library::Anabranch, STAGES / 3);
        assert_eq!(text.matches(".map(").count() + text.matches(".serial_map(").count(), STAGES);
        assert!(!source(Library::Rayon, 2).contains("anabranch"));
    }
}
