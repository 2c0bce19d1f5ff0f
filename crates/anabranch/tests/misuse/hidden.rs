//! Changes that are not plain to see, of what is used behind a loop that a later stage leaves.

use std::collections::BTreeSet;
use std::fmt::Write;

use anabranch::stream;

macro_rules! bump {
    ($n:ident) => {
        $n += 1
    };
    ($n:ident by $by:expr) => {
        $n += $by
    };
}

#[stream]
fn a_copy_of_the_same_name() -> u64 {
    let mut n = 0;
    #[to_stream]
    loop {
        n += 1;
        let n = n;
        #[stage(replicate)]
        let h = n * 2;
        #[stage]
        if h == 20 {
            break;
        }
    }
    n
}

#[stream]
fn a_closures_parameter_of_the_same_name() -> u64 {
    let mut n = 0;
    #[to_stream]
    loop {
        n += 1;
        let last: u64 = (0..n).map(|n| n + 1).sum();
        #[stage(replicate)]
        let h = last * 2;
        #[stage]
        if h > 20 {
            break;
        }
    }
    n
}

#[stream]
fn an_inner_loops_variable_of_the_same_name(count: u64) -> u64 {
    let mut n = 0;
    #[to_stream]
    for k in 0..count {
        #[stage(replicate)]
        let h = k * 2;
        #[stage]
        n += h;
        for n in 0..3 {
            std::hint::black_box(n);
        }
        #[stage(dedicated)]
        if n > 9 {
            break;
        }
    }
    n
}

#[stream]
fn an_argument_of_a_macro(count: u64) -> usize {
    let mut seen = BTreeSet::new();
    #[to_stream]
    for k in 0..count {
        assert!(seen.insert(k));
        #[stage(replicate)]
        let h = k * 2;
        #[stage]
        if h == 20 {
            break;
        }
    }
    seen.len()
}

#[stream]
fn a_macro_of_the_user(count: u64) -> u64 {
    let mut n = 0;
    let mut m = 0;
    #[to_stream]
    for k in 0..count {
        bump!(n);
        bump!(m by k);
        #[stage(replicate)]
        let h = k * 2;
        #[stage]
        if h == 20 {
            break;
        }
    }
    n + m
}

#[stream]
fn a_pattern_that_borrows(count: u64) -> u64 {
    let mut pair = (0, 0);
    let mut kept = Some(0);
    let mut other = Some(0);
    #[to_stream]
    for k in 0..count {
        let (ref mut a, _) = pair;
        *a += k;
        match kept {
            Some(ref mut a) => *a += k,
            None => {}
        }
        if let Some(ref mut a) = other {
            *a += k;
        }
        #[stage(replicate)]
        let h = k * 2;
        #[stage]
        if h == 20 {
            break;
        }
    }
    pair.0 + kept.unwrap() + other.unwrap()
}

#[stream]
fn a_part_that_a_pattern_borrows_before_the_loop(count: u64) -> u64 {
    let mut pair = (0, 0);
    let (ref mut first, _) = pair;
    #[to_stream]
    for k in 0..count {
        *first += k;
        #[stage(replicate)]
        let h = k * 2;
        #[stage]
        if h == 20 {
            break;
        }
    }
    pair.0
}

struct Pair {
    a: u64,
    b: u64,
}

struct One(u64);

#[stream]
fn an_assignment_to_a_pattern(count: u64) -> u64 {
    let (mut n, mut m, mut l, mut j) = (0, 0, 0, 0);
    #[to_stream]
    for k in 0..count {
        [n, _] = [k, k];
        Pair { a: m, .. } = Pair { a: k, b: k };
        One(l) = One(k);
        (j, ..) = (k, k, k);
        #[stage(replicate)]
        let h = k * 2;
        #[stage]
        if h == 20 {
            break;
        }
    }
    n + m + l + j
}

fn put(all: &mut Vec<u64>, k: u64) {
    all.push(k);
}

