use anabranch::stream;

#[stream]
fn replicas_that_add_up(n: u32) -> u32 {
    let mut sum = 0;
    #[to_stream]
    for k in 0..n {
        #[stage(replicate)]
        {
            sum += k;
        }
    }
    sum
}

#[stream]
fn replicas_that_fill_a_table(n: usize) -> Vec<usize> {
    let mut table = vec![0; n];
    #[to_stream]
    for k in 0..n {
        #[stage(replicate)]
        table[k] = k * k;
    }
    table
}

#[stream]
fn replicas_that_lend_what_they_share(n: u32) -> Vec<u32> {
    let mut out = Vec::new();
    #[to_stream]
    for k in 0..n {
        #[stage(replicate)]
        std::mem::swap(&mut out, &mut vec![k]);
    }
    out
}

#[stream]
fn replicas_that_push(n: u32) -> Vec<u32> {
    let mut out = Vec::new();
    #[to_stream]
    for k in 0..n {
        #[stage(replicate)]
        out.push(k);
    }
    out
}

#[stream]
fn two_stages_that_change_one_variable(n: u32) -> u32 {
    let mut sum = 0;
    #[to_stream]
    for k in 0..n {
        #[stage]
        sum += k;
        #[stage(replicate)]
        let m = k + 1;
        #[stage]
        sum += m;
    }
    sum
}

#[stream]
fn a_stage_that_reads_what_the_source_changes(n: u32) -> Vec<u32> {
    let mut k = 0;
    let mut out = Vec::new();
    #[to_stream]
    while k < n {
        k += 1;
        #[stage(replicate)]
        let square = k * k;
        #[stage]
        out.push(square);
    }
    out
}

#[stream]
fn a_source_that_ran_ahead(n: u32) -> u32 {
    let mut count = 0;
    #[to_stream]
    for k in 0..n {
        count += 1;
        #[stage(replicate)]
        let square = k * k;
        #[stage]
        if square == 49 {
            break;
        }
    }
    count
}

#[stream]
fn a_stage_that_ran_ahead(n: u32) -> Vec<u32> {
    let mut seen = Vec::new();
    #[to_stream]
    for k in 0..n {
        #[stage]
        seen.push(k);
        #[stage(replicate)]
        if k == 7 {
            break;
        }
    }
    seen
}

#[stream]
fn a_stage_that_ran_ahead_in_a_loop_around(n: u32) {
    let mut count = 0;
    while count < 100 {
        #[to_stream]
        for k in 0..n {
            #[stage]
            count += 1;
            #[stage(replicate)]
            if k == 7 {
                break;
            }
        }
    }
}

#[stream]
fn a_condition_that_a_stage_changes(n: u32) -> u32 {
    let mut sum = 0;
    let mut k = 0;
    #[to_stream]
    while sum < n {
        k += 1;
        let now = k;
        #[stage(replicate)]
        let square = now * now;
        #[stage]
        sum += square;
    }
    sum
}

#[stream]
fn an_iterator_that_ran_ahead(mut numbers: std::vec::IntoIter<u32>) -> Option<u32> {
    #[to_stream]
    for n in numbers.by_ref() {
        #[stage(replicate)]
        let square = n * n;
        if square > 50 {
            break;
        }
    }
    numbers.next()
}

#[stream]
fn a_stack_that_ran_ahead(mut stack: Vec<u32>) -> Vec<u32> {
    #[to_stream]
    while let Some(n) = stack.pop() {
        #[stage(replicate)]
        let square = n * n;
        if square > 50 {
            break;
        }
    }
    stack
}

#[stream]
fn an_output_that_ran_ahead(n: u32) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    #[to_stream]
    for k in 0..n {
        #[stage]
        writeln!(out, "{k}").unwrap();
        #[stage(replicate)]
        if k == 7 {
            break;
        }
    }
    out
}

#[stream]
fn two_stages_that_push(n: u32) -> Vec<u32> {
    let mut out = Vec::new();
    #[to_stream]
    for k in 0..n {
        #[stage]
        out.push(k);
        #[stage(replicate)]
        let square = k * k;
        #[stage]
        out.push(square);
    }
    out
}

#[stream]
fn a_stack_that_a_stage_pushes_to(n: u32) -> u32 {
    let mut stack = vec![n];
    let mut sum = 0;
    #[to_stream]
    while let Some(k) = stack.pop() {
        #[stage(replicate)]
        let square = k * k;
        sum += square;
        if k > 0 {
            stack.push(k - 1);
        }
    }
    sum
}

struct Numbers {
    left: u32,
    seen: Vec<u32>,
}

impl Numbers {
    fn next(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        Some(self.left)
    }

    fn put(&mut self, n: u32) {
        self.seen.push(n);
    }

    #[stream]
    fn methods_that_change_self(&mut self) {
        #[to_stream]
        while let Some(k) = self.next() {
            #[stage(replicate)]
            let square = k * k;
            self.put(square);
        }
    }
}

struct Limit(u32);

impl Limit {
    fn get(&mut self) -> u32 {
        self.0 += 1;
        self.0
    }
}

#[stream]
fn a_method_of_which_the_name_says_nothing(n: u32) -> u32 {
    let mut limit = Limit(n);
    #[to_stream]
    for k in 0.. {
        let last = limit.get();
        #[stage(replicate)]
        let square = k * k;
        if square > last {
            break;
        }
    }
    limit.0
}

#[stream]
fn a_buffer_that_is_filled_again(mut input: impl std::io::BufRead + Send) -> std::io::Result<usize> {
    let mut line = String::new();
    let mut words = 0;
    #[to_stream]
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            break;
        }
        #[stage(replicate)]
        let found = line.split_whitespace().count();
        words += found;
    }
    Ok(words)
}

#[stream]
fn parts_of_it_in_replicas(n: u64) -> Vec<u64> {
    let mut all = vec![0, 1];
    #[to_stream]
    for k in 0..n {
        #[stage(replicate)]
        for one in all.iter_mut() {
            *one ^= k;
        }
    }
    all
}

#[stream]
fn counted_before_a_jump(rows: &[Vec<u64>]) -> u64 {
    let mut count = 0;
    'rows: for row in rows {
        #[to_stream]
        for &value in row {
            count += 1;
            #[stage(replicate)]
            let square = value * value;
            #[stage]
            if square > 100 {
                continue 'rows;
            }
        }
    }
    count
}

fn main() {}
