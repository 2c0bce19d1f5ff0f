//! `abz`: a parallel compressor. The modules of [`command`] are its parts.
#![forbid(unsafe_code)]

mod command;

use std::process::ExitCode;
use std::thread;

use command::many_files::limits;
use command::many_files::sandbox::Sandbox;
use command::system::interrupt;
use command::{Console, bench, many_files};

/// The number of bytes of the main thread's stack that are reserved at the start.
const STACK_BYTES: usize = 256 << 10;

/// The stack size in bytes of the thread that replaces the main thread if the stack limit is too low.
const LARGER_STACK_BYTES: usize = 2 << 20;

fn main() -> ExitCode {
    limits::share_heap();
    // Arguments and the environment share the stack, so the limit has to be twice as large.
    if limits::stack() >= 2 * STACK_BYTES as u64 {
        reserve_stack();
        return work();
    }
    let larger = thread::Builder::new().name("abz main".into()).stack_size(LARGER_STACK_BYTES).spawn(work);
    match larger.map(thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(error) => {
            let text =
                "the limit of the stack (ulimit -s) is too low, and no thread with a larger one could start";
            eprintln!("abz: {text}: {error}: raise it to {} or more", 2 * STACK_BYTES / 1024);
            ExitCode::FAILURE
        }
    }
}

/// Runs the command line.
fn work() -> ExitCode {
    interrupt::remove_unfinished_files_without_memory();
    if let Some(went_well) = bench::child::run() {
        return if went_well { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let asked = match command::asked() {
        Ok(asked) => asked,
        Err(status) => return status,
    };
    let mut console = Console::new(&asked);
    if !limits::let_begin(&mut console) {
        return console.exit_code();
    }
    if let Some(sandbox) = Sandbox::of(&asked) {
        sandbox.enter();
    }
    interrupt::remove_unfinished_files_on_signals(asked.maps());

    many_files::run(&asked, &mut console);
    console.exit_code()
}

/// Touches the main thread's stack at the start, so that the system reserves it. Without that, the system ends the
/// program by a signal when a deeper call needs stack that it cannot give, and unfinished files would remain. Other
/// threads have their stacks from the start.
#[inline(never)]
fn reserve_stack() {
    std::hint::black_box(&mut [0u8; STACK_BYTES]);
}
