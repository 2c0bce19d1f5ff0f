use std::io::BufRead;

use anabranch::stream;

#[stream]
fn a_readers_caller(input: &mut (impl Iterator<Item = u64> + Send)) -> u64 {
    let mut sum = 0;
    #[to_stream]
    for k in input {
        #[stage(replicate)]
        let h = k + 1;
        if h == 10 {
            break;
        }
        sum += h;
    }
    sum
}

#[stream]
fn lines_of_a_reader(input: &mut (impl BufRead + Send)) -> usize {
    let mut lines = input.by_ref().lines();
    let mut sum = 0;
    #[to_stream]
    while let Some(Ok(line)) = lines.next() {
        #[stage(replicate)]
        let length = line.len();
        sum += length;
        if length == 0 {
            break;
        }
    }
    sum
}

#[stream]
fn a_parameter_that_counts(n: u64, read: &mut u64) {
    #[to_stream]
    for k in 0..n {
        *read += 1;
        #[stage(replicate)]
        let h = k + 1;
        #[stage]
        if h == 10 {
            break;
        }
    }
}

#[stream]
fn an_alias(n: u64) -> u64 {
    let mut count = 0;
    let c = &mut count;
    #[to_stream]
    for k in 0..n {
        *c += 1;
        #[stage(replicate)]
        let h = k + 1;
        #[stage]
        if h == 10 {
            break;
        }
    }
    count
}

#[stream]
fn a_closure_that_counts(n: u64) -> u64 {
    let mut count = 0;
    let mut next = || {
        count += 1;
        count
    };
    #[to_stream]
    while let k = next()
        && k < n
    {
        #[stage(replicate)]
        let h = k + 1;
        #[stage]
        if h == 10 {
            break;
        }
    }
    count
}

struct Reader {
    read: u64,
}

impl Reader {
    #[stream]
    fn a_method_that_counts(&mut self, n: u64) {
        #[to_stream]
        for k in 0..n {
            self.read += 1;
            #[stage(replicate)]
            let h = k + 1;
            #[stage]
            if h == 10 {
                break;
            }
        }
    }
}

#[stream]
fn the_rest_of_an_expression() -> (u64, u64) {
    let mut count = 0;
    (
        #[to_stream]
        loop {
            count += 1;
            let k = count;
            #[stage(replicate)]
            let h = k + 1;
            #[stage]
            if h == 10 {
                break h;
            }
        },
        count,
    )
}

#[stream]
fn the_branch_that_the_loop_chooses() -> u64 {
    let mut count = 0;
    match #[to_stream]
    loop {
        count += 1;
        let k = count;
        #[stage(replicate)]
        let h = k + 1;
        #[stage]
        if h == 10 {
            break h;
        }
    } {
        0 => 0,
        h => h + count,
    }
}

#[stream]
fn the_rest_of_a_block(n: u64) -> u64 {
    let mut count = 0;
    let mut all = 0;
    #[to_stream]
    {
        for k in 0..n {
            count += 1;
            #[stage(replicate)]
            let h = k + 1;
            #[stage]
            if h == 10 {
                break;
            }
        }
        all += count;
    }
    all
}

#[stream]
fn what_a_loop_goes_through(mut numbers: Vec<u64>) -> Vec<u64> {
    #[to_stream]
    for n in numbers.iter_mut() {
        #[stage(replicate)]
        *n *= 2;
        #[stage]
        if *n > 50 {
            break;
        }
    }
    numbers
}

fn main() {}
