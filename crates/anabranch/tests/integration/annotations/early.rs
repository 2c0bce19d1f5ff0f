//! Loops that a later stage leaves early, and what is used after them: nothing of it is changed by a part that
//! may have run ahead.
#![allow(clippy::while_let_on_iterator, reason = "loops of all kinds are annotated")]

use super::*;

/// A number with methods whose names say nothing of what they do.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Tally {
    sum: u64,
    seen: Vec<u64>,
}

impl Tally {
    fn push(&self, n: u64) -> u64 {
        self.sum + n
    }

    fn get(&mut self, n: u64) -> u64 {
        self.sum += n;
        self.seen.push(n);
        self.sum
    }

    fn finish(self) -> u64 {
        self.sum
    }
}

/// Adds what it is given to a vector, and more when it is dropped.
struct Guard<'v>(&'v mut Vec<u64>);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.push(7);
    }
}

twice! {
    fn methods_that_only_read(count: u64) -> (u64, u64) {
        let mut limit = Tally::default();
        limit.get(3);
        let mut sum = 0;
        #[to_stream]
        for k in 0.. {
            let from = limit.push(k);
            #[stage(replicate)]
            let h = hash(from) + limit.push(k);
            #[stage]
            sum ^= h;
            if k == count { break; }
        }
        (limit.get(1), sum)
    }

    fn methods_that_write_where_the_loop_ends(count: u64) -> Tally {
        let mut tally = Tally::default();
        let mut other = Tally::default();
        #[to_stream]
        for k in 0..1_000 {
            other.get(k);
            #[stage(replicate)]
            let h = hash(k);
            #[stage]
            if tally.get(h % 100) > count { break; }
        }
        tally
    }

    fn an_alias_in_the_stage_that_ends_the_loop(count: u64) -> Vec<u64> {
        let mut all = vec![1];
        let out = &mut all;
        #[to_stream]
        for k in 0..1_000 {
            #[stage(replicate)]
            let h = hash(k);
            #[stage]
            out.push(h);
            if k == count { break; }
        }
        out.push(2);
        all.push(3);
        all
    }

    fn a_guard_in_the_stage_that_ends_the_loop(count: u64) -> Vec<u64> {
        let mut all = vec![1];
        {
            let guard = Guard(&mut all);
            #[to_stream]
            for k in 0..1_000 {
                #[stage(replicate)]
                let h = hash(k);
                #[stage]
                guard.0.push(h);
                if k == count { break; }
            }
        }
        all
    }

    fn closures_that_read_and_one_that_writes(count: u64) -> (u64, u64) {
        let base = [3, 4, 5];
        let at = |k: u64| base[k as usize % 3];
        let mut sum = 0;
        let mut add = |n: u64| sum += n;
        #[to_stream]
        for k in 0..1_000 {
            let n = at(k);
            #[stage(replicate)]
            let h = hash(n) % 10 + at(k + 1);
            #[stage]
            add(h);
            if k == count { break; }
        }
        (sum, at(1))
    }

    fn fields_that_are_told_apart(count: u64) -> (u64, usize) {
        let mut tally = Tally::default();
        #[to_stream]
        for k in 0..1_000 {
            tally.sum += k;
            let n = tally.sum;
            #[stage(replicate)]
            let h = hash(n);
            #[stage]
            tally.seen.push(h);
            if k == count { break; }
        }
        (count, tally.seen.len())
    }

    fn overwritten_before_it_is_used(count: u64) -> u64 {
        let mut level = vec![count];
        let mut all = 0;
        while all < 300 {
            let mut next = Vec::new();
            #[to_stream]
            for n in level {
                #[stage(replicate)]
                let h = hash(n) % 100;
                #[stage]
                next.push(h + 1);
                next.push(n + 1);
                all += h;
                if next.len() > 20 { break; }
            }
            level = next;
            all += 1;
        }
        all
    }

    fn macros_of_the_function(count: u64) -> (u64, u64) {
        let step = 3;
        let mut sum = 0;
        macro_rules! stepped { ($n:expr) => { $n + step } }
        macro_rules! add { ($n:expr) => { sum += $n } }
        #[to_stream]
        for k in 0..1_000 {
            let n = stepped!(k);
            #[stage(replicate)]
            let h = hash(stepped!(n));
            #[stage]
            add!(h % 10);
            if k == count { break; }
        }
        (sum, stepped!(1))
    }

    fn a_parameter_under_another_name(count: u64, out: &mut Vec<u64>) {
        let out = Guard(out);
        #[to_stream]
        for k in 0..1_000 {
            #[stage(replicate)]
            let h = hash(k);
            #[stage]
            out.0.push(h);
            if k == count { break; }
        }
    }

    fn a_reference_that_is_returned['v](all: &'v mut [u64], other: &mut u64, count: u64) -> Option<&'v u64> {
        #[to_stream]
        for k in 0..1_000 {
            let n = all.len() as u64 + k;
            #[stage(replicate)]
            let h = hash(n);
            #[stage]
            *other += h % 10;
            if k == count { break; }
        }
        all.first()
    }

    fn moved_where_the_loop_ends(count: u64) -> u64 {
        let tally = Tally { sum: count, seen: Vec::new() };
        #[to_stream]
        loop {
            #[stage(replicate)]
            let h = hash(count);
            #[stage]
            if h < u64::MAX { break tally.finish(); }
        }
    }

    fn a_rest_of_fields(count: u64) -> (Vec<u64>, u64) {
        let tally = Tally { sum: 5, seen: vec![1, 2] };
        let mut moved = tally.seen;
        #[to_stream]
        for k in 0..1_000 {
            let n = k + 1;
            #[stage(replicate)]
            let h = hash(n);
            #[stage]
            moved.push(h);
            if k == count { break; }
        }
        (moved, tally.sum)
    }

    fn in_loops_and_closures_around(count: u64) -> Vec<u64> {
        let mut all = Vec::new();
        let mut total = 0;
        let mut add = |n: u64| { total += n; total };
        let mut run = |rows: u64| {
            let mut last = 0;
            for row in 0..rows {
                let mut k = row;
                #[to_stream]
                loop {
                    k += 1;
                    let now = k;
                    #[stage(replicate)]
                    let h = hash(now);
                    #[stage]
                    last ^= h;
                    if now > row + count { break; }
                }
                all.push(last);
            }
        };
        run(3);
        add(2);
        run(2);
        all.push(add(5));
        all
    }

    fn items_of_another_stream(rows: Vec<Vec<u64>>, count: u64) -> u64 {
        let mut all = 0;
        #[to_stream]
        for row in &rows {
            let limit = row.len() as u64;
            #[stage(replicate)]
            let found = {
                let mut found = 0;
                let mut row = row.iter();
                #[to_stream]
                while let Some(n) = row.next() {
                    let m = n + limit;
                    #[stage(replicate)]
                    let h = hash(m) % 50;
                    #[stage]
                    found += h;
                    if found > count { break; }
                }
                found
            };
            #[stage]
            all ^= found;
        }
        all
    }

    fn in_a_stage_of_another_stream(rows: Vec<Vec<u64>>, count: u64) -> Vec<u64> {
        let mut all = Vec::new();
        let mut sums = 0;
        #[to_stream]
        for row in &rows {
            sums += row.len() as u64;
            #[stage(replicate)]
            let found = {
                let mut found = 0;
                #[to_stream]
                for n in row {
                    #[stage(replicate)]
                    let h = hash(*n) % 50;
                    #[stage]
                    found += h;
                    if found > count { break; }
                }
                found
            };
            #[stage]
            all.push(found);
        }
        all.push(sums);
        all
    }
}

