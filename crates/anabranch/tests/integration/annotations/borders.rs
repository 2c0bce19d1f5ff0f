//! Stages, and what crosses their borders.

use super::*;

twice! {
    fn several_stages(count: u64) -> (u64, String) {
        let mut total = 0u64;
        let mut text = String::new();
        #[to_stream(unordered, window = 16)]
        for n in (0..count).filter(|n| n % 2 == 0) {
            let m = n + 1;
            #[stage(replicate, name = "first")]
            let (a, b) = { let a = hash(n); (a, hash(m)) };
            #[stage(replicate = 2)]
            let c = a ^ b;
            #[stage(name = "count")]
            total = total.wrapping_add(c);
            let d = c % 2;
            #[stage(replicate)]
            if d == 0 { continue; }
            #[stage]
            { text.push('.'); }
        }
        (total, text)
    }

    fn shadowing(count: u64) -> Vec<(u64, String)> {
        let mut out = Vec::new();
        #[to_stream]
        for x in 0..count {
            let y = x.to_string();
            #[stage(replicate)]
            let x = { let y = hash(x); y + 1 };
            #[stage(replicate)]
            let y = { let x = &y; format!("{x}!") };
            #[stage]
            let z = (x, y);
            out.push(z);
        }
        out
    }

    fn declared_before(count: u64) -> u64 {
        let mut sum = 0u64;
        #[to_stream]
        for n in 0..count {
            let h;
            let text: String;
            #[stage(replicate)]
            { h = hash(n); text = format!("{h}"); }
            #[stage]
            { sum = sum.wrapping_add(h).wrapping_add(text.len() as u64); }
        }
        sum
    }

    fn let_else(lines: &[String]) -> u64 {
        let mut sum = 0;
        #[to_stream]
        for line in lines {
            #[stage(replicate)]
            let Ok(number) = line.parse::<u64>() else { continue };
            #[stage]
            sum += number;
        }
        sum
    }

    fn macros_in_the_body(words: &[String]) -> String {
        let mut out = String::new();
        let suffix = "!";
        #[to_stream]
        for word in words {
            let width = word.len() + 1;
            #[stage(replicate)]
            let text = format!("{word:>width$}{suffix}{}", vec![width, hash(width as u64) as usize][0]);
            #[stage]
            writeln!(out, "{text} {width}").unwrap();
        }
        out
    }

    fn collisions(items: u64, result: u64) -> (u64, u64) {
        // These names might occur in an expansion.
        let value = 1;
        let item = 2;
        let mut report = 0u64;
        let mut state = 0u64;
        #[to_stream]
        for stream in 0..items {
            #[stage(replicate)]
            let residual = hash(stream + value + item);
            #[stage]
            { report = report.wrapping_add(residual); state += result; }
        }
        (report, state)
    }

    fn inputs_and_outputs(count: u64) -> u64 {
        let mut sum = 0u64;
        #[to_stream]
        for n in 0..count {
            let m = 2 * n;
            #[stage(replicate, input(n, m), output(h))]
            let h = hash(n + m);
            #[stage(input(h, sum))]
            sum = sum.wrapping_add(h);
        }
        sum
    }

    fn items_in_the_body(count: u64) -> Vec<u64> {
        let mut out = Vec::new();
        #[to_stream]
        for n in 0..count {
            const STEP: u64 = 3;
            fn step(n: u64) -> u64 { n + STEP }
            macro_rules! twice_over { ($e:expr) => { step(step($e)) } }
            #[stage(replicate)]
            let m = twice_over!(n);
            #[stage]
            out.push(m + STEP);
        }
        out
    }

    fn patterns(pairs: &[(u64, Option<String>)]) -> Vec<String> {
        struct Both { left: u64, right: String }
        let mut out = Vec::new();
        #[to_stream]
        for &(n, ref text) in pairs {
            let Some(text) = text else { continue };
            let [a, .., z] = [n, 5, n + 1];
            #[stage(replicate)]
            let Both { left, right: mut name } = Both { left: a * z, right: text.clone() };
            #[stage(replicate)]
            match left {
                0 => name.push('0'),
                low @ 1..=9 if low != n => name.push_str(&low.to_string()),
                _ => name.insert(0, '#'),
            }
            #[stage]
            if let (last, Some(first)) = (out.last(), name.chars().next()) && last != Some(&name) && first != '!' {
                out.push(name);
            }
        }
        out
    }

    fn moved_in_and_out(count: usize) -> Vec<Box<[u8]>> {
        let mut spare = vec![Vec::new(); 3];
        let mut out = Vec::new();
        let mut left = count;
        #[to_stream(may_run_ahead)]
        while left > 0 {
            left -= 1;
            let mut buffer = spare.pop().unwrap_or_default();
            buffer.resize(left, left as u8);
            #[stage(replicate)]
            let boxed = { buffer.reverse(); buffer.into_boxed_slice() };
            #[stage]
            out.push(boxed);
            if out.len() == 50 { break; }
        }
        out
    }

    fn raw_names(count: u64) -> u64 {
        let mut r#type = 0u64;
        #[to_stream]
        for r#match in 0..count {
            #[stage(replicate)]
            let r#in = hash(r#match);
            #[stage]
            { r#type = r#type.wrapping_add(r#in); }
        }
        r#type
    }
}

#[test]
fn stages_and_what_crosses_their_borders() {
    let (total, text) = within(|| plain::several_stages(600));
    let (annotated, dots) = within(|| annotated::several_stages(600));
    assert_eq!((annotated, dots.len()), (total, text.len()));
    same!(shadowing(200));
    same!(declared_before(200));
    same!(let_else(&lines(Some(40))));
    same!(macros_in_the_body(&lines(None)));
    same!(collisions(100, 3));
    same!(inputs_and_outputs(100));
    same!(items_in_the_body(100));
    same!(patterns(&(0..200).map(|n| (n % 7, (n % 3 > 0).then(|| format!("n{n}")))).collect::<Vec<_>>()));
    same!(moved_in_and_out(80));
    same!(raw_names(100));
}
