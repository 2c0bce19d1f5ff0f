//! Reports as documents, of one run or of several.

use std::io::{self, Write};

use super::Report;

/// The format of a document of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReportFormat {
    /// Tables and sentences, as [`Report`]'s `Display` prints them.
    Text,
    /// A list of objects, each as [`Report::to_json`] returns it. It needs the feature `json`.
    #[cfg(feature = "json")]
    Json,
    /// A page like that of [`Report::to_html`], with an article for each run. It needs the feature `html`.
    #[cfg(feature = "html")]
    Html,
    /// A trace like that of [`Report::to_trace`], with a process for each run. A run starts where the
    /// previous one ends. It needs the feature `json`.
    #[cfg(feature = "json")]
    Trace,
}

/// Writes the reports of several runs as one document. It writes each report at once and keeps none.
///
/// ```
/// use anabranch::{ReportFormat, ReportSlot, ReportWriter, Stream};
///
/// let mut text = ReportWriter::new(Vec::new(), ReportFormat::Text);
/// for size in [10, 100] {
///     let slot = ReportSlot::new();
///     Stream::from_iter(0..size).workers(2).map(|n| n + 1).report_to(&slot).count();
///     let report = slot.take().unwrap();
///     text.write(&report)?;
/// }
/// let text = String::from_utf8(text.finish()?).unwrap();
/// assert!(text.starts_with("10 items in") && text.contains("\n100 items in"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct ReportWriter<W> {
    out: W,
    format: ReportFormat,
    runs: usize,
    /// When the next run starts in a trace.
    #[cfg(feature = "json")]
    at: std::time::Duration,
}

impl<W: Write> ReportWriter<W> {
    /// Creates a writer to `out`. If single writes to `out` are slow, it should be buffered.
    pub fn new(out: W, format: ReportFormat) -> Self {
        Self {
            out,
            format,
            runs: 0,
            #[cfg(feature = "json")]
            at: std::time::Duration::ZERO,
        }
    }

    /// Writes a report.
    ///
    /// # Errors
    ///
    /// The error of `out`, if a write fails.
    pub fn write(&mut self, report: &Report) -> io::Result<()> {
        let is_first = self.runs == 0;
        self.runs += 1;
        match self.format {
            ReportFormat::Text if is_first => writeln!(self.out, "{report}"),
            ReportFormat::Text => writeln!(self.out, "\n{report}"),
            #[cfg(feature = "json")]
            ReportFormat::Json => {
                write!(self.out, "{}{}", if is_first { "[\n" } else { ",\n" }, report.to_json())
            }
            #[cfg(feature = "html")]
            ReportFormat::Html => {
                if is_first {
                    self.out.write_all(super::html::head(report.plan.name.as_deref()).as_bytes())?;
                }
                self.out.write_all(report.article().as_bytes())
            }
            #[cfg(feature = "json")]
            ReportFormat::Trace => {
                let lead = if is_first { "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" } else { ",\n" };
                self.out.write_all(lead.as_bytes())?;
                self.out.write_all(report.trace_events(self.runs, self.at).as_bytes())?;
                self.at += report.wall;
                Ok(())
            }
        }
    }

    /// Writes the end of the document, flushes `out` and returns it. If no report was written, the document
    /// is an empty one.
    ///
    /// # Errors
    ///
    /// The error of `out`, if a write fails.
    pub fn finish(mut self) -> io::Result<W> {
        let end = match self.format {
            ReportFormat::Text => "",
            #[cfg(feature = "json")]
            ReportFormat::Json if self.runs == 0 => "[]\n",
            #[cfg(feature = "json")]
            ReportFormat::Json => "\n]\n",
            #[cfg(feature = "html")]
            ReportFormat::Html => {
                if self.runs == 0 {
                    self.out.write_all(super::html::head(None).as_bytes())?;
                }
                super::html::TAIL
            }
            #[cfg(feature = "json")]
            ReportFormat::Trace if self.runs == 0 => "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[]}\n",
            #[cfg(feature = "json")]
            ReportFormat::Trace => "\n]}\n",
        };
        self.out.write_all(end.as_bytes())?;
        self.out.flush()?;
        Ok(self.out)
    }
}

#[cfg(any(feature = "json", feature = "html"))]
impl Report {
    /// The report as an HTML page. It shows what bounded the throughput, the table, the picture of the plan,
    /// what each thread did and how many items waited over time, the latencies, and the predicted speed-up.
    ///
    /// The page loads nothing, runs no script, and follows the reader's choice of a light or a dark theme.
    ///
    /// Needs the feature `html`.
    ///
    /// ```
    /// let slot = anabranch::ReportSlot::new();
    /// anabranch::Stream::from_iter(0..100).workers(2).map(|n| n + 1).report_to(&slot).for_each(drop);
    /// let report = slot.take().unwrap();
    /// assert!(report.to_html().starts_with("<!DOCTYPE html>"));
    /// ```
    #[cfg(feature = "html")]
    pub fn to_html(&self) -> String {
        self.document(ReportFormat::Html)
    }

    /// The run as a trace for Perfetto or `chrome://tracing`, in JSON.
    ///
    /// The trace has a track for each thread. A slice on it is a pull of the source, a claim of a parallel
    /// unit or a serving of a serial unit, with the name of the unit and the number of items. A slice `idle`
    /// means that the thread finds nothing to do. For each unit there is a counter of the items that wait
    /// before it.
    ///
    /// The slices are recorded only if the stream was told to: [`Stream::trace`](crate::Stream::trace). The
    /// name of a thread says how many slices were not kept. The label of the process says what bounded the
    /// throughput.
    ///
    /// Needs the feature `json`.
    ///
    /// ```
    /// use anabranch::{ReportSlot, Stream};
    ///
    /// let slot = ReportSlot::new();
    /// Stream::from_iter(0..100).workers(2).trace().map(|n| n + 1).report_to(&slot).for_each(drop);
    /// let report = slot.take().unwrap();
    /// assert!(report.to_trace().contains("\"name\":\"map\",\"ph\":\"X\""));
    /// ```
    #[cfg(feature = "json")]
    pub fn to_trace(&self) -> String {
        self.document(ReportFormat::Trace)
    }

    /// The document that has only this report.
    fn document(&self, format: ReportFormat) -> String {
        let mut writer = ReportWriter::new(Vec::new(), format);
        let written = writer.write(self).and_then(|()| writer.finish());
        let bytes = written.expect("memory can be written to");
        String::from_utf8(bytes).expect("reports are written as UTF-8")
    }
}
