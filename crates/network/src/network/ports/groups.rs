//! Groups of ports: tuples and vectors.

use anabranch_record::sync::Arc;

use super::{PortInfo, Ports, Readiness, ViewControl};
use crate::network::{
    process::Process,
    queue::RuleLink,
    records::{RecordInfo, Wait},
};

/// Finds the group that has a port, and calls it. The number of the port is lowered by the size of each group
/// before.
macro_rules! port_of {
    ($port:ident, $group:ident, $call:expr) => {
        if $port < $group.count() {
            return $call;
        }
        #[allow(unused_assignments)]
        {
            $port -= $group.count();
        }
    };
}

macro_rules! tuples {
    ($($name:ident)*) => {
        #[allow(non_snake_case, unused_variables, unused_mut, unused_assignments)]
        impl<$($name: ViewControl),*> ViewControl for ($($name,)*) {
            fn count(&self) -> usize {
                let ($($name,)*) = self;
                0 $(+ $name.count())*
            }

            #[inline]
            fn readiness(&mut self) -> Readiness {
                let ($($name,)*) = self;
                let (mut readiness, mut port) = (Readiness::Unread, 0);
                $(
                    readiness = readiness.and($name.readiness(), port);
                    port += $name.count();
                )*
                readiness
            }

            fn announce(&mut self, mut port: usize) {
                let ($($name,)*) = self;
                $(port_of!(port, $name, $name.announce(port));)*
            }

            fn withdraw(&mut self, mut port: usize) {
                let ($($name,)*) = self;
                $(port_of!(port, $name, $name.withdraw(port));)*
            }

            fn wait(&self, mut port: usize) -> Option<Wait> {
                let ($($name,)*) = self;
                $(port_of!(port, $name, $name.wait(port));)*
                None
            }

            fn describe(&self, into: &mut Vec<PortInfo>) {
                let ($($name,)*) = self;
                $($name.describe(into);)*
            }

            fn attach(&mut self, process: &Process, link: &Arc<RuleLink>) {
                let ($($name,)*) = self;
                $($name.attach(process, link);)*
            }

            fn set_alone(&mut self, is_inner: &dyn Fn(&RecordInfo) -> bool) {
                let ($($name,)*) = self;
                $($name.set_alone(is_inner);)*
            }

            fn notice(&self, process: &Process) {
                let ($($name,)*) = self;
                $($name.notice(process);)*
            }
        }

        #[allow(non_snake_case, clippy::unused_unit)]
        impl<$($name: Ports),*> Ports for ($($name,)*) {
            type Bursts<'a> = ($($name::Bursts<'a>,)*) where Self: 'a;

            #[inline]
            fn open(&mut self) -> Self::Bursts<'_> {
                let ($($name,)*) = self;
                ($($name.open(),)*)
            }

            #[inline]
            fn close(bursts: Self::Bursts<'_>) -> Result<(), String> {
                #[allow(non_snake_case)]
                let ($($name,)*) = bursts;
                $(tuples!(@close $name);)*
                Ok(())
            }
        }
    };
    (@close $name:ident) => { $name::close($name)?; };
}

tuples!();
tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D F);
tuples!(A B C D F G);

impl<P: ViewControl> ViewControl for Vec<P> {
    fn count(&self) -> usize {
        self.iter().map(ViewControl::count).sum()
    }

    fn readiness(&mut self) -> Readiness {
        let mut port = 0;
        self.iter_mut().fold(Readiness::Unread, |readiness, each| {
            let next = readiness.and(each.readiness(), port);
            port += each.count();
            next
        })
    }

    fn announce(&mut self, mut port: usize) {
        for each in self {
            port_of!(port, each, each.announce(port));
        }
    }

    fn withdraw(&mut self, mut port: usize) {
        for each in self {
            port_of!(port, each, each.withdraw(port));
        }
    }

    fn wait(&self, mut port: usize) -> Option<Wait> {
        for each in self {
            port_of!(port, each, each.wait(port));
        }
        None
    }

    fn describe(&self, into: &mut Vec<PortInfo>) {
        self.iter().for_each(|each| each.describe(into));
    }

    fn attach(&mut self, process: &Process, link: &Arc<RuleLink>) {
        self.iter_mut().for_each(|each| each.attach(process, link));
    }

    fn set_alone(&mut self, is_inner: &dyn Fn(&RecordInfo) -> bool) {
        self.iter_mut().for_each(|each| each.set_alone(is_inner));
    }

    fn notice(&self, process: &Process) {
        self.iter().for_each(|each| each.notice(process));
    }
}

impl<P: Ports> Ports for Vec<P> {
    type Bursts<'a>
        = Vec<P::Bursts<'a>>
    where
        Self: 'a;

    fn open(&mut self) -> Self::Bursts<'_> {
        // Rust 1.89 does not accept an iterator here.
        let mut bursts = Vec::with_capacity(self.len());
        for ports in self {
            bursts.push(ports.open());
        }
        bursts
    }

    fn close(bursts: Self::Bursts<'_>) -> Result<(), String> {
        bursts.into_iter().try_for_each(P::close)
    }
}
