//! All variants, and where each of them is.

/// The variant that all others must agree with.
pub const SEQUENTIAL: &str = "sequential";

/// The program that has a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// This program.
    Own,
    /// `rivals/`, a workspace of its own.
    Rivals,
    /// The variants `ssp` with the original library, of which `--rust-ssp` names a checkout.
    Original,
    /// A program in C++ of `cpp/`.
    Cpp,
}

/// Whose a variant is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Plain,
    Anabranch,
    Rival,
}

/// A variant.
#[derive(Debug, Clone, Copy)]
pub struct System {
    pub name: &'static str,
    pub home: Home,
    pub side: Side,
    pub what: &'static str,
}

/// All variants.
pub const ALL: [System; 23] = [
    plain(SEQUENTIAL, Home::Own, "the plain loop"),
    own("builder", Home::Own, "Anabranch's builder"),
    own("annotations", Home::Own, "Anabranch's annotations on the loop"),
    own("ssp", Home::Own, "Anabranch's form of Rust-SSP's macros"),
    own(
        "dealt",
        Home::Own,
        "annotations in the form of Listing 2 of the SPar paper: each worker has the items of its number",
    ),
    own(
        "network",
        Home::Own,
        "a network of processes of the crate dsp, whose records the filters see a window of",
    ),
    rival("rayon", Home::Rivals, "collects, maps in parallel, and collects"),
    rival("orx", Home::Rivals, "orx-parallel: an iterator in parallel, collected"),
    rival("pariter", Home::Rivals, "an ordered parallel map on an iterator"),
    rival("par-stream", Home::Rivals, "an ordered parallel map on an asynchronous stream"),
    rival(
        "pipeliner",
        Home::Rivals,
        "an ordered parallel map on an iterator; the rival of the Rust-SSP paper",
    ),
    rival("crossbeam", Home::Rivals, "channels of crossbeam and a buffer that restores the order"),
    rival("threads", Home::Rivals, "threads and channels of the standard library"),
    rival("tokio", Home::Rivals, "a task for each item, taken in order"),
    rival("rust-ssp", Home::Original, "the original Rust-SSP, with the source of the variant ssp"),
    plain("cpp-sequential", Home::Cpp, "the plain loop in C++"),
    own("cpp-builder", Home::Cpp, "Anabranch's builder in C++"),
    own("cpp-annotated", Home::Cpp, "SPar's annotations in C++, compiled by spar++"),
    rival("tbb", Home::Cpp, "oneTBB's parallel_pipeline"),
    rival("taskflow", Home::Cpp, "Taskflow's Pipeline"),
    rival("openmp", Home::Cpp, "OpenMP tasks with dependences"),
    rival("fastflow-spinning", Home::Cpp, "FastFlow's ordered farm as it is by default: its threads spin"),
    rival("fastflow", Home::Cpp, "FastFlow's ordered farm, whose threads block when they wait"),
];

const fn plain(name: &'static str, home: Home, what: &'static str) -> System {
    System { name, home, side: Side::Plain, what }
}

const fn own(name: &'static str, home: Home, what: &'static str) -> System {
    System { name, home, side: Side::Anabranch, what }
}

const fn rival(name: &'static str, home: Home, what: &'static str) -> System {
    System { name, home, side: Side::Rival, what }
}

/// The applications that the programs in C++ have.
const IN_CPP: [&str; 4] = ["micro", "matmul", "farm", "sink"];

fn of(variant: &str) -> Option<&'static System> {
    ALL.iter().find(|system| system.name == variant)
}

/// Where a variant is.
pub fn home(variant: &str) -> Home {
    of(variant).map_or(Home::Own, |system| system.home)
}

/// Whose a variant is.
pub fn side(variant: &str) -> Side {
    of(variant).map_or(Side::Plain, |system| system.side)
}

/// The variants that give no result before all are there.
const COLLECTS: [&str; 3] = ["rayon", "orx", "dealt"];

/// Whether a variant gives results as they come, in bounded memory as far as its library bounds it.
pub fn streams(variant: &str) -> bool {
    !COLLECTS.contains(&variant)
}

/// The variants that can give up the order of the results, and then do it in another way.
const GIVE_UP_ORDER: [&str; 12] = [
    "builder",
    "annotations",
    "ssp",
    "orx",
    "par-stream",
    "pipeliner",
    "crossbeam",
    "threads",
    "tokio",
    "rust-ssp",
    "tbb",
    "fastflow",
];

/// Whether a variant has a form in which the order is kept and one in which it is not.
pub fn gives_up_order(variant: &str) -> bool {
    GIVE_UP_ORDER.contains(&variant)
}

/// Whether a variant runs any loop, so that the contract can be examined: these two are forms of one application.
pub fn runs_any_loop(variant: &str) -> bool {
    !["dealt", "network"].contains(&variant)
}

/// Whether a variant has an application.
pub fn measures(variant: &str, application: &str) -> bool {
    match home(variant) {
        Home::Cpp => IN_CPP.contains(&application),
        // Its serial stage in the middle needs the order, which the original keeps in the last stage only.
        Home::Original => application != "dedup",
        Home::Own if variant == "dealt" => application == "lunzip",
        Home::Own if variant == "network" => application == "radio",
        Home::Own | Home::Rivals => true,
    }
}
