//! The chapters of the guide, so that each block of code is a test: `cargo test -p anabranch-book`.

/// Writes a module for a chapter, whose text is its documentation.
macro_rules! chapters {
    ($($name:ident $file:literal)*) => {
        $(
            #[doc = include_str!($file)]
            pub mod $name {}
        )*
    };
}

chapters! {
    your_loop "src/your-loop.md"
    programs "src/programs.md"
    parts "src/parts.md"
    leaving "src/leaving.md"
    state "src/state.md"
    builder "src/builder.md"
    branches "src/branches.md"
    services "src/services.md"
    compressed_files "src/compressed-files.md"
    cluster "src/cluster.md"
    events "src/events.md"
    windows "src/windows.md"
    networks "src/networks.md"
    radio "src/radio.md"
    reading "src/reading.md"
    six_steps "src/six-steps.md"
    rayon "src/rayon.md"
    moving_over "src/moving-over.md"
    from_spar "src/from-spar.md"
    from_cpp "src/from-cpp.md"
}
