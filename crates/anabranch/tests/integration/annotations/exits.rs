//! Ways out of a loop.

use super::*;

type Boxed<T> = Result<T, Box<dyn std::error::Error>>;

twice! {
    fn question_marks(lines: Vec<String>) -> Result<Vec<u64>, Box<dyn std::error::Error>> {
        let mut out = Vec::new();
        #[to_stream]
        for line in &lines {
            #[stage(replicate)]
            let number = parse(line)?;
            #[stage]
            out.push(number);
        }
        Ok(out)
    }

    fn seen_before_an_error(lines: &[String], out: &mut String) -> Result<(), io::Error> {
        #[to_stream]
        for (at, line) in lines.iter().enumerate() {
            #[stage(replicate)]
            let number = parse(line).map_err(|error| io::Error::other(format!("line {at}: {error}")))?;
            #[stage]
            write!(out, "{number},").map_err(io::Error::other)?;
        }
        Ok(())
    }

    fn options(lines: &[String]) -> Option<u64> {
        let mut sum = 0;
        #[to_stream]
        for line in lines {
            #[stage(replicate)]
            let number = parse(line).ok()?;
            #[stage]
            sum += number;
        }
        Some(sum)
    }

    fn control_flow(lines: &[String]) -> ControlFlow<String, u64> {
        let mut sum = 0;
        #[to_stream]
        for line in lines {
            #[stage(replicate)]
            let number = match parse(line) {
                Ok(number) => ControlFlow::Continue(number),
                Err(_) => ControlFlow::Break(line.clone()),
            }?;
            #[stage]
            sum += number;
        }
        ControlFlow::Continue(sum)
    }

    fn break_with_a_value(from: u64) -> (u64, Vec<u64>) {
        let mut n = from;
        let mut seen = Vec::new();
        let found = #[to_stream] loop {
            let now = n;
            n += 1;
            #[stage(replicate)]
            let h = hash(now);
            #[stage]
            seen.push(now);
            if h % 50 == 7 { break h; }
        };
        (found, seen)
    }

    fn breaks_in_a_replicated_stage(limit: u64) -> Vec<u64> {
        let mut seen = Vec::new();
        #[to_stream]
        for n in 0.. {
            #[stage(replicate)]
            if n >= limit { break; }
            #[stage]
            seen.push(n);
        }
        seen
    }

    fn returns_from_everywhere(lines: &[String], at: u64) -> String {
        let mut seen = String::new();
        #[to_stream]
        for line in lines {
            if line == "400" { return "source".to_owned(); }
            #[stage(replicate)]
            let number = match parse(line) {
                Ok(number) => number,
                Err(error) => return error.to_string(),
            };
            #[stage]
            for k in 0..number {
                if k == at {
                    return format!("{k} of {number}");
                }
                if k > 10 { break; }
            }
        }
        "end".to_owned()
    }

    fn labels(rows: &[Vec<u64>]) -> Vec<u64> {
        let mut sums = Vec::new();
        'rows: for row in rows {
            let mut sum = 0u64;
            #[to_stream]
            'row: for &n in row {
                if n == 1 { continue 'row; }
                #[stage(replicate)]
                let h = {
                    let mut h = 0u64;
                    'inner: for k in 0..n {
                        if k == 5 { continue 'inner; }
                        if k == 9 { break 'inner; }
                        if n == 77 { continue 'row; }
                        if n == 78 { continue 'rows; }
                        if n == 79 { break 'row; }
                        if n == 80 { break 'rows; }
                        h = h.wrapping_add(hash(k));
                    }
                    h
                };
                #[stage]
                sum = sum.wrapping_add(h);
            }
            sums.push(sum);
        }
        sums
    }

    fn continue_from_a_nested_loop(count: u64) -> Vec<u64> {
        let mut out = Vec::new();
        let mut n = 0;
        #[to_stream]
        'items: while n < count {
            n += 1;
            let now = n;
            for k in 2..now {
                if now % k == 0 { continue 'items; }
            }
            #[stage(replicate)]
            let h = hash(now);
            #[stage]
            out.push((now, h).0);
        }
        out
    }

    fn returned_as_something_else ['a] (names: &'a [String], other: &'a str) -> &'a str {
        #[to_stream]
        for name in names {
            #[stage(replicate)]
            let length = name.len();
            #[stage]
            if length == 3 { return name; }
            if length == 4 { return other; }
        }
        ""
    }

    fn boxed_on_return(count: u64) -> Result<Box<dyn std::fmt::Debug + Send>, Box<dyn std::error::Error + Send + Sync>> {
        #[to_stream]
        for k in 0..count {
            #[stage(replicate)]
            let h = hash(k);
            #[stage]
            if k == 3 { return Ok(Box::new(h)); }
            if h == u64::MAX { return Err("large".into()); }
        }
        Err("end")?
    }

    fn an_error_that_does_not_cross_threads(at: u64, way: u64) -> Boxed<u64> {
        let mut sum = 0;
        #[to_stream]
        for k in 0..30 {
            if k == at && way == 0 { return Err("the source".into()); }
            #[stage(replicate)]
            let h = hash(k);
            if k == at && way == 1 { return Err(Box::new(io::Error::other(format!("hash {h}")))); }
            #[stage]
            {
                sum += h & 7;
                if k == at && way == 2 { return Err(format!("sum {sum}").into()); }
                if k == at && way == 3 { return Err(Box::from("from")); }
                if k == at { return Ok(sum); }
            }
        }
        Err(io::Error::other("none").into())
    }

    fn an_error_of_any_type [E: From<u64> + Send] (count: u64) -> Result<u64, E> {
        let mut sum = 0;
        #[to_stream]
        for k in 0..count {
            #[stage(replicate)]
            let h = hash(k);
            #[stage]
            {
                sum += h & 7;
                if k == 3 { return Err(sum.into()); }
            }
        }
        Ok(sum)
    }

    fn broken_as_something_else(names: &[String]) -> Option<String> {
        let mut k = 0;
        let found: Option<&str> = #[to_stream] loop {
            let now = k;
            k += 1;
            #[stage(replicate)]
            let length = names[now].len();
            #[stage]
            if length == 3 { break Some(&names[now]); }
            if now == 5 { break None; }
        };
        found.map(String::from)
    }

    fn jumps_in_macros(count: u64) -> Option<Vec<u64>> {
        let mut out = Vec::new();
        #[to_stream]
        'items: for k in 0..count {
            #[stage(replicate)]
            let h = {
                let mut length = 0;
                for j in 0..k {
                    let text = format!("{}", if j == 5 && k % 3 == 0 { continue 'items } else { j });
                    length += text.len();
                }
                vec![length as u64; k.checked_add(1)? as usize].len() as u64
            };
            let mut closure = vec![(0..k).map(|x| { if x == 2 { return 9; } x }).sum::<u64>(); 2];
            if matches!(k.checked_sub(1).or(Some(0))?, 7 | 8 if h > 3) { continue; }
            closure.push(h);
            out.push(closure.iter().sum());
        }
        Some(out)
    }

    fn in_a_block_with_more(count: u64) -> u64 {
        let mut sum = 1;
        #[to_stream(window = 8)]
        {
            let mut items = 0..count;
            let found = loop {
                let Some(k) = items.next() else { break 0 };
                #[stage(replicate)]
                let h = hash(k);
                #[stage]
                if h % 11 == 5 { break h; }
            };
            sum += found;
        }
        sum
    }
}

#[test]
fn every_way_out_is_the_loops() {
    for bad in [None, Some(0), Some(123), Some(499)] {
        let text = |result: Result<Vec<u64>, Box<dyn std::error::Error>>| result.map_err(|e| e.to_string());
        assert_eq!(text(annotated::question_marks(lines(bad))), text(plain::question_marks(lines(bad))));
        let seen = |f: fn(&[String], &mut String) -> io::Result<()>| {
            let mut out = String::new();
            let result = f(&lines(bad), &mut out).map_err(|error| error.to_string());
            (result, out)
        };
        assert_eq!(seen(annotated::seen_before_an_error), seen(plain::seen_before_an_error));
        same!(options(&lines(bad)));
        let _ = same!(control_flow(&lines(bad)));
        for at in [0, 5, 1_000] {
            same!(returns_from_everywhere(&lines(bad), at));
        }
    }
    same!(break_with_a_value(1_000));
    same!(breaks_in_a_replicated_stage(77));
    same!(continue_from_a_nested_loop(200));
    let row = |special: u64| (0..50).chain([special]).chain(0..20).collect::<Vec<u64>>();
    for special in 76..=80 {
        same!(labels(&[row(7), row(special), row(8)]));
    }
}

#[test]
fn what_is_returned_becomes_what_the_function_returns() {
    let names = |longest: usize| (0..longest).map(|n| "x".repeat(n)).collect::<Vec<_>>();
    for longest in [2, 4, 6] {
        let (names, other) = (names(longest), "other".to_owned());
        assert_eq!(
            annotated::returned_as_something_else(&names, &other),
            plain::returned_as_something_else(&names, &other)
        );
    }
    let text = |made: Result<Box<dyn std::fmt::Debug + Send>, Box<dyn std::error::Error + Send + Sync>>| {
        format!("{made:?}")
    };
    for count in [2, 10] {
        assert_eq!(text(annotated::boxed_on_return(count)), text(plain::boxed_on_return(count)));
    }
    for (at, way) in (0..40).map(|n| (n, n % 5)) {
        let text = |sum: Boxed<u64>| sum.map_err(|error| error.to_string());
        let plain = plain::an_error_that_does_not_cross_threads(at, way);
        assert_eq!(text(annotated::an_error_that_does_not_cross_threads(at, way)), text(plain));
    }
    for count in [3, 4] {
        assert_eq!(annotated::an_error_of_any_type::<u128>(count), plain::an_error_of_any_type(count));
    }
    assert_eq!(same!(broken_as_something_else(&["", "x", "xyz", "abc"].map(String::from))).unwrap(), "xyz");
    same!(jumps_in_macros(30));
    same!(in_a_block_with_more(100));
}
