//! Chains of stages as values.

use std::fmt;

use super::Stream;
use crate::mode::{Mode, Sure};
use crate::shape::Single;
use crate::unit::{Apply, Identity};

/// The stream that a pipeline takes or gives.
type Boxed<'env, T, M> = Stream<'env, Identity<T, Single>, M>;

/// A chain of stages as a value: from items `T` to items `V`, for any number of streams, and as a part of other chains.
///
/// [`Stream::through`] applies it. Each time, its function is called and makes the stages anew, so streams share none of
/// their states. With a [name](Self::named), its stages are called after it in plans and reports.
///
/// ```
/// use anabranch::{BoxStream, Pipeline, Stream};
///
/// let words = Pipeline::new(|lines: BoxStream<&str>| lines.filter(|line| !line.is_empty()).map(str::to_uppercase));
/// let numbered = Pipeline::new(|words: BoxStream<String>| words.enumerate().map(|(n, word)| format!("{n} {word}")));
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
type Stages<'env, T, V, M> = dyn Fn(Boxed<'env, T, M>) -> Boxed<'env, V, M> + Send + Sync + 'env;

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
    /// If a stage may fail, `stages` takes a [`TryBoxStream`](crate::TryBoxStream), whose error is that of the stage.
    /// After a `flat_map` at the end, the items become single items, as by [`boxed`](Stream::boxed).
    pub fn new<U, F>(stages: F) -> Self
    where
        U: Apply<M::Error, Out = V> + Send + 'env,
        F: Fn(Boxed<'env, T, M>) -> Stream<'env, U, M> + Send + Sync + 'env,
    {
        Self { name: None, stages: Box::new(move |stream| stages(stream).boxed()) }
    }

    /// Sets the name. A stage that has no name of its own is called `NAME/OPERATOR` then.
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// The pipeline of these stages, and then those of another one.
    pub fn then<W: Send + 'env>(self, behind: Pipeline<'env, V, W, M>) -> Pipeline<'env, T, W, M> {
        Pipeline { name: None, stages: Box::new(move |stream| behind.add_to(self.add_to(stream))) }
    }

    fn add_to(&self, stream: Boxed<'env, T, M>) -> Boxed<'env, V, M> {
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

impl<'env, U, M> Stream<'env, U, M>
where
    U: Apply<M::Error> + Send + 'env,
    U::Out: 'env,
    M: Mode + 'env,
    M::Error: Send + 'env,
{
    /// Adds the stages of a [`Pipeline`].
    ///
    /// If the stages may fail and the stream cannot, turn it into a [`TryBoxStream`](crate::TryBoxStream) first:
    ///
    /// ```
    /// use std::num::ParseIntError;
    /// use anabranch::{Pipeline, Stream, TryBoxStream};
    ///
    /// let parse = Pipeline::new(|words: TryBoxStream<&str, ParseIntError>| words.try_map(|word| word.parse::<u32>()));
    /// let numbers = TryBoxStream::from(Stream::from_iter(["1", "2"])).through(&parse);
    /// assert_eq!(numbers.sum::<u32>(), Ok(3));
    /// ```
    pub fn through<V: Send + 'env>(self, pipeline: &Pipeline<'env, U::Out, V, M>) -> Boxed<'env, V, M> {
        pipeline.add_to(self.boxed())
    }
}
