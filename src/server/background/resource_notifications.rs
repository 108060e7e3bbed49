//! The thread that notifies clients of changed resources that they subscribed to.
//!
//! The loop only waits. [`NotificationThrottle`] decides when to notify, [`SubscriptionHub`] knows
//! the subscribers, and the tools' watch detects changes by any process. Without subscribers the
//! thread sleeps and checks nothing. Notifications that are pending when the server ends are
//! dropped.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use crate::mcp::{Server, SubscriptionHub};
use crate::model::clock::UnixMillis;
use crate::model::schedule::NotificationThrottle;
use crate::server::StopSignal;
use crate::surface::HandlerWithChangeWatch;

/// Maximum milliseconds until a change by another process is noticed.
const LOOK_MS: i64 = 250;

/// Time to sleep without subscribers; a new subscription wakes the thread.
const SLEEP: Duration = Duration::from_secs(3600);

/// Notifies clients of changes until stopped.
pub(crate) fn run_notifications<S: HandlerWithChangeWatch>(server: &Server<S>, stop: &StopSignal) {
    let (handler, hub) = (&server.handler, &server.hub);
    let watch = server.clock.stopwatch();
    let mut pace = ResourceDebouncers::default();
    let mut last_error = String::new();
    loop {
        let wait = match hub.has_subscribers_or(|| handler.watch().end()) {
            false => {
                // A later subscriber is notified of later changes only.
                pace = ResourceDebouncers::default();
                SLEEP
            }
            true => {
                publish_changes(server, &mut last_error);
                let window = |uri: &str| handler.debounce_of(short(uri));
                let left_ms = pace.turn(hub, UnixMillis(watch.elapsed_ms()), window);
                let wait_ms = left_ms.map_or(LOOK_MS, |it| it.min(LOOK_MS));
                Duration::from_millis(wait_ms.unsigned_abs())
            }
        };
        if stop.is_set_or_woken(hub.wakeups(), wait) {
            return;
        }
    }
}

/// Marks the resources that changed. A failure is logged once, not at every try, since the log may
/// be a resource with a subscriber.
fn publish_changes<S: HandlerWithChangeWatch>(server: &Server<S>, last_error: &mut String) {
    let Server { handler, hub, .. } = server;
    match handler.watch().changed_resources(handler.view()) {
        Ok(changed) => {
            last_error.clear();
            changed.iter().for_each(|uri| hub.mark_changed(uri));
        }
        Err(error) => {
            let error = error.to_string();
            if *last_error != error {
                log::warn!("changes of the memory are not noticed: {error}");
                *last_error = error;
            }
        }
    }
}

/// Returns the name of a resource in the settings; those of typed memories have none.
fn short(uri: &str) -> &str {
    let name = uri.strip_prefix("remindb://").unwrap_or_default();
    name.rsplit('/').next().unwrap_or_default()
}

/// The debouncers of the resources.
#[derive(Debug, Default)]
struct ResourceDebouncers(BTreeMap<Cow<'static, str>, NotificationThrottle>);

impl ResourceDebouncers {
    /// Publishes the notifications that are due; returns the milliseconds until the next one, if
    /// any.
    fn turn(
        &mut self,
        hub: &SubscriptionHub,
        now: UnixMillis,
        window: impl Fn(&str) -> Duration,
    ) -> Option<i64> {
        for uri in hub.take_changed() {
            self.0.entry(uri).or_default().note();
        }
        let mut next_ms: Option<i64> = None;
        for (uri, debounce) in &mut self.0 {
            let window_ms = i64::try_from(window(uri).as_millis()).unwrap_or(i64::MAX);
            if debounce.fire(now, window_ms) {
                hub.publish(uri);
            }
            if let Some(left_ms) = debounce.left_ms(now, window_ms) {
                next_ms = Some(next_ms.map_or(left_ms, |it| it.min(left_ms)));
            }
        }
        next_ms
    }
}

#[cfg(test)]
mod tests;
