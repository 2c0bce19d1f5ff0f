#![allow(unused)]
use anabranch::stream;

#[stream]
fn misspelt(n: u32) {
    #[to_stream]
    for k in 0..n {
        #[stage(replicated)]
        drop(k);
    }
}

#[stream]
fn no_replicas(n: u32) {
    #[to_stream]
    for k in 0..n {
        #[stage(replicate = 0)]
        drop(k);
    }
}

#[stream]
fn replicas_in_a_list(n: u32) {
    #[to_stream]
    for k in 0..n {
        #[stage(replicate(4))]
        drop(k);
    }
}

#[stream]
fn replicas_on_a_thread_of_their_own(n: u32) {
    #[to_stream]
    for k in 0..n {
        #[stage(replicate, dedicated)]
        drop(k);
    }
}

#[stream]
fn replicas_that_run_ahead(n: u32) {
    #[to_stream]
    for k in 0..n {
        #[stage(replicate, may_run_ahead)]
        drop(k);
    }
}

#[stream]
fn a_state_without_replicas(n: u32) {
    #[to_stream]
    for k in 0..n {
        #[stage(state = || 0)]
        drop(k);
    }
}

#[stream]
fn a_state_that_is_no_closure(n: u32) {
    #[to_stream]
    for k in 0..n {
        #[stage(replicate, state = 0)]
        drop(k);
    }
}

#[stream]
fn a_state_without_a_value(n: u32) {
    #[to_stream]
    for k in 0..n {
        #[stage(replicate, state(buffer))]
        drop(k);
    }
}

#[stream]
fn states_of_nothing(n: u32) {
    #[to_stream]
    for k in 0..n {
        #[stage(replicate, state())]
        drop(k);
    }
}

#[stream]
fn a_state_for_no_variable(n: u32) {
    #[to_stream]
    for k in 0..n {
        #[stage(replicate, state = || String::new())]
        drop(k);
    }
}

#[stream]
fn a_state_for_two_variables(n: u32) {
    let mut first = String::new();
    let mut second = String::new();
    #[to_stream]
    for k in 0..n {
        #[stage(replicate, state = || String::new())]
        {
            first.clear();
            second.clear();
            drop(k);
        }
    }
}

#[stream]
fn a_name_that_is_no_text(n: u32) {
    #[to_stream]
    for k in 0..n {
        #[stage(replicate, name = 4)]
        drop(k);
    }
}

#[stream]
fn inputs_without_a_list(n: u32) {
    #[to_stream]
    for k in 0..n {
        #[stage(replicate, input = k)]
        drop(k);
    }
}

#[stream]
fn an_input_that_is_set(n: u32) {
    #[to_stream]
    for k in 0..n {
        #[stage(replicate, input(k = 4))]
        drop(k);
    }
}

#[stream]
fn an_input_that_is_not_used(n: u32) {
    #[to_stream]
    for k in 0..n {
        #[stage(replicate, input(k, n))]
        drop(k);
    }
}

#[stream]
fn an_input_that_is_left_out(n: u32) {
    #[to_stream]
    for k in 0..n {
        let m = k + 1;
        #[stage(replicate, input(k))]
        drop(k + m);
    }
}

#[stream]
fn an_output_that_nobody_uses(n: u32) {
    #[to_stream]
    for k in 0..n {
        #[stage(replicate, output(m, l))]
        let (m, l) = (k + 1, k);
        drop(m);
    }
}

#[stream]
fn an_output_that_is_left_out(n: u32) {
    #[to_stream]
    for k in 0..n {
        #[stage(replicate, output())]
        let m = k + 1;
        drop(m);
    }
}

#[stream]
fn a_stage_twice(n: u32) {
    #[to_stream]
    for k in 0..n {
        #[stage(replicate)]
        #[stage(name = "twice")]
        drop(k);
    }
}

#[stream]
fn an_order_that_is_lost(n: u32) -> Vec<u32> {
    let mut out = Vec::new();
    #[to_stream]
    for k in 0..n {
        #[stage(replicate, unordered)]
        let m = k + 1;
        #[stage(ordered)]
        out.push(m);
    }
    out
}

#[stream]
fn an_order_that_the_loop_has_not(n: u32) {
    #[to_stream(unordered)]
    for k in 0..n {
        #[stage(ordered)]
        drop(k);
    }
}

fn main() {}
