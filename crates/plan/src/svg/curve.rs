//! The curve of a prediction, as a picture.

use super::canvas::{Anchor, Canvas, INK, LINE_PX, Letters, Paint, round_step, width, wrapped};
use crate::predict::{Curve, Limit, Prediction};
use crate::quantity::{rate, span, times};
use crate::wording::plain;

const PREDICTED: Paint = Paint::line("#1f5c94").wide(2.5);
const IDEAL: Paint = Paint::line("#7a8492").wide(1.0).dashed();
const MEASURED: Paint = Paint::new("#ffffff", "#a8321f").wide(2.0);
const AXIS: Paint = Paint::line(INK).wide(1.2);
const BORDER: Paint = Paint::line("#9aa3af").wide(1.0).dashed();
const GRID: Paint = Paint::line("#dfe3e8").wide(1.0);

/// The margins of the chart and its size, in pixels.
const LEFT_PX: f64 = 64.0;
const TOP_PX: f64 = 64.0;
const WIDTH_PX: f64 = 560.0;
const HEIGHT_PX: f64 = 340.0;
const RIGHT_PX: f64 = 30.0;

/// A measurement that is this many times as fast as the loop cannot be right.
const UNBELIEVABLE: f64 = 1e6;

impl Curve {
    /// The speed-up over the number of workers, as a picture in SVG 1.1.
    ///
    /// The prediction is a line, and the ideal (a speed-up of 1 for each worker) is a dashed line. `measured`
    /// has pairs of a number of workers and nanoseconds an item, which are drawn as circles. The speed-up is
    /// relative to the predicted time of the sequential loop. A time that is not finite, or a million times
    /// shorter than that of the loop, is left out.
    ///
    /// ```
    /// use anabranch_plan::{ItemType, Node, Plan, Settings};
    ///
    /// let mut plan = Plan::new(Settings::new(8, 256));
    /// plan.push(Node::source("read").cost(1_000));
    /// plan.then(ItemType::of::<Vec<u8>>(), Node::parallel("encode").cost(30_000));
    /// plan.then(ItemType::of::<Vec<u8>>(), Node::sink("write").cost(5_000));
    ///
    /// let picture = plan.predict_range(1..=16)?.to_svg(&[(1, 36_400.0), (2, 18_900.0)]);
    /// assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
    /// # Ok::<(), anabranch_plan::PredictError>(())
    /// ```
    pub fn to_svg(&self, measured: &[(usize, f64)]) -> String {
        let mut points: Vec<&Prediction> = self.points.iter().collect();
        points.sort_by_key(|point| point.workers);
        // The time of the sequential loop is the same for every point of a plan.
        let sequential = points.first().map_or(1.0, |point| point.per_item * point.speedup);
        let measured: Vec<(usize, f64, f64)> = measured
            .iter()
            .filter(|(_, per_item)| per_item.is_finite() && *per_item > sequential / UNBELIEVABLE)
            .map(|&(workers, per_item)| (workers, per_item, sequential / per_item))
            .collect();
        let workers = points.iter().map(|point| point.workers).chain(measured.iter().map(|point| point.0));
        let most_workers = workers.max().unwrap_or(1).max(2);
        let speedups = points.iter().map(|point| point.speedup).chain(measured.iter().map(|point| point.2));
        let highest = speedups.fold(1.0, f64::max);
        let x_step = round_step(most_workers as f64 / 8.0).max(1.0);
        let y_step = round_step(highest / 6.0);
        let y_most = ((highest * 1.08) / y_step).ceil() * y_step;
        let x = |workers: f64| LEFT_PX + WIDTH_PX * workers / most_workers as f64;
        let y = |speedup: f64| TOP_PX + HEIGHT_PX - HEIGHT_PX * speedup / y_most;

        let mut canvas = Canvas::default();
        let title = match &self.name {
            Some(name) => format!("{}: speed-up over the sequential loop", plain(name)),
            None => "Speed-up over the sequential loop".to_owned(),
        };
        canvas.text((LEFT_PX, 26.0), Anchor::Start, Letters::TITLE, &title);
        let about = format!("which takes {} an item, {}", span(sequential), rate(1e9 / sequential));
        canvas.text((LEFT_PX, 26.0 + LINE_PX), Anchor::Start, Letters::FAINT, &about);

        for index in 0..=(y_most / y_step).round() as usize {
            let value = index as f64 * y_step;
            canvas.line(&[(LEFT_PX, y(value)), (LEFT_PX + WIDTH_PX, y(value))], GRID);
            canvas.text((LEFT_PX - 8.0, y(value) + 4.0), Anchor::End, Letters::PLAIN, &times(value));
        }
        for index in 0..=(most_workers as f64 / x_step) as usize {
            let value = index as f64 * x_step;
            canvas.line(&[(x(value), TOP_PX + HEIGHT_PX), (x(value), TOP_PX + HEIGHT_PX + 5.0)], AXIS);
            let at = (x(value), TOP_PX + HEIGHT_PX + 20.0);
            canvas.text(at, Anchor::Middle, Letters::PLAIN, &times(value));
        }
        canvas.line(
            &[(LEFT_PX, TOP_PX), (LEFT_PX, TOP_PX + HEIGHT_PX), (LEFT_PX + WIDTH_PX, TOP_PX + HEIGHT_PX)],
            AXIS,
        );
        let at = (LEFT_PX + WIDTH_PX / 2.0, TOP_PX + HEIGHT_PX + 40.0);
        canvas.text(at, Anchor::Middle, Letters::PLAIN, "workers");

        let end = y_most.min(most_workers as f64);
        canvas.line(&[(x(0.0), y(0.0)), (x(end), y(end))], IDEAL);

        self.regimes(&mut canvas, &points, &x);
        let line: Vec<(f64, f64)> =
            points.iter().map(|point| (x(point.workers as f64), y(point.speedup))).collect();
        canvas.line(&line, PREDICTED);
        for (point, at) in points.iter().zip(&line) {
            canvas.open(&format!("{point}\n{}", point.advice));
            canvas.circle(at.0, at.1, 2.5, Paint { fill: PREDICTED.line, ..PREDICTED.wide(1.0) });
            canvas.close();
        }
        for (workers, per_item, speedup) in &measured {
            let text =
                format!("measured with {workers}: {} an item, {} times", span(*per_item), times(*speedup));
            canvas.open(&text);
            canvas.circle(x(*workers as f64), y(*speedup), 5.0, MEASURED);
            canvas.close();
        }
        let bottom = legend(&mut canvas, &points, !measured.is_empty());
        canvas.document(&title, LEFT_PX + WIDTH_PX + RIGHT_PX, bottom + 16.0)
    }

