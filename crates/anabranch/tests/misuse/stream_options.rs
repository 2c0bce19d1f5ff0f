use anabranch::stream;

#[stream]
fn unknown_option(n: u32) {
    #[to_stream(windows = 4)]
    for k in 0..n {
        #[stage(replicate)]
        drop(k);
    }
}

#[stream]
fn far_from_any_option(n: u32) {
    #[to_stream(fast)]
    for k in 0..n {
        #[stage(replicate)]
        drop(k);
    }
}

#[stream]
fn an_empty_window(n: u32) {
    #[to_stream(window = 0)]
    for k in 0..n {
        #[stage(replicate)]
        drop(k);
    }
}

#[stream]
fn no_workers(n: u32) {
    #[to_stream(workers = 0)]
    for k in 0..n {
        #[stage(replicate)]
        drop(k);
    }
}

#[stream]
fn fewer_than_no_workers(n: u32) {
    #[to_stream(workers = -2)]
    for k in 0..n {
        #[stage(replicate)]
        drop(k);
    }
}

#[stream]
fn a_window_in_words(n: u32) {
    #[to_stream(window = "large")]
    for k in 0..n {
        #[stage(replicate)]
        drop(k);
    }
}

#[stream]
fn a_window_of_nothing(n: u32) {
    #[to_stream(window)]
    for k in 0..n {
        #[stage(replicate)]
        drop(k);
    }
}

#[stream]
fn half_a_setting(n: u32) {
    #[to_stream(window = , workers = 2)]
    for k in 0..n {
        #[stage(replicate)]
        drop(k);
    }
}

#[stream]
fn both_orders(n: u32) {
    #[to_stream(ordered, unordered)]
    for k in 0..n {
        #[stage(replicate)]
        drop(k);
    }
}

#[stream]
fn an_option_twice(n: u32) {
    #[to_stream(window = 4, window = 8)]
    for k in 0..n {
        #[stage(replicate)]
        drop(k);
    }
}

#[stream]
fn an_unknown_schedule(n: u32) {
    #[to_stream(schedule = fixed)]
    for k in 0..n {
        #[stage(replicate)]
        drop(k);
    }
}

#[stream]
fn another_way_to_wait(n: u32) {
    #[to_stream(wait = block)]
    for k in 0..n {
        #[stage(replicate)]
        drop(k);
    }
}

#[stream]
fn a_wait_of_nothing(n: u32) {
    #[to_stream(wait)]
    for k in 0..n {
        #[stage(replicate)]
        drop(k);
    }
}

#[stream]
fn a_flag_with_a_value(n: u32) {
    #[to_stream(unordered = true)]
    for k in 0..n {
        #[stage(replicate)]
        drop(k);
    }
}

#[stream]
fn a_number_as_title(n: u32) {
    #[to_stream(title = 7)]
    for k in 0..n {
        #[stage(replicate)]
        drop(k);
    }
}

#[stream]
fn without_parentheses(n: u32) {
    #[to_stream = 4]
    for k in 0..n {
        #[stage(replicate)]
        drop(k);
    }
}

#[stream(window = 4)]
fn options_in_the_wrong_place(n: u32) {
    drop(n);
}

#[stream]
fn dealt_and_unordered(n: u32) {
    #[to_stream(schedule = dealt, unordered)]
    for k in 0..n {
        #[stage(replicate)]
        drop(k);
    }
}

#[stream(widow = 4)]
fn an_option_of_the_loop(n: u32) {
    #[to_stream]
    for k in 0..n {
        #[stage(replicate)]
        drop(k);
    }
}

#[stream]
fn a_colon(n: u32) {
    #[to_stream(window: 4)]
    for k in 0..n {
        #[stage(replicate)]
        drop(k);
    }
}

fn main() {}
