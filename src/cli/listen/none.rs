//! A build without HTTP: nobody can ask for it, and whoever does is told so.

use std::io;
use std::sync::Arc;

use crossbeam_channel::Receiver;

use super::because;
use crate::cli::Failure;
use crate::cli::args::Serve;
use crate::mcp::{Server, Surface};
use crate::model::clock::Clock;
use crate::server::{Background, Ended};
use crate::settings::config::Config;

/// There are none.
#[derive(Clone, Debug)]
pub(in crate::cli) enum Options {}

/// Where it would listen.
pub(in crate::cli) fn address(options: &Options) -> String {
    match *options {}
}

/// Never runs.
pub(in crate::cli) fn run<S: Surface>(
    _: &Arc<Server<S>>,
    _: &Clock,
    _: Vec<Background>,
    options: Options,
    _: impl FnOnce(String),
    _: &Receiver<()>,
) -> io::Result<Ended> {
    match options {}
}

/// Says what to do instead.
pub(super) fn options(_: &Serve, _: &Config) -> Result<Options, Failure> {
    Err(because("this build has no HTTP; serve on the standard streams, or build it with `http`"))
}
