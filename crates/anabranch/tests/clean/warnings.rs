//! Loops whose expansion differs most from what is written. None of them has a warning.

use anabranch::stream;

/// A variable that the last part moves.
#[stream]
pub fn given_by_break() -> Vec<u64> {
    let mut all = Vec::new();
    let mut k = 0;
    #[to_stream]
    loop {
        k += 1;
        let now = k;
        #[stage(replicate)]
        let h = now * now;
        #[stage]
        all.push(h);
        if now == 7 {
            break all;
        }
    }
}

/// A parameter that the last part moves through a function.
#[stream]
pub fn moved_through(mut all: Vec<u64>, count: u64) -> Vec<u64> {
    fn with(mut all: Vec<u64>, n: u64) -> Vec<u64> {
        all.push(n);
        all
    }
    #[to_stream]
    for k in 0..count {
        #[stage(replicate)]
        let h = k * k;
        all = with(all, h);
    }
    all
}

/// A state of each worker, in a stage of another stream.
#[stream]
pub fn nested(count: u64) -> u64 {
    let mut buffer: Vec<u64> = Vec::new();
    let mut all = 0;
    #[to_stream]
    for x in 0..count {
        #[stage(replicate)]
        let h = {
            let mut sum = 0;
            #[to_stream]
            for k in 0..x % 5 {
                #[stage(replicate, state(buffer = Vec::new()))]
                let g = {
                    buffer.clear();
                    buffer.push(k);
                    buffer[0]
                };
                #[stage]
                sum += g;
            }
            sum
        };
        #[stage]
        all += h;
    }
    all
}

/// An early end, with parameters and variables that are used after the loop.
#[stream]
pub fn early(input: &mut Vec<u64>, mut out: &mut Vec<u64>, limit: u64) -> Option<u64> {
    let mut last = 0;
    let mut seen = vec![limit];
    'rows: for row in 0..3 {
        #[to_stream]
        for k in 0..100 {
            let n = input[k % 2] + row;
            if n > 50 {
                continue;
            }
            #[stage(replicate)]
            let h = n.checked_mul(3)?;
            #[stage]
            last = h;
            seen.push(h);
            out.push(h);
            if h > limit {
                continue 'rows;
            }
            if seen.len() > 20 {
                break;
            }
        }
        seen.push(last);
    }
    let mut more = vec![last];
    out = &mut more;
    out.push(seen.len() as u64);
    Some(out[1])
}

fn main() {}
