//! The `remindb` program: hands its arguments and streams over, and ends with the code it gets
//! back.

fn main() -> std::process::ExitCode {
    remindb::run(std::env::args_os().skip(1))
}
