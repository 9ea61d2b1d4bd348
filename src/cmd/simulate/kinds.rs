//! Routings, traffic and times, as the command line names them.

use crate::simulate::{Publish, Routing, Workload};

/// A routing, as the command line names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(super) enum Route {
    /// The first replica of LookupRoute's answer, by who holds the prefix; round-robin where there is none
    Reference,
    /// The first replica of LookupRoute's answer, by the expected wait
    Balanced,
    /// One engine after the other
    RoundRobin,
    /// Any engine
    Random,
    /// The engine with the fewest prompt tokens that are not prefilled yet
    LeastLoaded,
}

impl From<Route> for Routing {
    fn from(route: Route) -> Self {
        match route {
            Route::Reference => Self::Reference,
            Route::Balanced => Self::Balanced,
            Route::RoundRobin => Self::RoundRobin,
            Route::Random => Self::Random,
            Route::LeastLoaded => Self::LeastLoaded,
        }
    }
}

/// A kind of synthetic traffic, as the command line names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(super) enum Kind {
    /// 400 long heads, some far more popular than others, with short tails
    SharedHeads,
    /// Single turns that share one block
    Diffuse,
    /// Half single turns, half bursts of 40 times the same prompt
    Burst,
    /// Half of all requests have one prefix
    HotPrefix,
}

impl From<Kind> for Workload {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::SharedHeads => Self::SharedHeads,
            Kind::Diffuse => Self::Diffuse,
            Kind::Burst => Self::Burst,
            Kind::HotPrefix => Self::HotPrefix,
        }
    }
}

/// When stored blocks are told of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(super) enum When {
    /// When its prefill begins
    Start,
    /// When its prefill ends
    End,
}

impl From<When> for Publish {
    fn from(when: When) -> Self {
        match when {
            When::Start => Self::Start,
            When::End => Self::End,
        }
    }
}