#[stream]
fn what_is_given_to_a_function(out: &mut Vec<u64>, count: u64) {
    #[to_stream]
    for k in 0..count {
        put(out, k);
        #[stage(replicate)]
        let h = k * 2;
        #[stage]
        if h == 20 {
            break;
        }
    }
}

struct Log {
    lines: Vec<u64>,
    text: String,
}

impl Log {
    #[stream]
    fn a_field_that_is_written_to(&mut self, count: u64) {
        #[to_stream]
        for k in 0..count {
            writeln!(self.text, "{k}").unwrap();
            #[stage(replicate)]
            let h = k * 2;
            #[stage]
            if h == 20 {
                break;
            }
        }
    }

    #[stream]
    fn a_field_that_was_borrowed(&mut self, count: u64) {
        let Self { lines, .. } = self;
        #[to_stream]
        for k in 0..count {
            lines.push(k);
            #[stage(replicate)]
            let h = k * 2;
            #[stage]
            if h == 20 {
                break;
            }
        }
    }
}

#[stream]
fn rows_one_by_one(rows: &mut [Vec<u64>], count: u64) {
    for row in rows.iter_mut() {
        #[to_stream]
        for k in 0..count {
            row.push(k);
            #[stage(replicate)]
            let h = k * 2;
            #[stage]
            if h == 20 {
                break;
            }
        }
    }
}

struct Wrapped<'v> {
    v: &'v mut Vec<u64>,
}

#[stream]
fn what_a_method_has_borrowed(count: u64) -> usize {
    let mut map = std::collections::BTreeMap::<u64, Vec<u64>>::new();
    let mut all = Vec::new();
    let entry = map.entry(1).or_default();
    let wrapped = Wrapped { v: &mut all };
    #[to_stream]
    for k in 0..count {
        entry.push(k);
        wrapped.v.push(k);
        #[stage(replicate)]
        let h = k * 2;
        #[stage]
        if h == 20 {
            break;
        }
    }
    map[&1].len() + all.len()
}

struct Rng(u64);

impl Rng {
    fn get(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }
}

#[stream]
fn a_method_with_the_name_of_one_that_reads(count: u64) -> u64 {
    let mut rng = Rng(1);
    #[to_stream]
    for _ in 0..count {
        let k = rng.get();
        #[stage(replicate)]
        let h = k * 2;
        #[stage]
        if h == 20 {
            break;
        }
    }
    rng.get()
}

#[stream]
fn the_next_item_of_a_stream_around(count: u64) -> u64 {
    let mut next = 0;
    let mut all = 0;
    #[to_stream]
    for row in 0..count {
        #[stage(replicate)]
        let w = row * 2;
        #[stage]
        let mut sum = w;
        #[to_stream]
        for _ in 0..100 {
            next += 1;
            let k = next;
            #[stage(replicate)]
            let h = k % 7;
            #[stage]
            if h == 0 {
                break;
            }
            sum += h;
        }
        all += sum;
    }
    all
}

macro_rules! pushed {
    ($v:expr, $e:expr) => {
        $v.push($e)
    };
}

#[stream]
fn a_macro_with_an_element(count: u64) -> Vec<Vec<u64>> {
    let mut rows = vec![vec![0], vec![1]];
    #[to_stream]
    for k in 0..count {
        pushed!(rows[0], k);
        #[stage(replicate)]
        let h = k * 2;
        #[stage]
        if h == 20 {
            break;
        }
    }
    rows
}

#[stream]
fn a_parameter_of_a_closure(count: u64) -> Vec<u64> {
    let mut all = vec![0];
    let run = |v: &mut Vec<u64>| {
        #[to_stream]
        for k in 0..count {
            v.push(k);
            #[stage(replicate)]
            let h = k * 2;
            #[stage]
            if h == 20 {
                break;
            }
        }
    };
    run(&mut all);
    all
}

