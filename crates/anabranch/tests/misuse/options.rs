use anabranch::{Shards, Source, Stream};

fn replicas_of_a_serial_stage() -> u64 {
    Stream::from_iter(0..9u64).replicas(4).serial_map(|n| n + 1).sum()
}

fn a_thread_for_a_parallel_stage() -> u64 {
    Stream::from_iter(0..9u64).dedicated().map(|n| n + 1).sum()
}

fn replicas_of_shards() -> u64 {
    Stream::from_iter(0..9u64).replicas(4).map_sharded(Shards::dealt(2), || (), |(), n| n).sum()
}

fn replicas_of_an_end() -> u64 {
    Stream::from_iter(0..9u64).map(|n| n).replicas(4).sum()
}

fn both() -> u64 {
    Stream::from_iter(0..9u64).replicas(4).dedicated().map(|n| n).sum()
}

fn a_setting_between() -> u64 {
    Stream::from_iter(0..9u64).named("add").workers(4).map(|n| n + 1).sum()
}

fn no_stage_after<'a>() -> Stream<'a, u64> {
    Stream::from_iter(0..9u64).named("add")
}

fn blocks_of_what_waits() -> u64 {
    Source::channel(4).1.in_blocks().into_stream().sum()
}

fn main() {}