    /// Draws a vertical line where another limit begins, with the name of the limit.
    fn regimes(&self, canvas: &mut Canvas, points: &[&Prediction], x: &dyn Fn(f64) -> f64) {
        let same = |a: &&Prediction, b: &&Prediction| a.limit == b.limit && a.bottleneck == b.bottleneck;
        let mut stretches = points.chunk_by(same).peekable();
        let mut begins = LEFT_PX;
        while let Some(stretch) = stretches.next() {
            let ends = match stretches.peek() {
                Some(next) => {
                    let (last, first) = (stretch[stretch.len() - 1].workers, next[0].workers);
                    let at = x((last as f64 + first as f64) / 2.0);
                    canvas.line(&[(at, TOP_PX), (at, TOP_PX + HEIGHT_PX)], BORDER);
                    at
                }
                None => LEFT_PX + WIDTH_PX,
            };
            let node = self.nodes.get(stretch[0].bottleneck.0).map_or(String::new(), |name| plain(name));
            let text = match stretch[0].limit {
                Limit::Serial => format!("limit: {node} (serial)"),
                Limit::Replicas => format!("limit: replicas of {node}"),
                Limit::Burst => format!("limit: bursts into {node}"),
                Limit::Window => "limit: window".to_owned(),
                Limit::Cores => "limit: cores".to_owned(),
                Limit::Workers => "limit: workers".to_owned(),
            };
            // A name without enough room is still in the tips of the points.
            if width(&text, Letters::FAINT) + 8.0 < ends - begins {
                let at = ((begins + ends) / 2.0, TOP_PX + HEIGHT_PX - 8.0);
                canvas.text(at, Anchor::Middle, Letters::FAINT, &text);
            }
            begins = ends;
        }
    }
}

/// Draws the legend, and what limits the throughput in the end. Returns its lower edge.
fn legend(canvas: &mut Canvas, points: &[&Prediction], has_measured: bool) -> f64 {
    let mut y = TOP_PX + HEIGHT_PX + 64.0;
    let mut at = LEFT_PX;
    let mut entries = vec![("predicted", PREDICTED), ("as many as workers", IDEAL)];
    if has_measured {
        entries.push(("measured", MEASURED));
    }
    for (text, paint) in entries {
        if text == "measured" {
            canvas.circle(at + 12.0, y - 4.0, 5.0, paint);
        } else {
            canvas.line(&[(at, y - 4.0), (at + 24.0, y - 4.0)], paint);
        }
        canvas.text((at + 32.0, y), Anchor::Start, Letters::PLAIN, text);
        at += 32.0 + width(text, Letters::PLAIN) + 24.0;
    }
    if let Some(last) = points.last() {
        y += 6.0;
        let text = format!("With {}: {}", crate::quantity::count(last.workers, "worker"), last.advice);
        for line in wrapped(&text, Letters::PLAIN, WIDTH_PX) {
            y += LINE_PX;
            canvas.text((LEFT_PX, y), Anchor::Start, Letters::PLAIN, &line);
        }
    }
    y
}
