//! A program of the user's with everything that it starts, ended as one.

use std::io;
use std::process::{Child, Command, Stdio};

/// A started program, which ends with this value.
pub(super) struct ProcessGroup(pub(super) Child);

impl ProcessGroup {
    /// Starts a program with pipes to it.
    pub(super) fn start(words: &[String]) -> io::Result<ProcessGroup> {
        let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        {
            // A group of its own: what it started ends with it, and Ctrl-C is for us to pass on.
            use std::os::unix::process::CommandExt;
            command.process_group(0);
        }
        command.spawn().map(ProcessGroup)
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        if let Some(pid) = i32::try_from(self.0.id()).ok().and_then(rustix::process::Pid::from_raw)
        {
            // It may have ended by itself.
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