#[test]
fn what_is_used_after_an_early_end_is_the_loops() {
    for count in [0, 5, 70] {
        same!(methods_that_only_read(count));
        same!(methods_that_write_where_the_loop_ends(count * 10));
        same!(an_alias_in_the_stage_that_ends_the_loop(count));
        same!(a_guard_in_the_stage_that_ends_the_loop(count));
        same!(closures_that_read_and_one_that_writes(count));
        same!(fields_that_are_told_apart(count));
        same!(overwritten_before_it_is_used(count));
        same!(macros_of_the_function(count));
        same!(moved_where_the_loop_ends(count));
        same!(a_rest_of_fields(count));
        same!(in_loops_and_closures_around(count));
        let rows = || (0..9).map(|row| (0..row * 5).collect::<Vec<u64>>()).collect();
        same!(in_a_stage_of_another_stream(rows(), count));
        same!(items_of_another_stream(rows(), count));
        let filled = |fill: fn(u64, &mut Vec<u64>)| {
            let mut all = vec![1];
            fill(count, &mut all);
            all
        };
        assert_eq!(
            filled(annotated::a_parameter_under_another_name),
            filled(plain::a_parameter_under_another_name)
        );
        let (mut all, mut sums) = (vec![4, 5], [0, 0]);
        let first = plain::a_reference_that_is_returned(&mut all, &mut sums[0], count).copied();
        assert_eq!(annotated::a_reference_that_is_returned(&mut all, &mut sums[1], count).copied(), first);
        assert_eq!(sums[0], sums[1]);
    }
}
