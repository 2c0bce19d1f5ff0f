//! A kernel, and the parameters that it is made with.

use std::any::type_name;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use anabranch_record::sync::Arc;

use super::{Ends, KernelError, KernelPorts};
use crate::network::{
    process::Process,
    queue::RuleLink,
    rule::{Body, Fire, Verdict},
};

/// The parameters of a node, for its kernel. `I` and `O` are the kernel's inputs and outputs, and `E` is its
/// error.
pub struct Arguments<'a, 'env, I, O, E> {
    values: &'a BTreeMap<String, String>,
    asked: RefCell<BTreeSet<String>>,
    makes: PhantomData<Firing<'env, I, O, E>>,
}

impl<'a, 'env, I, O, E> Arguments<'a, 'env, I, O, E>
where
    I: KernelPorts + Send + 'env,
    O: KernelPorts + Send + 'env,
    E: Send + 'env,
{
    fn new(values: &'a BTreeMap<String, String>) -> Self {
        Self { values, asked: RefCell::default(), makes: PhantomData }
    }

    /// The result of a kernel: `code` is called for each firing, as that of a
    /// [`Network::rule`](crate::Network::rule).
    pub fn fires<V, F>(&self, code: F) -> Firing<'env, I, O, E>
    where
        V: Verdict + 'env,
        F: for<'b> FnMut(&mut I::Bursts<'b>, &mut O::Bursts<'b>) -> Result<V, E> + Send + 'env,
    {
        Firing(Box::new(move |inputs, outputs, process, link| {
            Box::new(Body::new(inputs, outputs, code, process, link))
        }))
    }

    /// The value of a parameter, which the node must have.
    ///
    /// # Errors
    /// The node has no such parameter, or its value is not a `T`.
    pub fn get<T: FromStr>(&self, name: &str) -> Result<T, KernelError> {
        self.find(name)?.ok_or_else(|| KernelError(format!("the parameter `{name}` is missing")))
    }

    /// The value of a parameter, or `default` if the node does not have it.
    ///
    /// # Errors
    /// The value is not a `T`.
    pub fn get_or<T: FromStr>(&self, name: &str, default: T) -> Result<T, KernelError> {
        Ok(self.find(name)?.unwrap_or(default))
    }

    fn find<T: FromStr>(&self, name: &str) -> Result<Option<T>, KernelError> {
        self.asked.borrow_mut().insert(name.to_owned());
        let Some(text) = self.values.get(name) else { return Ok(None) };
        let wrong =
            |_| KernelError(format!("the parameter `{name}` is {text:?}, which is no {}", type_name::<T>()));
        text.parse().map(Some).map_err(wrong)
    }

    /// A complaint about a parameter that the kernel has not asked for.
    fn surplus(&self) -> Option<String> {
        let asked = self.asked.borrow();
        let name = self.values.keys().find(|name| !asked.contains(*name))?;
        let known: Vec<String> = asked.iter().map(|name| format!("`{name}`")).collect();
        Some(if known.is_empty() {
            format!("it has no parameters, but `{name}` is given")
        } else {
            format!("it has no parameter `{name}`, but {}", known.join(", "))
        })
    }
}

impl<I, O, E> fmt::Debug for Arguments<'_, '_, I, O, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arguments").field("values", self.values).finish_non_exhaustive()
    }
}

type Assemble<'env, I, O, E> =
    dyn FnOnce(I, O, &Process, &Arc<RuleLink>) -> Box<dyn Fire<E> + 'env> + Send + 'env;

/// The code of a kernel's firings for a node. [`Arguments::fires`] makes it.
pub struct Firing<'env, I, O, E>(Box<Assemble<'env, I, O, E>>);

impl<I, O, E> fmt::Debug for Firing<'_, I, O, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Firing").finish_non_exhaustive()
    }
}

/// Makes the ports and the code of a rule belong to a process and to a link.
pub(super) type Attach<'env, E> = Box<dyn FnOnce(&Process, &Arc<RuleLink>) -> Box<dyn Fire<E> + 'env> + 'env>;

type Make<'env, E> = dyn Fn(&BTreeMap<String, String>, &mut Ends, &mut Ends) -> Result<Attach<'env, E>, KernelError>
    + Send
    + Sync
    + 'env;

/// A kernel of a rule with any ports and code.
pub(super) struct Kernel<'env, E>(Box<Make<'env, E>>);

impl<'env, E: Send + 'env> Kernel<'env, E> {
    pub(super) fn new<I, O>(
        make: impl Fn(&Arguments<'_, 'env, I, O, E>) -> Result<Firing<'env, I, O, E>, KernelError>
        + Send
        + Sync
        + 'env,
    ) -> Self
    where
        I: KernelPorts + Send + 'env,
        O: KernelPorts + Send + 'env,
    {
        Self(Box::new(move |values, inputs, outputs| {
            let arguments = Arguments::new(values);
            let Firing(assemble) = make(&arguments)?;
            if let Some(surplus) = arguments.surplus() {
                return Err(surplus.into());
            }
            let (ins, outs) = (inputs.fill::<I>()?, outputs.fill::<O>()?);
            Ok(Box::new(move |process: &Process, link: &Arc<RuleLink>| assemble(ins, outs, process, link)))
        }))
    }

    /// Makes the rule of a node with these ends of its records.
    pub(super) fn make(
        &self,
        parameters: &BTreeMap<String, String>,
        inputs: &mut Ends,
        outputs: &mut Ends,
    ) -> Result<Attach<'env, E>, KernelError> {
        (self.0)(parameters, inputs, outputs)
    }
}
