//! A PostgreSQL of the test's own: in a temporary folder, on a free port, with a password.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The password of the one user.
pub(crate) const PASSWORD: &str = "a pass:word \\ of tests";

/// `nobody`, where the test runs as root: the server refuses to.
const NOBODY: u32 = 65_534;

const PATIENCE: Duration = Duration::from_secs(300);

pub(crate) struct Postgres {
    folder: TempDir,
    bin: PathBuf,
    pub(crate) port: u16,
    /// Further settings of its command line.
    settings: &'static str,
}

/// Returns the folder of the newest installed server.
fn installed() -> PathBuf {
    if let Some(bin) = std::env::var_os("PG_BIN") {
        return bin.into();
    }
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        versions.map(|it| it.path().join("bin")).filter(|it| it.join("initdb").exists()).collect();
    found.sort();
    found.pop().expect("PostgreSQL: `apt-get install postgresql`, or name its programs in PG_BIN")
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0)
}

impl Postgres {
    pub(crate) fn start() -> Postgres {
        let postgres = Postgres::new("");
        postgres.launch();
        postgres
    }

    /// Makes a server that waits to be launched.
    pub(crate) fn new(settings: &'static str) -> Postgres {
        let folder = tempfile::Builder::new().prefix("remindb-pg-").tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let postgres = Postgres { folder, bin: installed(), port, settings };
        let password = postgres.path("password");
        fs::write(&password, PASSWORD).unwrap();
        if is_root() {
            chown(postgres.folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
            chown(&password, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let data = postgres.path("data");
        let mut init = postgres.command("initdb");
        init.args(["-U", "me", "-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "-N", "-D"]);
        init.arg(&data).arg("--pwfile").arg(&password);
        let made = init.output().unwrap();
        assert!(made.status.success(), "{made:?}");
        postgres
    }

    /// Writes a file that only the server can read, below its data.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path("data").join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        if is_root() {
            chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }

    /// Returns the folder of its socket.
    pub(crate) fn socket_folder(&self) -> &Path {
        self.folder.path()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.bin.join(program));
        command.stdin(Stdio::null()).current_dir(self.folder.path());
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    /// Starts the server, also after a kill: until its processes are gone it refuses.
    pub(crate) fn launch(&self) {
        let began = Instant::now();
        loop {
            let settings = format!(
                "-p {} -h 127.0.0.1 -k {} -c max_connections=200 {}",
                self.port,
                self.folder.path().display(),
                self.settings
            );
            let mut start = self.command("pg_ctl");
            start.args(["-w", "-t", "20", "-D"]).arg(self.path("data"));
            start.arg("-l").arg(self.path("log")).arg("-o").arg(settings).arg("start");
            start.stdout(Stdio::null()).stderr(Stdio::null());
            // On a busy machine a server comes up after its starter has given up.
            if start.status().unwrap().success() || self.is_ready() {
                return;
            }
            let log = fs::read_to_string(self.path("log")).unwrap_or_default();
            assert!(began.elapsed() < PATIENCE, "{log}");
        }
    }

    fn is_ready(&self) -> bool {
        let mut ready = self.command("pg_isready");
        ready.args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()]);
        ready.status().unwrap().success()
    }

    fn pid(&self) -> Option<String> {
        let file = fs::read_to_string(self.path("data/postmaster.pid")).ok()?;
        file.lines().next().map(str::to_owned)
    }

    /// Kills the server's first process; the others notice.
    pub(crate) fn kill(&self) {
        if let Some(pid) = self.pid() {
            let _ = Command::new("kill").args(["-9", &pid]).status();
        }
    }

    pub(crate) fn stop(&self) {
        let mut stop = self.command("pg_ctl");
        stop.args(["-w", "-m", "immediate", "-D"]).arg(self.path("data")).arg("stop");
        let _ = stop.stdout(Stdio::null()).stderr(Stdio::null()).status();
    }

    /// Runs SQL, and returns its rows as text.
    pub(crate) fn sql(&self, sql: &str) -> String {
        let mut psql = self.command("psql");
        psql.args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", "me", "-d", "postgres"]);
        psql.args(["-v", "ON_ERROR_STOP=1", "-Atc", sql]).env("PGPASSWORD", PASSWORD);
        let ran = psql.output().unwrap();
        assert!(ran.status.success(), "{sql}: {ran:?}");
        String::from_utf8(ran.stdout).unwrap().trim().to_owned()
    }

    /// Returns the address of a space, at the server or at a proxy before it.
    pub(crate) fn url(&self, port: u16, space: &str) -> String {
        format!("postgres://me@127.0.0.1:{port}/postgres/{space}")
    }

    /// Writes the password file of a client that reaches the server at a host.
    pub(crate) fn password_file(path: &Path, host: &str) {
        let escaped = PASSWORD.replace('\\', "\\\\").replace(':', "\\:");
        fs::write(path, format!("# for tests\n{host}:*:postgres:me:{escaped}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.stop();
    }
}
