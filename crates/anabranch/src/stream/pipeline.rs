//! Chains of stages as values.

use std::fmt;

use super::{Mode, Stream, Sure};

/// A chain of stages as a value: from items `T` to items `V`, for any number of streams, and as a part of other chains.
///
/// [`Stream::through`] applies it. Each time, its function is called and makes the stages anew, so streams share none of
/// their states. With a [name](Self::named), its stages are called after it in plans and reports.
///
/// ```
/// use anabranch::{Pipeline, Stream};
///
/// let words = Pipeline::new(|lines: Stream<&str>| lines.filter(|line| !line.is_empty()).map(str::to_uppercase));
/// let numbered = Pipeline::new(|words: Stream<String>| words.enumerate().map(|(n, word)| format!("{n} {word}")));
/// let both = words.named("words").then(numbered.named("numbered"));
///
/// for lines in [vec!["a", "", "b"], vec!["c"]] {
///     let stream = Stream::from_iter(lines).through(&both);
///     assert!(stream.plan().nodes.iter().any(|node| node.name == "words/filter"));
///     println!("{}", stream.collect::<Vec<_>>().join(", "));
/// }
/// assert_eq!(Stream::from_iter(["x"]).through(&both).collect::<Vec<_>>(), ["0 X"]);
/// ```
pub struct Pipeline<'env, T: Send, V: Send, M: Mode = Sure> {
    name: Option<String>,
    stages: Box<Stages<'env, T, V, M>>,
}

/// The function that makes the stages.
type Stages<'env, T, V, M> = dyn Fn(Stream<'env, T, M>) -> Stream<'env, V, M> + Send + Sync + 'env;

impl<T: Send, V: Send, M: Mode> fmt::Debug for Pipeline<'_, T, V, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<'env, T, V, M> Pipeline<'env, T, V, M>
where
    T: Send + 'env,
    V: Send + 'env,
    M: Mode + 'env,
    M::Error: Send + 'env,
{
    /// Creates a pipeline of the stages that `stages` adds to a stream.
    ///
    /// If a stage may fail, `stages` takes a [`TryStream`](crate::TryStream), whose error is that of the stage.
    pub fn new<F>(stages: F) -> Self
    where
        F: Fn(Stream<'env, T, M>) -> Stream<'env, V, M> + Send + Sync + 'env,
    {
        Self { name: None, stages: Box::new(stages) }
    }

    /// Sets the name. A stage that has no name of its own is called `NAME/OPERATOR` then.
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// The pipeline of these stages, and then those of another one.
    pub fn then<W: Send + 'env>(self, behind: Pipeline<'env, V, W, M>) -> Pipeline<'env, T, W, M> {
        Pipeline { name: None, stages: Box::new(move |stream| behind.add_to(self.add_to(stream))) }
    }

    fn add_to(&self, stream: Stream<'env, T, M>) -> Stream<'env, V, M> {
        let first = stream.draft.outline.plan.nodes.len();
        let mut stream = (self.stages)(stream);
        if let Some(name) = &self.name {
            for node in stream.draft.outline.plan.nodes.iter_mut().skip(first) {
                if node.name == node.operator {
                    node.name = format!("{name}/{}", node.operator).into();
                }
            }
        }
        stream
    }
}

impl<'env, T: Send + 'env, M: Mode<Error: 'env> + 'env> Stream<'env, T, M> {
    /// Adds the stages of a [`Pipeline`].
    ///
    /// If the stages may fail and the stream cannot, turn it into a [`TryStream`](crate::TryStream) first:
    ///
    /// ```
    /// use std::num::ParseIntError;
    /// use anabranch::{Pipeline, Stream, TryStream};
    ///
    /// let parse = Pipeline::new(|words: TryStream<&str, ParseIntError>| words.try_map(|word| word.parse::<u32>()));
    /// let words = Stream::from_iter(["1", "2"]);
    /// let numbers = TryStream::from(words).through(&parse);
    /// assert_eq!(numbers.sum::<u32>(), Ok(3));
    /// ```
    pub fn through<V: Send + 'env>(self, pipeline: &Pipeline<'env, T, V, M>) -> Stream<'env, V, M> {
        pipeline.add_to(self)
    }
}
