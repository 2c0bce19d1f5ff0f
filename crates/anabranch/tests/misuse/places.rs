use anabranch::stream;

#[stream]
fn no_loop(n: u32) -> u32 {
    n + 1
}

#[stream]
fn a_loop_without_stages(n: u32) {
    #[to_stream]
    for k in 0..n {
        drop(k);
    }
}

#[stream]
fn a_stage_outside_of_a_loop(n: u32) {
    #[stage]
    drop(n);
}

#[stream]
fn a_stage_inside_an_if(n: u32) {
    #[to_stream]
    for k in 0..n {
        #[stage(replicate)]
        let m = k + 1;
        if m > 7 {
            #[stage]
            drop(m);
        }
    }
}

#[stream]
fn not_before_a_loop(n: u32) {
    #[to_stream]
    if n > 7 {
        drop(n);
    }
}

#[stream]
fn a_block_without_a_loop(n: u32) {
    #[to_stream]
    {
        drop(n);
    }
}

#[stream]
fn a_block_with_two_loops(n: u32) {
    #[to_stream]
    {
        for k in 0..n {
            #[stage(replicate)]
            drop(k);
        }
        for k in 0..n {
            #[stage(replicate)]
            drop(k);
        }
    }
}

#[stream]
fn an_item_as_a_stage(n: u32) {
    #[to_stream]
    for k in 0..n {
        #[stage(replicate)]
        fn inner() {}
        drop(k);
    }
}

#[stream]
async fn an_async_function(n: u32) {
    #[to_stream]
    for k in 0..n {
        #[stage(replicate)]
        drop(k);
    }
}

#[stream]
struct NoFunction;

#[stream]
fn the_only_stage_inside_an_if(n: u32) {
    #[to_stream]
    for k in 0..n {
        if k > 7 {
            #[stage(replicate)]
            drop(k);
        }
    }
}

fn main() {}
