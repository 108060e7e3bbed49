//! Tests of the page in a real Chromium, driven without a driver: see `chrome`.
//!
//! `make browser` installs what they need and fails without it. `cargo test` runs them where
//! Chromium and axe-core are found, else it prints one line.

/// Chromium over two pipes.
mod chrome;
/// Getting in: links and tokens.
mod entry;
/// Notes that attack the page.
mod hostile;
/// Changes as they happen, and servers that end.
mod live;
/// PNGs for the manual.
mod pictures;
/// A server of the page.
mod server;
/// What people do: by keys alone, with tools, and without a trace.
mod uses;
/// Every view in every look.
mod views;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use chrome::Chrome;

type Check = (&'static str, fn(&Chrome));

const CHECKS: &[Check] = &[
    ("views_of_an_empty_memory_are_accessible_and_quiet", views::empty),
    ("views_of_a_small_memory_are_accessible_and_quiet", views::small),
    ("keys_alone_reach_search_a_node_and_back", uses::keys),
    ("the_tree_is_walked_by_keys", uses::tree_keys),
    ("questions_of_a_newcomer_are_answered", uses::newcomer),
    ("what_changes_something_asks_first_and_can_be_undone", uses::acting),
    ("looking_writes_nothing", uses::looking),
    ("a_write_by_another_process_is_seen_within_a_second", live::write),
    ("nine_tabs_are_live", live::nine_tabs),
    ("a_server_that_ends_is_offline_and_one_that_begins_is_live", live::restart),
    ("hostile_notes_open_no_dialog_and_lead_nowhere", hostile::notes),
    ("a_token_is_asked_for_and_a_link_works_once", entry::tokens),
];

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let is_required = std::env::var_os("REMINDB_BROWSER").is_some_and(|it| it == "required");
    let (Some(program), Some(_)) = (program(), views::axe()) else {
        println!("browser: left out, for want of Chromium or axe-core; `make browser` gets both");
        return ExitCode::from(u8::from(is_required));
    };
    let chrome = Chrome::start(&program);
    if let Some(folder) = std::env::var_os("REMINDB_PICTURES") {
        pictures::take(&chrome, &PathBuf::from(folder));
        return ExitCode::SUCCESS;
    }
    let mut n_failed = 0;
    for (name, check) in CHECKS {
        if !wanted.is_empty() && !wanted.iter().any(|it| name.contains(it.as_str())) {
            continue;
        }
        let begun = now();
        let is_ok = catch_unwind(AssertUnwindSafe(|| check(&chrome))).is_ok();
        let end = if is_ok { "ok" } else { "FAILED" };
        println!("browser: {name} ... {end}, {:.1} s", begun.elapsed().as_secs_f64());
        n_failed += usize::from(!is_ok);
    }
    ExitCode::from(u8::from(0 < n_failed))
}

/// Returns Chromium's program by any of its names.
fn program() -> Option<String> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path).flat_map(|it| names.map(|name| it.join(name)));
    places.find(|it| it.is_file())?.into_os_string().into_string().ok()
}

#[expect(clippy::disallowed_methods, reason = "figures are of the real clock")]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "it ends with the pipe that it reads")]
fn spawn(work: impl FnOnce() + Send + 'static) {
    std::thread::spawn(work);
}
