//! Which variable a name means: in macros, next to items, and if the user has the names of the expansion.

use super::moves::add;
use super::*;

const N: u64 = 10;

#[allow(non_upper_case_globals)]
static value: u64 = 4;
#[allow(non_upper_case_globals)]
static residual: u64 = 5;

macro_rules! shown {
    (?$x:expr) => {
        format!("{:?}", $x)
    };
}

twice! {
    fn compared_in_a_macro(count: u64) -> Vec<String> {
        let x = 1000;
        let mut out = Vec::new();
        #[to_stream]
        for k in 0..count {
            #[stage(replicate)]
            let x = k + 1;
            #[stage]
            out.push(format!("{} {}", x != 3, (x != 4) as u8));
        }
        out.push(x.to_string());
        out
    }

    fn items_that_the_head_has_too() -> Vec<u64> {
        let mut out = Vec::new();
        #[to_stream]
        for k in 0..N {
            const N: u64 = 3;
            #[stage(replicate)]
            let h = k * N;
            #[stage]
            out.push(h);
        }
        out
    }

    fn statics_with_names_of_ours(count: u64) -> Option<u64> {
        let mut sum = 0;
        #[to_stream]
        for k in 0..count {
            #[stage(replicate)]
            let h = k.checked_mul(value)?;
            #[stage]
            { sum += h + residual; if sum == 7 { return None; } }
        }
        Some(sum)
    }

    #[allow(non_snake_case)]
    fn names_in_capitals(count: u64) -> u64 {
        let mut sum = 0u64;
        #[to_stream]
        for M in 0..count {
            let A = N * 3;
            #[stage(replicate)]
            let (B, c) = (hash(A), M);
            #[stage]
            { sum = sum.wrapping_add(B ^ A ^ c ^ M); }
        }
        sum
    }

    fn raw_names_in_texts(count: u64) -> Vec<String> {
        let mut out = Vec::new();
        #[to_stream]
        for k in 0..count {
            #[stage(replicate)]
            let r#type = hash(k);
            #[stage]
            out.push(format!("{type} {0}", "{r#type}".len()));
        }
        out
    }

    fn question_marks_that_are_none(count: u64) -> Vec<String> {
        let mut out = Vec::new();
        #[to_stream]
        for k in 0..count {
            #[stage(replicate)]
            let text = shown!(?k);
            #[stage]
            out.push(text);
        }
        out
    }

    fn variables_with_names_that_ours_might_have(count: u64) -> (Vec<u64>, Vec<u64>, Vec<u64>, u64) {
        let mut result = Vec::new();
        let mut items = Vec::new();
        let mut report = Vec::new();
        let broken = vec![count];
        #[to_stream(report = |_| ())]
        for k in 0..count {
            if k % 5 == 3 { continue; }
            report = add(report, k);
            #[stage(replicate)]
            let h = hash(k);
            #[stage]
            items = add(items, h);
            #[stage]
            result = add(result, h + 1);
        }
        let found = #[to_stream] loop {
            #[stage(replicate)]
            let h = hash(count);
            #[stage]
            if h > 0 { break broken; }
        };
        (result, items, report, found[0])
    }

    fn a_name_in_a_closure_in_a_macro(count: u64) -> u64 {
        let mut x = 0;
        #[to_stream]
        for k in 0..count {
            let text = k.to_string();
            let bytes = text.into_bytes();
            #[stage(replicate)]
            let t = format!("{}{}", (0..k).map(|x| x + 1).sum::<u64>(), bytes.iter().map(|text| u64::from(*text)).sum::<u64>());
            #[stage]
            x += t.len() as u64;
        }
        x
    }

    fn a_constant_in_a_pattern_of_two(count: u64) -> u64 {
        let mut sum = 0;
        #[to_stream]
        for k in 0..count {
            let ((Some(b), _) | (None, b)) = (k.checked_sub(3), 7);
            #[stage(replicate)]
            let h = if b > 7 { None } else { Some(b) };
            #[stage]
            sum += h.unwrap_or(1);
        }
        sum
    }

    fn moved_into_a_macro(count: u64) -> Vec<u64> {
        let mut all = Vec::new();
        #[to_stream]
        for k in 0..count {
            #[stage(replicate)]
            let h = hash(k);
            #[stage]
            all = vec![all, vec![h]].into_iter().flatten().collect();
        }
        all
    }

    fn names_in_the_language_of_a_macro(count: u64) -> u64 {
        macro_rules! with { ($($k:ident = $e:expr),* ; $body:expr) => {{ $( let $k: u64 = $e; )* $body }} }
        let mut sum = 0;
        #[to_stream]
        for x in 0..count {
            #[stage(replicate)]
            let h = with!(y = x; y ^ 5);
            #[stage]
            sum += with!(a = h, b = x; a + b);
        }
        sum
    }

    fn numbers_that_methods_give(count: u64) -> u64 {
        let mut v = count;
        v += 1;
        let m = v.max(10);
        let mut text = vec![3u64, 9, 27];
        text.push(81);
        let at = text.binary_search(&9).unwrap_or(0);
        let mut sum = 0;
        #[to_stream]
        for x in 0..m.pow(2) {
            let y = at as u64 + x.wrapping_mul(3);
            #[stage(replicate)]
            let h = hash(y);
            #[stage]
            { sum ^= h; if x == 20 { break; } }
        }
        sum ^ v ^ text.len() as u64
    }

    fn a_copy_that_is_given_and_hidden(count: u64, limit: u64) -> u64 {
        let mut i = 0;
        #[to_stream(may_run_ahead)] loop {
            i += 1;
            let limit = match i { x if x > count / 2 => break limit, x => x * 3 };
            #[stage(replicate)]
            let h = limit;
            #[stage]
            let _ = h;
        }
    }

    fn macros_of_the_user(count: u64) -> Result<Vec<u64>, String> {
        macro_rules! add { ($to:ident, $n:expr) => { $to.push($n) } }
        macro_rules! times { ($n:expr) => { $n * 2 } }
        let mut out = Vec::new();
        let mut seen = 0;
        #[to_stream]
        for k in 0..count {
            if times!(k) == 6 { continue; }
            #[stage(replicate)]
            let (a, b) = { if times!(k) == 8 { continue; } (k, times!(k)) };
            #[stage]
            if times!(a) == 10 { continue; }
            #[stage(replicate)]
            let c = times!(a + b);
            #[stage]
            { seen += 1; add!(out, c); if times!(a) == 60 { return Err(format!("{seen} {c}")); } }
        }
        Ok(out)
    }
}

#[test]
fn the_variable_that_is_meant() {
    assert_eq!(same!(compared_in_a_macro(5))[2], "false 1");
    assert_eq!(same!(items_that_the_head_has_too()).len(), 10);
    assert_eq!(same!(statics_with_names_of_ours(20)), Some(860));
    same!(names_in_capitals(100));
    same!(raw_names_in_texts(20));
    same!(question_marks_that_are_none(20));
    assert_eq!(same!(variables_with_names_that_ours_might_have(20)).0.len(), 16);
    same!(a_name_in_a_closure_in_a_macro(20));
    same!(a_constant_in_a_pattern_of_two(20));
    assert_eq!(same!(moved_into_a_macro(20)).len(), 20);
    same!(a_copy_that_is_given_and_hidden(60, 27));
    same!(names_in_the_language_of_a_macro(30));
    same!(numbers_that_methods_give(30));
}

#[test]
fn macros_of_the_user_are_code_as_any() {
    for count in [20, 100] {
        let _ = same!(macros_of_the_user(count));
    }
}
