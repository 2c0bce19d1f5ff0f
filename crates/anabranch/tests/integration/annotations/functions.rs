//! Functions of each kind.

use super::*;

twice! {
    fn generic [T: Send + Sync + Clone, F: Fn(&T) -> R + Sync, R: Send] (items: &[T], f: F) -> Vec<R> {
        let mut out = Vec::new();
        #[to_stream]
        for item in items {
            #[stage(replicate)]
            let result = f(item);
            #[stage]
            out.push(result);
        }
        out
    }

    fn impl_trait(items: impl Iterator<Item = u64> + Send, out: &mut (impl Write + Send)) -> io::Result<usize> {
        let mut count = 0;
        #[to_stream]
        for n in items {
            #[stage(replicate)]
            let line = format!("{}\n", hash(n));
            #[stage]
            out.write_all(line.as_bytes())?;
            count += 1;
        }
        Ok(count)
    }

    fn two_streams(count: u64) -> (Vec<u64>, Vec<u64>) {
        let mut first = Vec::new();
        #[to_stream]
        for n in 0..count {
            #[stage(replicate)]
            let h = hash(n);
            #[stage]
            first.push(h);
        }
        let mut second = Vec::new();
        #[to_stream]
        for h in &first {
            #[stage(replicate)]
            let n = hash(*h);
            #[stage]
            second.push(n);
        }
        (first, second)
    }

    fn nested(rows: &[Vec<String>]) -> Result<Vec<u64>, String> {
        let mut sums = Vec::new();
        #[to_stream]
        for row in rows {
            #[stage(replicate = 2)]
            let sum = {
                let mut sum = 0u64;
                #[to_stream(workers = 2)]
                for text in row {
                    #[stage(replicate)]
                    let number = parse(text).map_err(|error| format!("{text}: {error}"))?;
                    #[stage]
                    sum = sum.wrapping_add(hash(number));
                }
                sum
            };
            #[stage]
            sums.push(sum);
        }
        Ok(sums)
    }

    fn in_a_closure(count: u64) -> Result<u64, String> {
        let run = |offset: u64| -> Result<u64, std::num::ParseIntError> {
            let mut sum = 0u64;
            #[to_stream]
            for n in 0..count {
                #[stage(replicate)]
                let m: u64 = (n + offset).to_string().parse()?;
                #[stage]
                sum = sum.wrapping_add(hash(m));
            }
            Ok(sum)
        };
        let first = run(1).map_err(|error| error.to_string())?;
        Ok(first ^ run(2).map_err(|error| error.to_string())?)
    }

    fn into_impl(count: u64) -> impl Iterator<Item = u64> {
        let mut out = Vec::new();
        #[to_stream]
        for n in 0..count {
            #[stage(replicate)]
            let h = hash(n);
            #[stage]
            out.push(h);
        }
        out.into_iter()
    }
}

#[test]
fn functions_of_each_kind() {
    same!(generic(&[3u64, 5, 7], |n: &u64| hash(*n)));
    let written = |f: fn(std::ops::Range<u64>, &mut Vec<u8>) -> io::Result<usize>| {
        let mut out = Vec::new();
        let count = f(0..200, &mut out).unwrap();
        (count, out)
    };
    assert_eq!(written(annotated::impl_trait), written(plain::impl_trait));
    same!(two_streams(100));
    let _ = same!(in_a_closure(100));
    assert!(annotated::into_impl(100).eq(plain::into_impl(100)));
    for bad in [None, Some(3)] {
        let rows =
            move || (0..5).map(|row| lines(bad.filter(|&bad| bad == row)).split_off(450)).collect::<Vec<_>>();
        let _ = same!(nested(&rows()));
    }
}

trait Sums {
    fn weight(&self, n: u64) -> u64;

    #[stream]
    fn sum(&self, count: u64) -> u64
    where
        Self: Sync,
    {
        let mut sum = 0u64;
        #[to_stream]
        for n in 0..count {
            #[stage(replicate)]
            let weight = self.weight(n);
            sum += weight;
        }
        sum
    }
}

impl Sums for u64 {
    fn weight(&self, n: u64) -> u64 {
        self * n
    }
}

#[test]
fn methods_of_traits() {
    assert_eq!(within(|| 3u64.sum(100)), 14_850);
}

/// Counts words with methods that change `self` in a serial stage.
#[derive(Default)]
struct Counter {
    counts: BTreeMap<String, usize>,
    fold: bool,
}

impl Counter {
    #[stream]
    fn count(&mut self, text: &str) -> usize {
        let mut words = 0;
        let fold = self.fold;
        #[to_stream]
        for line in text.lines() {
            #[stage(replicate)]
            let found: Vec<String> = line
                .split_whitespace()
                .map(|word| if fold { word.to_lowercase() } else { word.to_owned() })
                .collect();
            #[stage]
            for word in found {
                *self.counts.entry(word).or_default() += 1;
                words += 1;
            }
        }
        words
    }

    #[stream]
    fn most(&self, least: usize) -> Option<&str> {
        let mut most = None;
        #[to_stream]
        for (word, &count) in &self.counts {
            #[stage(replicate)]
            if count < least || self.fold && word.is_empty() {
                continue;
            }
            #[stage]
            if most.is_none_or(|(_, other)| other < count) {
                most = Some((word, count));
            }
        }
        most.map(|(word, _)| word.as_str())
    }
}

#[test]
fn methods_with_self() {
    within(|| {
        let mut counter = Counter { fold: true, ..Counter::default() };
        assert_eq!(counter.count("the river and The sea\nand the rain"), 8);
        assert_eq!(counter.most(2), Some("the"));
        assert_eq!(counter.most(9), None);
    });
}

mod renamed {
    //! The crate under another name.
    use anabranch as ab;

    #[ab::stream(crate = self::ab)]
    pub fn sum(numbers: &[u64]) -> Option<u64> {
        let mut sum = 0u64;
        #[ab::to_stream]
        for n in numbers {
            #[ab::stage(replicate)]
            let square = n.checked_mul(*n)?;
            #[ab::stage]
            sum += square;
        }
        Some(sum)
    }

    #[ab::stream(off)]
    pub fn plain(numbers: &[u64]) -> Option<u64> {
        let mut sum = 0u64;
        #[ab::to_stream]
        for n in numbers {
            #[ab::stage(replicate)]
            let square = n.checked_mul(*n)?;
            #[ab::stage]
            sum += square;
        }
        Some(sum)
    }
}

#[test]
fn by_another_name() {
    for numbers in [&[1, 2, 3][..], &[1, u64::MAX]] {
        assert_eq!(renamed::sum(numbers), renamed::plain(numbers));
    }
}
