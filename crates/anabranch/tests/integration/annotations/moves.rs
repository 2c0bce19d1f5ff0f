//! Variables of the function that a stage or the source moves.

use super::*;

pub fn add(mut all: Vec<u64>, n: u64) -> Vec<u64> {
    all.push(n);
    all
}

twice! {
    fn moved_through(count: u64) -> Vec<u64> {
        let mut all = Vec::new();
        #[to_stream]
        for k in 0..count {
            #[stage(replicate)]
            let h = hash(k);
            #[stage]
            {
                if h % 5 == 1 { continue; }
                all = add(all, h);
                if k == 70 { break; }
            }
        }
        all
    }

    fn moved_through_the_source(count: u64) -> (Vec<u64>, u64) {
        let mut all = vec![7];
        let mut k = 0;
        let mut sum = 0u64;
        #[to_stream]
        while k < count {
            k += 1;
            all = add(all, k);
            if k % 3 == 0 { continue; }
            if k == 50 { break; }
            let (now, length) = (k, all.len() as u64);
            #[stage(replicate)]
            let h = hash(now) ^ length;
            sum = sum.wrapping_mul(31).wrapping_add(h);
        }
        (all, sum)
    }

    fn the_one_before(count: u64) -> Vec<String> {
        let mut before: Option<String> = None;
        let mut out = Vec::new();
        #[to_stream]
        for k in 0..count {
            #[stage(replicate)]
            let text = hash(k).to_string();
            #[stage]
            if let Some(text) = before { out.push(text); }
            before = Some(text);
        }
        out.extend(before);
        out
    }

    fn a_builder(count: u64) -> Vec<u64> {
        struct Builder(Vec<u64>);
        impl Builder {
            fn with(mut self, n: u64) -> Self { self.0.push(n); self }
        }
        let mut builder = Builder(Vec::new());
        #[to_stream]
        for k in 0..count {
            #[stage(replicate)]
            let h = hash(k);
            #[stage(name = "build")]
            builder = builder.with(h);
        }
        builder.0
    }

    fn returned(count: u64) -> Result<Vec<u64>, String> {
        let mut all = Vec::new();
        #[to_stream]
        for k in 0..count {
            #[stage(replicate)]
            let h = hash(k).checked_add(1).ok_or("large")?;
            #[stage]
            all.push(h);
            if k == 7 { return Ok(all); }
        }
        Err(format!("{all:?}"))
    }

    fn given_by_break() -> Vec<u64> {
        let mut all = Vec::new();
        let mut k = 0;
        #[to_stream]
        loop {
            k += 1;
            let now = k;
            #[stage(replicate)]
            let h = hash(now);
            #[stage]
            all.push(h);
            if now == 7 { break all; }
        }
    }

    fn found_and_declared_before(count: u64) -> String {
        let found;
        let mut k = 0;
        #[to_stream]
        loop {
            k += 1;
            let now = k;
            #[stage(replicate)]
            let h = hash(now).to_string();
            #[stage]
            if now > count { found = h; break; }
        }
        found
    }

    fn taken_once(count: u64) -> String {
        let name = String::from("river");
        let mut out = String::new();
        #[to_stream]
        for k in 0..count {
            #[stage(replicate)]
            let h = hash(k);
            #[stage]
            if h % 7 == 3 { out = name; break; }
        }
        out
    }

    fn in_a_loop_around(rows: u64) -> Vec<u64> {
        let mut all = Vec::new();
        'rows: for row in 0..rows {
            #[to_stream]
            for k in 0..50 {
                #[stage(replicate)]
                let h = hash(k + row);
                #[stage]
                {
                    all = add(all, h);
                    if h % 11 == 4 { continue 'rows; }
                    if h % 97 == 5 { break 'rows; }
                }
            }
            all = add(all, row);
        }
        all
    }

    fn out_of_two_streams(count: u64) -> Vec<u64> {
        let mut all = Vec::new();
        #[to_stream]
        'out: for k in 0..count {
            #[stage(replicate)]
            let h = k * 2;
            #[stage]
            #[to_stream]
            for j in 0..h {
                #[stage]
                all = add(all, j);
                if j == 6 && k % 5 == 4 { continue 'out; }
                if j == 40 { break 'out; }
            }
        }
        all
    }
}

#[test]
fn what_a_part_moves_comes_back() {
    for count in [3, 15, 30] {
        same!(out_of_two_streams(count));
    }
    same!(moved_through(50));
    same!(moved_through(100));
    for count in [20, 100] {
        same!(moved_through_the_source(count));
    }
    assert_eq!(same!(the_one_before(100)).len(), 100);
    same!(a_builder(100));
    same!(in_a_loop_around(20));
}

#[test]
fn what_a_part_moves_on_the_way_out() {
    let _ = same!(returned(5));
    let _ = same!(returned(100));
    same!(given_by_break());
    same!(found_and_declared_before(20));
    assert_eq!(same!(taken_once(100)), "river");
    assert_eq!(same!(taken_once(0)), "");
}
