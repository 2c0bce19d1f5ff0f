//! States that each worker has for itself.

use super::*;

twice! {
    fn state_by_name(words: &[String]) -> Vec<usize> {
        let mut buffer = String::new();
        let mut count = 0usize;
        let mut out = Vec::new();
        #[to_stream]
        for word in words {
            #[stage(replicate = 2, state(buffer = String::with_capacity(8), count = 0))]
            let length = {
                buffer.clear();
                buffer.push_str(word);
                count += 1;
                buffer.push_str(word);
                buffer.len()
            };
            out.push(length);
        }
        out
    }

    fn state_found(words: &[String]) -> Vec<usize> {
        let mut buffer = String::new();
        let mut out = Vec::new();
        #[to_stream(schedule = dealt)]
        for word in words {
            #[stage(replicate = 3, state = || String::new())]
            let length = {
                buffer.clear();
                buffer.push_str(word);
                if buffer.len() == 2 { continue; }
                buffer.len()
            };
            out.push(length);
        }
        out
    }

    fn state_of_an_inferred_type(words: &[String]) -> usize {
        let mut sum = 0;
        let mut buffer = Vec::new();
        #[to_stream]
        for word in words {
            #[stage(replicate, state(buffer = Vec::new()))]
            let length = { buffer.clear(); buffer.extend_from_slice(word.as_bytes()); buffer.len() };
            sum += length;
        }
        sum
    }

    fn state_in_macros(count: u64) -> Vec<String> {
        let mut out = Vec::new();
        let mut last = 0u64;
        let mut buffer: Vec<u64> = Vec::new();
        #[to_stream]
        for k in 0..count {
            #[stage(replicate, state(last = 0, buffer = Vec::new()))]
            let text = {
                last = k;
                buffer.clear();
                buffer.push(k);
                assert_eq!(buffer, [k], "{buffer:?}");
                assert!(matches!(buffer[..], [n] if n == last));
                let twice = vec![last; 2].len() + vec![buffer.iter().map(|last| last + 1).sum::<u64>(), last].len();
                format!("{} {last} {twice} {}", last + 1, buffer[0])
            };
            out.push(text);
        }
        out
    }

    fn state_in_the_shadow(count: u64) -> u64 {
        struct Seed { seed: u64 }
        let mut sum = 0u64;
        let mut seed = 0u64;
        let mut buffer: Vec<u64> = Vec::new();
        #[to_stream]
        for k in 0..count {
            #[stage(replicate, state(buffer = Vec::new(), seed = 1))]
            let h = {
                buffer.clear();
                buffer.push(k);
                seed = k + 1;
                let made = Seed { seed };
                let total: u64 = buffer.iter().sum();
                let next = |buffer: u64| buffer + 1;
                let buffer = next(total);
                buffer * made.seed
            };
            sum += h;
        }
        sum
    }

    fn state_in_a_stage_of_another_stream(count: u64) -> u64 {
        let mut buffer: Vec<u64> = Vec::new();
        let mut all = 0;
        #[to_stream]
        for x in 0..count {
            #[stage(replicate)]
            let h = {
                let mut sum = 0;
                #[to_stream]
                for k in 0..x % 5 {
                    #[stage(replicate, state(buffer = Vec::new()))]
                    let g = { buffer.clear(); buffer.push(k); buffer[0] };
                    #[stage]
                    sum += g;
                }
                sum
            };
            #[stage]
            all += h;
        }
        all
    }
}

#[test]
fn states_are_made_for_each_worker() {
    same!(state_in_a_stage_of_another_stream(30));
    same!(state_by_name(&lines(None)));
    same!(state_found(&lines(None)));
    same!(state_of_an_inferred_type(&lines(None)));
    same!(state_in_macros(100));
    same!(state_in_the_shadow(100));
}
