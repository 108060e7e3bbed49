//! HTTP options of a build without HTTP: requesting it is an error.

use std::io;
use std::sync::Arc;

use crossbeam_channel::Receiver;

use super::because;
use crate::cli::CommandError;
use crate::cli::args::ServeArgs;
use crate::mcp::{Handler, Server};
use crate::model::clock::Clock;
use crate::server::{BackgroundTaskSpec, StopReason};
use crate::settings::config::Config;

/// Options that cannot exist.
#[derive(Clone, Debug)]
pub(in crate::cli) enum HttpOptions {}

/// Returns the address; never called.
pub(in crate::cli) fn address(options: &HttpOptions) -> String {
    match *options {}
}

/// Serves; never called.
pub(in crate::cli) fn run<S: Handler>(
    _: &Arc<Server<S>>,
    _: &Clock,
    _: Vec<BackgroundTaskSpec>,
    options: HttpOptions,
    _: impl FnOnce(String),
    _: &Receiver<()>,
) -> io::Result<StopReason> {
    match options {}
}

/// Returns an error that names the alternatives.
pub(super) fn options(_: &ServeArgs, _: &Config, _: &Clock) -> Result<HttpOptions, CommandError> {
    Err(because("this build has no HTTP; serve on the standard streams, or build it with `http`"))
}

/// Returns an error: the page needs HTTP.
pub(in crate::cli) fn view_options(
    _: Option<&str>,
    _: &Clock,
) -> Result<HttpOptions, CommandError> {
    Err(because("this build has no HTTP, and so no page; build it with `http`"))
}

/// Links that cannot exist.
#[derive(Clone, Debug)]
pub(in crate::cli) enum PageLinks {}

/// Returns the links; never called.
pub(in crate::cli) fn page_links(options: &HttpOptions) -> PageLinks {
    match *options {}
}

impl PageLinks {
    /// Returns a link; never called.
    pub(in crate::cli) fn make(&self, _: &str) -> io::Result<String> {
        match *self {}
    }
}
