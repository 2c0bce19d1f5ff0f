use anabranch::Stream;
use std::time::Instant;
#[inline(never)]
fn work(x: u64, rounds: u32) -> u64 {
    let mut x = x.wrapping_mul(0x9E3779B97F4A7C15) | 1;
    for _ in 0..rounds {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    x
}
fn main() {
    for (rounds, n) in [(0u32, 10_000_000u64), (40, 4_000_000), (480, 400_000), (4800, 40_000)] {
        let mut best = [f64::MAX; 6];
        let mut all: Vec<Vec<f64>> = vec![vec![]; 6];
        for _ in 0..7 {
            for v in 0..6 {
                let t = Instant::now();
                let r = match v {
                    0 => (0..n).map(|x| work(x, rounds)).fold(0u64, |a, x| a ^ x),
                    1 => std::thread::scope(|s| {
                        let h = s.spawn(|| (0..n / 2).map(|x| work(x, rounds)).fold(0u64, |a, x| a ^ x));
                        let b = (n / 2..n).map(|x| work(x, rounds)).fold(0u64, |a, x| a ^ x);
                        b ^ h.join().unwrap()
                    }),
                    2 => Stream::from_iter(0..n).workers(2).map(|x| work(x, rounds)).fold(0u64, |a, x| a ^ x),
                    3 => Stream::from_iter(0..n).workers(4).map(|x| work(x, rounds)).fold(0u64, |a, x| a ^ x),
                    4 => Stream::from_iter(0..n).workers(1).map(|x| work(x, rounds)).fold(0u64, |a, x| a ^ x),
                    _ => {
                        let mut c = 0u64;
                        let mut d = 0u64;
                        Stream::from_iter(0..n)
                            .workers(2)
                            .serial(|x| {
                                d += 1;
                                x
                            })
                            .map(|x| work(x, rounds / 2))
                            .serial(|x| {
                                c += 1;
                                x
                            })
                            .map(|x| work(x, rounds / 2))
                            .fold(0u64, |a, x| a ^ x)
                    }
                };
                std::hint::black_box(r);
                let ns = t.elapsed().as_nanos() as f64 / n as f64;
                best[v] = best[v].min(ns);
                all[v].push(ns);
            }
        }
        for a in &mut all {
            a.sort_by(f64::total_cmp);
        }
        print!("rounds {rounds:5}: ");
        for (v, name) in ["seq", "two", "A2", "A4", "A1", "B2"].iter().enumerate() {
            print!("{name} {:.1} ({:.1})  ", best[v], all[v][3]);
        }
        println!();
    }
}
