//! Four places from which the buffers of items come.

use std::sync::Mutex;

use anabranch::{Recycler, Stream};
use bytes::BytesMut;
use measure_programs::Output;
use measure_programs::experiments::memory::{Input, WINDOW, fill, read};
use memmap2::{Advice, MmapMut};

/// How many buffers an arena has.
const ARENA_BUFFERS: usize = 16;
/// The size of a huge page of x86-64 and of ARM with 4 KiB pages, in bytes.
const HUGE_PAGE: usize = 2 << 20;

/// The allocator gives each buffer to a worker, and the sink frees it.
pub fn fresh(input: &'static Input, workers: usize, mut output: Output) -> Output {
    Stream::from_iter(0..input.items)
        .window(WINDOW)
        .workers(workers)
        .map(|item| {
            let mut buffer = vec![0; input.bytes];
            fill(item, &mut buffer);
            buffer
        })
        .for_each(|buffer| read(&mut output, &buffer));
    output
}

/// All workers take buffers from one recycler, and the sink gives them back.
pub fn recycled(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let buffers = Recycler::new(WINDOW, || vec![0; input.bytes]);
    Stream::from_iter(0..input.items)
        .window(WINDOW)
        .workers(workers)
        .map(|item| {
            let mut buffer = buffers.take();
            fill(item, &mut buffer);
            buffer
        })
        .for_each(|buffer| read(&mut output, &buffer));
    output
}

/// Each worker cuts buffers from an arena of its own, which is used again when the sink has dropped all of them.
pub fn arena(input: &'static Input, workers: usize, mut output: Output) -> Output {
    Stream::from_iter(0..input.items)
        .window(WINDOW)
        .workers(workers)
        .map_init(BytesMut::new, |arena, item| {
            if arena.capacity() < input.bytes {
                // Takes the old memory if nobody uses it any more.
                arena.reserve(ARENA_BUFFERS * input.bytes);
            }
            arena.resize(input.bytes, 0);
            fill(item, arena);
            arena.split().freeze()
        })
        .for_each(|buffer| read(&mut output, &buffer));
    output
}

/// As `recycled`, with buffers that lie in one region, for which the system is asked for huge pages.
pub fn huge_pages(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let size = (WINDOW * input.bytes).next_multiple_of(HUGE_PAGE);
    let mut region = MmapMut::map_anon(size).expect("memory for the buffers");
    // A system without huge pages says no, and then the pages are small ones. The report says whether it has them.
    #[cfg(target_os = "linux")]
    let _ = region.advise(Advice::HugePage);
    let buffers = Mutex::new(region.chunks_exact_mut(input.bytes).collect::<Vec<_>>());
    Stream::from_iter(0..input.items)
        .window(WINDOW)
        .workers(workers)
        .map(|item| {
            let buffer = buffers.lock().expect("nobody panics").pop();
            let buffer = buffer.expect("there are as many buffers as items inside");
            fill(item, buffer);
            buffer
        })
        .for_each(|buffer| {
            read(&mut output, buffer);
            buffers.lock().expect("nobody panics").push(buffer);
        });
    output
}
