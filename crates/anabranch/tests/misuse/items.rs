use anabranch::stream;

const LAST: u64 = 10;

#[stream]
fn a_constant_that_the_condition_has_too() -> Vec<u64> {
    let (mut k, mut out) = (0, Vec::new());
    #[to_stream]
    while k < LAST {
        const LAST: u64 = 3;
        k += 1;
        let now = k;
        #[stage(replicate)]
        let h = now * LAST;
        #[stage]
        out.push(h);
    }
    out
}

#[stream]
fn a_constant_that_an_option_has_too(n: u64) -> u64 {
    const WINDOW: usize = 10;
    let mut sum = 0;
    #[to_stream(window = WINDOW)]
    for k in 0..n {
        const WINDOW: usize = 3;
        #[stage(replicate)]
        let h = k + WINDOW as u64;
        sum += h;
    }
    sum
}

#[stream]
fn a_use_of_all(mut numbers: Vec<f64>) -> f64 {
    let mut sum = 0.0;
    #[to_stream]
    while let Some(n) = numbers.pop() {
        use std::f64::consts::*;
        #[stage(replicate)]
        let h = n * PI;
        sum += h;
    }
    sum
}

#[stream]
fn a_macro_with_a_variable_of_the_loop(n: u64) -> u64 {
    let (k, mut sum) = (100, 0);
    #[to_stream]
    for k in 0..n {
        macro_rules! plus {
            ($e:expr) => {
                $e + k
            };
        }
        #[stage(replicate)]
        let h = plus!(1);
        sum += h;
    }
    sum + k
}

macro_rules! weigh {
    ($e:expr) => {
        $e + 1
    };
}

#[stream]
fn a_macro_behind_its_use(n: u64) -> u64 {
    let mut sum = 0;
    #[to_stream]
    for k in 0..n {
        let m = weigh!(k);
        macro_rules! weigh {
            ($e:expr) => {
                $e + 2
            };
        }
        #[stage(replicate)]
        let h = weigh!(m);
        sum += h;
    }
    sum
}

fn main() {}
