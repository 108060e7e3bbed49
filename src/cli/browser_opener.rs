//! Opens a page in the browser of the person who runs the program.

use std::io;
use std::process::{Command, Stdio};

use crate::server::spawn;

/// The program that opens a link as the desktop would.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Opens `url`, and does not wait for it.
///
/// # Errors
///
/// The system has no such program.
pub(super) fn open(url: &str) -> io::Result<()> {
    let mut command = Command::new(OPENER);
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut opener = command.spawn()?;
    // It may live as long as the browser does.
    spawn("browser", move || opener.wait()).map(drop)
}
