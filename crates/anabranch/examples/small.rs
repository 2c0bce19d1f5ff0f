use anabranch::{Pool, Stream};
use std::time::{Duration, Instant};
fn busy(d: Duration) {
    let t = Instant::now();
    while t.elapsed() < d {}
}
fn main() {
    let pool = Pool::new(2);
    for _ in 0..3 {
        let n = 20000;
        let t = Instant::now();
        let mut s = 0;
        for i in 0..n {
            s += Stream::from_iter(0..8u64)
                .pool(&pool)
                .map(|x| x + i)
                .serial(|x| x)
                .map(|x| x * 2)
                .fold(0, |a, x| a + x);
        }
        println!("8 items grain 0: {:.2} us (sum {s})", t.elapsed().as_secs_f64() * 1e6 / n as f64);
        let n = 200;
        let t = Instant::now();
        for _ in 0..n {
            Stream::from_iter(0..8u64)
                .pool(&pool)
                .map(|x| {
                    busy(Duration::from_micros(100));
                    x
                })
                .for_each(drop);
        }
        println!("8 items 100us: {:.0} us of 400", t.elapsed().as_secs_f64() * 1e6 / n as f64);
    }
}
