//! The network of processes.

use std::ops::ControlFlow::{Break, Continue};

use anabranch_network::{Horizon, Network};

use crate::slices::Joined;
use crate::{Error, Output, Result, Run};

use super::Block;
use super::entropy::Blocks;
use super::idct::transform;
use super::strips::{Pixels, Strip, Widener};

/// The samples of a block.
#[derive(Debug, Clone, Copy)]
struct Samples([u8; 64]);

impl Default for Samples {
    fn default() -> Self {
        Self([0; 64])
    }
}

/// The number of bursts and strips that a record holds for each of its views.
const HELD: usize = 2;

pub(super) fn decode(mut blocks: Blocks<'_>, output: &mut Output<'_>, burst: usize, run: &Run) -> Result<()> {
    let copies = run.workers();
    let frame = blocks.frame().clone();
    let (in_row, rows) = (frame.mcus_in_row, frame.mcu_rows);
    let pixels = Pixels::new(&frame);
    let stage = |name: &str| run.meters().stage(name);
    let mut net = Network::<Error>::new();
    let (mut give_blocks, mut large) = (Vec::new(), Vec::new());
    for component in &frame.components {
        let in_mcu = component.across * component.down;
        // A burst has the same MCUs for all components.
        let (in_burst, in_strip) = (burst * in_mcu, in_row * in_mcu);
        let name = format!("blocks {}", component.index + 1);
        let horizon = Horizon::of(HELD * in_burst * copies).named(&name);
        let (give, takes) = if copies == 1 {
            let (give, take) = net.record::<Block>(horizon);
            (give, vec![take])
        } else {
            net.deal(horizon, copies, in_burst)
        };
        give_blocks.push(give.produces(in_burst));

        let name = format!("samples {}", component.index + 1);
        let horizon = Horizon::of(HELD * in_burst * copies + HELD * in_strip).named(&name);
        let (gives, take_samples) = if copies == 1 {
            let (give, take) = net.record::<Samples>(horizon);
            (vec![give], take)
        } else {
            net.merge(horizon, copies, in_burst)
        };
        for (take, give) in takes.into_iter().zip(gives) {
            let (meter, quantisers) = (stage("idct"), *blocks.quantisers(component.index));
            let (mut before, mut after) = (Joined::new(), Joined::new());
            net.rule("idct", take.consumes(in_burst), give.produces(in_burst), move |blocks, samples| {
                before.read(blocks, |blocks: &[Block]| {
                    after.write(samples, |samples: &mut [Samples]| {
                        meter.time(|| {
                            for (block, samples) in blocks.iter().zip(samples) {
                                transform(&block.0, &quantisers, &mut samples.0);
                            }
                        });
                    });
                });
                Ok(())
            });
        }

        let strips = |name: &str| Horizon::of(2 * HELD).named(&format!("{name} {}", component.index + 1));
        let (give, take_strips) = net.record::<Strip>(strips("rows"));
        let meter = stage("rows");
        let own = component.clone();
        let mut joined = Joined::new();
        net.rule("rows", take_samples.consumes(in_strip), give.produces(1), move |samples, strips| {
            let mut strip = Strip::new(&own);
            joined.read(samples, |samples: &[Samples]| {
                meter.time(|| {
                    samples
                        .iter()
                        .enumerate()
                        .for_each(|(number, samples)| strip.place(&own, number, &samples.0));
                });
            });
            strips.push(strip);
            Ok(())
        });

        let mut widener = Widener::new(&frame, component);
        if widener.is_whole() {
            large.push(take_strips.consumes(1));
            continue;
        }
        let (give, take_large) = net.record::<Strip>(strips("large rows"));
        let (meter, mut number) = (stage("upsample"), 0);
        // One more strip follows the last, beyond the picture.
        net.rule("upsample", take_strips.consumes(1).peeks(2), give.produces(1), move |strips, large| {
            let mut wide = Strip::default();
            meter.time(|| widener.widen(number, &strips[0], strips.get(1), &mut wide));
            number += 1;
            large.push(wide);
            Ok(())
        });
        large.push(take_large.consumes(1));
    }

    // The strip beyond the picture, and the padding of the last burst.
    let mut left = (in_row * (rows + 1)).div_ceil(burst);
    let (meter, mut burst_of) = (stage("entropy"), vec![Vec::new(); frame.components.len()]);
    net.rule("entropy", (), give_blocks, move |(), given| {
        if left == 0 {
            return Ok(Break(()));
        }
        left -= 1;
        burst_of.iter_mut().for_each(Vec::clear);
        meter.time(|| blocks.read(burst, &mut burst_of))?;
        for (given, blocks) in given.iter_mut().zip(&burst_of) {
            given.with_slices(|at, slots| slots.copy_from_slice(&blocks[at..at + slots.len()]));
        }
        Ok(Continue(()))
    });

    let (give_pixels, take_pixels) = net.record::<Vec<u8>>(Horizon::of(2 * HELD).named("pixels"));
    let (meter, mut number) = (stage("colour"), 0);
    net.rule("colour", large, give_pixels.produces(1), move |large, made| {
        if number == rows {
            return Ok(Break(()));
        }
        let mut row = Vec::new();
        let strips: Vec<&Strip> = large.iter().map(|strips| &strips[0]).collect();
        meter.time(|| pixels.make(number, &strips, &mut row));
        number += 1;
        made.push(row);
        Ok(Continue(()))
    });
    let (meter, mut header) = (stage("write"), Some(frame.header()));
    net.rule("write", take_pixels.consumes(1), (), move |rows, ()| {
        if let Some(header) = header.take() {
            output.put(header.as_bytes())?;
        }
        rows.pop().map_or(Ok(()), |row| meter.time(|| output.put(&row)))
    });
    run.network(net)
}
