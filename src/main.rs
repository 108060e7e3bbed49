//! The `remindb` program: passes its arguments to the library and exits with the code returned.

fn main() -> std::process::ExitCode {
    remindb::run(std::env::args_os().skip(1))
}
