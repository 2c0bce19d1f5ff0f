use anabranch::stream;

macro_rules! bail {
    ($text:expr) => {
        return Err($text.to_owned())
    };
}

macro_rules! pick {
    ($a:expr => $b:expr) => {
        $a + $b
    };
}

#[stream]
fn a_macro_that_returns(n: u32) -> Result<(), String> {
    #[to_stream]
    for k in 0..n {
        #[stage(replicate)]
        if k == 7 {
            bail!("seven");
        }
    }
    Ok(())
}

#[stream]
fn a_question_in_a_macro_of_ones_own(n: u32) -> Option<u32> {
    let mut sum = 0;
    #[to_stream]
    for k in 0..n {
        #[stage(replicate)]
        let m = pick!(k.checked_add(1)? => 4);
        #[stage]
        sum += m;
    }
    Some(sum)
}

#[stream]
fn a_value_out_of_two_loops(n: u32) -> u32 {
    'outer: loop {
        #[to_stream]
        for k in 0..n {
            #[stage(replicate)]
            if k == 7 {
                break 'outer k;
            }
        }
    }
}

fn main() {}
