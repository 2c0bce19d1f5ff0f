//! One loop with annotations and with calls of the builder. `FORM WORKERS ITEMS` prints the nanoseconds an
//! item, and the digest of the results.

use anabranch::Stream;

fn work(n: u64) -> u64 {
    (0..16).fold(n, |hash, k| std::hint::black_box(hash.rotate_left(5) ^ k))
}

#[anabranch::stream]
fn annotated(items: u64, workers: usize) -> u64 {
    let mut sum = 0u64;
    #[to_stream(workers = workers)]
    for n in 0..items {
        #[stage(replicate)]
        let h = work(n);
        #[stage]
        sum = sum.wrapping_add(h);
    }
    sum
}

fn builder(items: u64, workers: usize) -> u64 {
    let mut sum = 0u64;
    Stream::from_iter(0..items).workers(workers).map(work).for_each(|h| sum = sum.wrapping_add(h));
    sum
}

#[anabranch::stream]
fn annotated_with_errors(items: u64, workers: usize) -> Result<u64, String> {
    let mut sum = 0u64;
    #[to_stream(workers = workers)]
    for n in 0..items {
        #[stage(replicate)]
        let h = if n == u64::MAX { Err("never".to_owned()) } else { Ok(work(n)) }?;
        #[stage]
        sum = sum.wrapping_add(h);
    }
    Ok(sum)
}

fn builder_with_errors(items: u64, workers: usize) -> Result<u64, String> {
    let mut sum = 0u64;
    Stream::from_iter(0..items)
        .workers(workers)
        .try_map(|n| if n == u64::MAX { Err("never".to_owned()) } else { Ok(work(n)) })
        .for_each(|h| sum = sum.wrapping_add(h))?;
    Ok(sum)
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, form, workers, items] = &arguments[..] else { panic!("expected FORM WORKERS ITEMS") };
    let (workers, items) = (workers.parse().unwrap(), items.parse().unwrap());
    let began = std::time::Instant::now();
    let sum = match &**form {
        "annotated" => annotated(items, workers),
        "builder" => builder(items, workers),
        "annotated_with_errors" => annotated_with_errors(items, workers).unwrap(),
        _ => builder_with_errors(items, workers).unwrap(),
    };
    println!("{} {sum}", began.elapsed().as_nanos() as f64 / items as f64);
}