#[stream]
fn one_of_several_borrows(count: u64) -> Vec<Vec<u64>> {
    let mut rows = vec![vec![0], vec![1]];
    let mut it = rows.iter_mut();
    let row = it.next().unwrap();
    #[to_stream]
    for k in 0..count {
        row.push(k);
        #[stage(replicate)]
        let h = k * 2;
        #[stage]
        if h == 20 {
            break;
        }
    }
    rows
}

#[stream]
fn closures_in_places(count: u64) -> u64 {
    let mut c = 0;
    let mut all: Vec<Box<dyn FnMut() + Send>> = vec![Box::new(|| c += 1)];
    #[to_stream]
    for k in 0..count {
        all[0]();
        #[stage(replicate)]
        let h = k * 2;
        #[stage]
        if h == 20 {
            break;
        }
    }
    drop(all);
    c
}

#[stream]
fn a_macro_of_the_function(count: u64) -> u64 {
    let mut n = 0;
    macro_rules! bump {
        () => {
            n += 1
        };
    }
    macro_rules! bumped {
        () => {
            n
        };
    }
    #[to_stream]
    for k in 0..count {
        bump!();
        #[stage(replicate)]
        let h = k * 2;
        #[stage]
        if h == 20 {
            break;
        }
    }
    bumped!()
}

#[stream]
fn a_variable_that_another_one_hides(count: u64) -> Vec<u64> {
    let mut all = Vec::new();
    {
        let all = &mut all;
        #[to_stream]
        for k in 0..count {
            all.push(k);
            #[stage(replicate)]
            let h = k * 2;
            #[stage]
            if h == 20 {
                break;
            }
        }
    }
    all
}

#[stream]
fn a_parameter_that_was_moved(all: &mut Vec<u64>, count: u64) {
    let all = Some(all).unwrap();
    #[to_stream]
    for k in 0..count {
        all.push(k);
        #[stage(replicate)]
        let h = k * 2;
        #[stage]
        if h == 20 {
            break;
        }
    }
}

struct Guard<'v>(&'v mut Vec<u64>);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.push(0);
    }
}

#[stream]
fn a_guard_that_the_source_has(count: u64) -> Vec<u64> {
    let mut all = Vec::new();
    let guard = Guard(&mut all);
    #[to_stream]
    for k in 0..count {
        guard.0.push(k);
        #[stage(replicate)]
        let h = k * 2;
        #[stage]
        if h == 20 {
            break;
        }
    }
    drop(guard);
    all
}

#[stream]
fn an_overwrite_that_a_label_passes_by(count: u64) -> u64 {
    let mut rest = 0..count;
    let mut sum = 0;
    'rows: for row in 0..3 {
        #[to_stream]
        while let Some(k) = rest.next() {
            #[stage(replicate)]
            let h = k * 2;
            #[stage]
            sum += h;
            if h == 20 {
                continue 'rows;
            }
        }
        rest = row..count;
    }
    sum
}

#[stream]
fn an_element_that_a_stage_takes_to_a_later_one(count: usize) -> Vec<u64> {
    let mut all = vec![0; count];
    let mut rest = &mut all[..];
    #[to_stream]
    while let Some((first, others)) = std::mem::take(&mut rest).split_first_mut() {
        rest = others;
        #[stage(replicate)]
        {
            *first += 1;
        }
        #[stage]
        if *first == 20 {
            break;
        }
    }
    all
}

#[stream]
fn rows_in_another_stream(mut rows: Vec<Vec<u64>>) -> Vec<Vec<u64>> {
    #[to_stream]
    for row in rows.iter_mut() {
        #[stage(replicate)]
        {
            #[to_stream]
            for k in 0..100 {
                row.push(k);
                #[stage(replicate)]
                let h = k * 2;
                #[stage]
                if h == 20 {
                    break;
                }
            }
        }
    }
    rows
}

fn main() {}
