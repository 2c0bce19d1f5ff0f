//! Loops of each kind.

use super::*;

twice! {
    fn for_loop(count: u64) -> Vec<u64> {
        let mut out = Vec::new();
        #[to_stream]
        for n in 0..count {
            #[stage(replicate)]
            let h = hash(n);
            #[stage]
            out.push(h);
        }
        out
    }

    fn while_loop(count: u64) -> (u64, Vec<(u64, u64)>) {
        let mut n = 0;
        let mut out = Vec::new();
        #[to_stream]
        while n < count {
            n += 1;
            let now = n;
            #[stage(replicate = 3)]
            let h = hash(now);
            #[stage]
            {
                out.push((now, h));
            }
        }
        (n, out)
    }

    fn while_let(mut stack: Vec<u64>) -> u64 {
        let mut sum = 0u64;
        #[to_stream]
        while let Some(n) = stack.pop() {
            if n == 3 {
                continue;
            }
            #[stage(replicate)]
            let h = hash(n);
            sum = sum.wrapping_mul(31).wrapping_add(h);
        }
        sum
    }

    fn endless_loop(mut input: &'static [u8]) -> Vec<u8> {
        let mut output = Vec::new();
        #[to_stream(window = 4, workers = 3)]
        loop {
            let mut block = vec![0; 7];
            let length = input.read(&mut block).unwrap();
            block.truncate(length);
            if block.is_empty() {
                break;
            }
            #[stage(replicate)]
            block.make_ascii_uppercase();
            #[stage]
            output.write_all(&block).unwrap();
        }
        output
    }

    fn in_a_block(count: u64) -> u64 {
        let mut sum = 0u64;
        #[to_stream]
        {
            let offset = 7;
            for n in 0..count {
                #[stage(replicate)]
                let h = hash(n + offset);
                #[stage]
                sum = sum.wrapping_add(h);
            }
            sum += offset;
        }
        sum
    }

    fn nothing_to_do() -> u32 {
        let mut count = 0;
        #[to_stream]
        for _ in [(); 0] {
            #[stage(replicate)]
            let () = ();
            #[stage]
            count += 1;
        }
        count
    }

    fn last_stage_replicated(count: u64) -> u64 {
        let sum = std::sync::atomic::AtomicU64::new(0);
        #[to_stream]
        for n in 0..count {
            #[stage(replicate)]
            {
                if n % 3 == 0 { continue; }
                sum.fetch_add(hash(n) % 1_000, std::sync::atomic::Ordering::Relaxed);
            }
        }
        sum.into_inner()
    }
}

#[test]
fn loops_of_each_kind_are_the_loop() {
    assert_eq!(same!(for_loop(1_000)).len(), 1_000);
    same!(while_loop(300));
    same!(while_let((0..200).collect()));
    assert_eq!(same!(endless_loop(b"down the river and up again")), b"DOWN THE RIVER AND UP AGAIN");
    same!(in_a_block(100));
    same!(nothing_to_do());
    same!(last_stage_replicated(1_000));
}
