//! The advice of the messages of `#[stream]`, in the order of the programs in `tests/misuse`.

use std::io::{self, BufRead};

use anabranch::stream;

/// "change it in a serial stage after this one"
#[stream]
pub fn shared_and_serial(n: u32) -> u32 {
    let mut sum = 0;
    #[to_stream]
    for k in 0..n {
        #[stage(replicate)]
        let square = k * k;
        #[stage]
        sum += square;
    }
    sum
}

/// "or give each worker its own"
#[stream]
pub fn shared_as_a_state(n: u32) -> u32 {
    let mut sum = 0;
    let mut all = 0;
    #[to_stream]
    for k in 0..n {
        #[stage(replicate, state(sum = 0))]
        let square = {
            sum = k;
            sum * k
        };
        all += square;
    }
    sum += all;
    sum
}

/// "pass its value to the other stage: `let now = k;`"
#[stream]
pub fn a_number_that_was_passed(n: u32) -> u32 {
    let mut k = 0;
    let mut sum = 0;
    #[to_stream]
    while k < n {
        k += 1;
        let now = k;
        #[stage(replicate)]
        let square = now * now;
        sum += square;
    }
    sum
}

/// "pass its value to the other stage: `let now = line.clone();`"
#[stream]
pub fn a_copy_that_was_passed(mut input: impl BufRead + Send) -> io::Result<usize> {
    let mut text = String::new();
    let mut words = 0;
    #[to_stream]
    loop {
        if input.read_line(&mut text)? == 0 {
            break;
        }
        let now = text.clone();
        #[stage(replicate)]
        let found = now.split_whitespace().count();
        words += found;
    }
    Ok(words)
}

/// "or, if it begins empty for each item: `let now = std::mem::take(&mut line);`"
#[stream]
pub fn a_buffer_that_was_passed(mut input: impl BufRead + Send) -> io::Result<usize> {
    let mut line = String::new();
    let mut words = 0;
    #[to_stream]
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            break;
        }
        let now = std::mem::take(&mut line);
        #[stage(replicate)]
        let found = now.split_whitespace().count();
        words += found;
    }
    Ok(words)
}

/// "or make the two stages one"
#[stream]
pub fn one_stage(n: u32) -> u32 {
    let mut sum = 0;
    #[to_stream]
    for k in 0..n {
        #[stage(replicate)]
        let m = k + 1;
        #[stage]
        sum += k;
        sum += m;
    }
    sum
}

pub struct Numbers {
    pub left: Vec<u32>,
    pub seen: Vec<u32>,
}

impl Numbers {
    /// "borrow its fields before the loop, `let Self { .. } = self;`"
    #[stream]
    pub fn fields(&mut self) {
        let Self { left, seen } = self;
        #[to_stream]
        while let Some(k) = left.pop() {
            #[stage(replicate)]
            let square = k * k;
            seen.push(square);
        }
    }
}

/// "change it in the stage that leaves the loop, or in a later one"
#[stream]
pub fn changed_with_the_break(n: u32) -> u32 {
    let mut count = 0;
    #[to_stream]
    for k in 0..n {
        #[stage(replicate)]
        let square = k * k;
        #[stage]
        count += 1;
        if square == 49 {
            break;
        }
    }
    count
}

/// "or accept the difference: `#[to_stream(may_run_ahead)]`", and the same for a stage
#[stream]
pub fn accepted(mut numbers: std::vec::IntoIter<u32>) -> (Option<u32>, u32) {
    let mut count = 0;
    #[to_stream(may_run_ahead)]
    for n in numbers.by_ref() {
        #[stage(may_run_ahead)]
        count += 1;
        #[stage(replicate)]
        let square = n * n;
        if square > 50 {
            break;
        }
    }
    (numbers.next(), count)
}

/// "give one of the two another name"
#[stream]
pub fn another_name(count: u64) -> Vec<u64> {
    let mut all = Vec::new();
    {
        let out = &mut all;
        #[to_stream]
        for k in 0..count {
            #[stage(replicate)]
            let h = k * 2;
            #[stage]
            out.push(h);
            if h == 20 {
                break;
            }
        }
    }
    all
}

/// "write `return Err(..)` instead"
#[stream]
pub fn returned(n: u32) -> Result<(), String> {
    #[to_stream]
    for k in 0..n {
        #[stage(replicate)]
        if k == 7 {
            return Err("seven".to_owned());
        }
    }
    Ok(())
}

/// "put the value into a variable before, with `let`"
#[stream]
pub fn a_variable_before_a_macro(n: u32) -> Option<u32> {
    macro_rules! pick {
        ($a:expr => $b:expr) => {
            $a + $b
        };
    }
    let mut sum = 0;
    #[to_stream]
    for k in 0..n {
        #[stage(replicate)]
        let m = {
            let next = k.checked_add(1)?;
            pick!(next => 4)
        };
        #[stage]
        sum += m;
    }
    Some(sum)
}

/// "keep the value in a variable of the function, leave this loop with `break`, and `break` the outer loop"
#[stream]
pub fn a_value_out_of_two_loops(n: u32) -> u32 {
    loop {
        let mut found = None;
        #[to_stream]
        for k in 0..n {
            #[stage(replicate)]
            let h = k;
            #[stage]
            if h == 7 {
                found = Some(h);
                break;
            }
        }
        if let Some(found) = found {
            break found;
        }
    }
}

fn main() {}
