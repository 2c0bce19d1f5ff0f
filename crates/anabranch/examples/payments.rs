//! Books payments: the wrong ones take another way, every payment is written to a journal, and the order stays.
//!
//!     cargo run --release -p anabranch --example payments

use anabranch::Stream;

/// A payment: from whom, to whom, and how much in cents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// The account that pays.
    pub from: String,
    /// The account that is paid.
    pub to: String,
    /// The amount in cents.
    pub cents: u64,
}

fn parse(line: &str) -> Result<Payment, String> {
    let wrong = |why: &str| format!("{line}: {why}");
    let [from, to, cents] = line.split(',').collect::<Vec<_>>()[..] else {
        return Err(wrong("expected FROM,TO,CENTS"));
    };
    let cents = cents.parse().map_err(|_| wrong("the amount is no number"))?;
    Ok(Payment { from: from.to_owned(), to: to.to_owned(), cents })
}

/// A number by which a payment can be found again.
fn seal(payment: &Result<Payment, String>) -> u32 {
    let text = format!("{payment:?}");
    text.bytes().fold(0, |seal, byte| seal.rotate_left(5) ^ u32::from(byte))
}

/// The outcome of each line: a receipt or a reason, with its seal.
///
/// The loop would parse a line, write it to the journal, book or refuse it, and print the result.
pub fn book(lines: &str, journal: &mut Vec<String>) -> Vec<(String, u32)> {
    let mut total = 0;
    Stream::from_iter(lines.lines())
        .map(parse) // on all cores
        .broadcast() // each payment goes to all three branches
        .branch(|payments| payments.serial_map(|payment| journal.push(format!("{payment:?}"))))
        .branch(|payments| {
            payments
                .split(|payment: &Result<_, _>| usize::from(payment.is_err())) // and to one of these two
                .branch(|right| {
                    right.filter_map(Result::ok).serial_map(|payment| {
                        total += payment.cents; // in order, beside the journal
                        format!("{} to {}, {total} so far", payment.cents, payment.to)
                    })
                })
                .branch(|wrong| wrong.filter_map(Result::err).map(|why| format!("refused: {why}")))
                .join()
        })
        .branch(|payments| payments.map(|payment| seal(&payment))) // on all cores
        .zip()
        .map(|((), result, seal)| (result, seal))
        .collect()
}

fn main() {
    let mut journal = Vec::new();
    for (result, seal) in book("ann,bob,250\nbob,cid\nbob,cid,99\nann,cid,x\n", &mut journal) {
        println!("{seal:08x} {result}");
    }
    println!("{} lines in the journal", journal.len());
}
