//! Reports as HTML: one file that loads nothing from elsewhere and runs no script.

mod charts;
mod markup;

use anabranch_plan::Role;
use anabranch_plan::quantity::{percent, rate, times};

use markup::{color, escaped, prose, section};

use super::table::{cells, short};
use super::{NodeReport, Report};

const STYLE: &str = include_str!("page.css");

/// The start of a page, before its articles.
pub(super) fn head(title: Option<&str>) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n",
        escaped(title.unwrap_or("Report")),
    )
}

/// The end of a page, after its articles.
pub(super) const TAIL: &str = "</main>\n</body>\n</html>\n";

impl Report {
    /// The article about this run.
    pub(super) fn article(&self) -> String {
        let mut page = format!(
            "<article>\n<h1>{}</h1>\n<p class=\"sub\">{}</p>\n",
            escaped(self.plan.name.as_deref().unwrap_or("Report")),
            escaped(&self.run_line()),
        );
        page += &self.figures();
        page += &format!("<section class=\"said\"><p>{}</p></section>\n", prose(&self.explanation()));
        page += &self.stages();
        page += &self.threads();
        page += &self.queues();
        page += &self.latency_charts();
        let hint = "The stages that ran, with their measurements.";
        page += &section("Plan", hint, &format!("<div class=\"picture\">{}</div>", self.to_svg()));
        if let Some(curve) = self.curve() {
            let measured = self.per_item().map(|nanos| (self.plan.settings.workers, nanos));
            let picture = curve.to_svg(measured.as_slice());
            let hint = "From the measured costs, with a core for each worker. The circle is this run.";
            page += &section("Predicted speed-up", hint, &format!("<div class=\"picture\">{picture}</div>"));
        }
        page += &self.choice_list();
        page += &format!(
            "<section><details><summary>The plan in words</summary><pre>{}</pre></details></section>\n</article>\n",
            escaped(&self.costed.to_string()),
        );
        page
    }

    fn run_line(&self) -> String {
        let line = self.headline();
        let name = self.plan.name.as_ref().map_or(String::new(), |name| format!("{name}: "));
        line.strip_prefix(&name).unwrap_or(&line).to_owned()
    }

    /// The main numbers of the run.
    fn figures(&self) -> String {
        let mut tiles = vec![(rate(self.throughput()), "measured".to_owned())];
        if let Some(prediction) = &self.prediction {
            let off = prediction.throughput / self.throughput().max(1e-9) - 1.0;
            let beside = match percent(off.abs()).as_str() {
                "0 %" => "predicted from the costs: the same".to_owned(),
                share => {
                    format!("predicted from the costs: {share} {}", if off > 0.0 { "more" } else { "less" })
                }
            };
            tiles.push((rate(prediction.throughput), beside));
            if let Some(measured) = self.per_item() {
                let speedup = prediction.per_item * prediction.speedup / measured;
                tiles.push((format!("{} ×", times(speedup)), "as fast as the plain loop".to_owned()));
            }
        }
        if let Some(latency) = self.latencies.last() {
            tiles.push((short(latency.p50), "half of the items took at most this long".to_owned()));
            tiles.push((short(latency.p99), "99 % of the items took at most this long".to_owned()));
        }
        let tiles = tiles.iter().map(|(value, what)| {
            format!("<section><b>{}</b><span>{}</span></section>", escaped(value), escaped(what))
        });
        format!("<div class=\"figures\">{}</div>\n", tiles.collect::<String>())
    }

    fn stages(&self) -> String {
        let mut rows = String::new();
        for (at, node) in self.nodes.iter().enumerate() {
            let [items, busy, each, used, waiting, occupancy] = cells(node);
            let is_bottleneck = self.bottleneck == Some(at);
            let (class, tag) = match is_bottleneck {
                true => (" class=\"bottleneck\"", "<span class=\"tag\">busiest</span>"),
                false => ("", ""),
            };
            let (color, width) = (color(at), 100.0 * node.utilization.clamp(0.0, 1.0));
            rows += &format!(
                "<tr{class}><td><i class=\"swatch\" style=\"background:{color}\"></i>{}<span class=\"kind\">{}</span>{tag}\
                 </td><td>{items}</td><td>{busy}</td><td>{each}</td><td><span class=\"meter\"><i \
                 style=\"width:{width:.1}%;background:{color}\"></i></span>{used}</td><td>{waiting}</td>\
                 <td>{occupancy}</td></tr>\n",
                escaped(&node.name),
                kind(node),
            );
        }
        let head = "<tr><th>stage</th><th>items</th><th>busy</th><th>an item</th><th>used</th><th>waiting</th>\
                    <th>occupancy</th></tr>";
        let hint = "Busy: the time that threads spent in the stage. Used: the share of the time that they could have \
                    spent in it. Waiting and occupancy: how long an item waited before the stage on average, and how \
                    many items did.";
        section("Stages", hint, &format!("<div class=\"scroll\"><table>{head}\n{rows}</table></div>"))
    }

    /// The choices of passes.
    fn choice_list(&self) -> String {
        let choices = self.choices();
        if choices.is_empty() {
            return String::new();
        }
        let items = choices.iter().map(|note| format!("<li>{}</li>", prose(&note.to_string())));
        let hint = "From the measured costs. These choices do not make the run faster, but use less: fewer items wait in \
                    memory, and fewer threads crowd a stage.";
        section("What passes would choose", hint, &format!("<ul>{}</ul>", items.collect::<String>()))
    }

    /// The legend: which colour is which stage.
    fn key(&self, rest: Option<&str>) -> String {
        let mut items: Vec<(&str, &str)> =
            self.nodes.iter().enumerate().map(|(at, node)| (&*node.name, color(at))).collect();
        items.extend(rest.map(|name| (name, "var(--idle)")));
        let items = items.iter().map(|(name, color)| {
            format!("<span><i class=\"swatch\" style=\"background:{color}\"></i>{}</span>", escaped(name))
        });
        format!("<div class=\"key\">{}</div>", items.collect::<String>())
    }
}

fn kind(node: &NodeReport) -> String {
    match node.role {
        Role::Parallel => format!("parallel ×{}", node.threads),
        role => role.name().to_owned(),
    }
}
