use anabranch::stream;

macro_rules! stop {
    () => {
        return
    };
}

macro_rules! none {
    () => {
        return None
    };
}

#[stream]
fn a_macro_that_returns(n: u64, out: &mut Vec<u64>) {
    #[to_stream]
    for k in 0..n {
        #[stage(replicate)]
        let h = k * 2;
        #[stage]
        if h == 10 {
            stop!();
        }
        out.push(h);
    }
}

#[stream]
fn a_macro_that_returns_from_a_replica(n: u64) -> Option<u64> {
    let mut sum = 0;
    #[to_stream]
    for k in 0..n {
        #[stage(replicate)]
        let h = {
            if k == 7 {
                none!();
            }
            if k == 8 {
                continue;
            }
            k
        };
        sum += h;
    }
    Some(sum)
}

#[stream]
fn a_macro_that_returns_from_the_source(n: u64) -> Option<u64> {
    let mut sum = 0;
    #[to_stream]
    for k in 0..n {
        if k == 10 {
            none!();
        }
        if k == 1000 {
            break;
        }
        #[stage(replicate)]
        let h = k * 2;
        sum += h;
    }
    Some(sum)
}

fn main() {}
