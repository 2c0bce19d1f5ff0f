//! Follows the links of pages on all cores, from one page on, and finds how far each page is: a search that feeds itself.
//!
//!     cargo run --release -p anabranch --example links

use std::collections::{BTreeMap, HashMap, HashSet};

use anabranch::{Lap, Stream};

/// The text of each page, by its name.
pub type Pages = HashMap<String, String>;

/// At most this many pages are fetched at once. The order of the results depends on this number, and on nothing else.
const PAGES: usize = 16;

/// The links of a page: the words that begin with `/`.
fn links(text: &str) -> Vec<String> {
    text.split_whitespace().filter(|word| word.starts_with('/')).map(str::to_owned).collect()
}

/// The results of one page: the page itself leaves, and pages that were not seen before go round.
type Laps = Vec<Lap<(String, u32), (String, u32)>>;

/// How many links lead from `start` to each page, on the way on which it was found. A page that is missing has no links.
pub fn distances(pages: &Pages, start: &str) -> BTreeMap<String, u32> {
    let mut seen = HashSet::from([start.to_owned()]);
    Stream::from_iter([(start.to_owned(), 0)])
        .feedback(PAGES, |round| {
            round
                .map(|(name, steps)| {
                    let links = pages.get(&name).map_or_else(Vec::new, |text| links(text)); // on all cores
                    (name, steps, links)
                })
                .serial_map(move |(name, steps, links)| {
                    // One at a time and in order, so `seen` needs no lock and the search is the same in every run.
                    let mut laps: Laps = vec![Lap::Done((name, steps))];
                    for link in links {
                        if seen.insert(link.clone()) {
                            laps.push(Lap::Again((link, steps + 1)));
                        }
                    }
                    laps
                })
                .flatten()
        })
        .collect()
}

/// Pages in which page *n* links to pages 2 *n* and 2 *n* + 1, and back to the first.
pub fn sample(count: u32) -> Pages {
    let page = |n: u32| (format!("/{n}"), format!("see /{} and /{} or go /1", 2 * n, 2 * n + 1));
    (1..=count).map(page).collect()
}

fn main() {
    let distances = distances(&sample(1_000), "/1");
    let farthest = distances.iter().max_by_key(|page| page.1);
    println!("{} pages, the farthest {farthest:?}", distances.len());
}
