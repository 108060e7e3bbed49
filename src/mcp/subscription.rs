//! Who is told that a resource changed: subscriptions of connections, and the [`SubscriptionHub`]
//! between them and whoever notices changes.
//!
//! ```text
//! what changed ─ touch ─▶ Hub ─ touched ─▶ notifier ─ publish ─▶ mailboxes ─ news ─▶ lines
//! ```
//! Nothing here waits and nothing queues up: a resource that changed twice is a set with one
//! member, whoever is slow. Nothing here is logged either, since a log is a resource.
//!
//! In the legacy era a connection subscribes to one resource after the other; in the modern era a
//! request that stays open names several, and what is sent for it carries its id.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crossbeam_channel::{Receiver, Sender, bounded};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::in_flight::InFlightGuard;
use super::{Event, Handler, OutgoingLine, Server};
use crate::mcp::rpc::{Params, RequestId, RpcError, notification_line, result_line};
use crate::mcp::uri::{self, UriError};
use crate::text;

/// Requests of one connection that stay open at the same time.
const LISTENS_MAX: usize = 32;

/// Refused resources of one request that are explained.
const REFUSALS_MAX: usize = 16;

/// Between what notices changes and the connections that subscribed.
#[derive(Debug)]
pub(crate) struct SubscriptionHub {
    state: Mutex<HubState>,
    waker: Sender<()>,
    woken: Receiver<()>,
}

#[derive(Debug, Default)]
struct HubState {
    /// Who listens to a resource, or did until now.
    listeners: BTreeMap<&'static str, Vec<Weak<Mailbox>>>,
    /// What changed and was not looked at.
    touched: BTreeSet<&'static str>,
}

impl Default for SubscriptionHub {
    fn default() -> SubscriptionHub {
        let (waker, woken) = bounded(1);
        SubscriptionHub { state: Mutex::default(), waker, woken }
    }
}

impl SubscriptionHub {
    /// A resource changed. Quick from any thread, and nothing when nobody listens to it.
    pub(crate) fn mark_changed(&self, uri: &'static str) {
        let mut state = self.lock();
        if state.listeners.contains_key(uri) && state.touched.insert(uri) {
            drop(state);
            self.wake();
        }
    }

    /// Something may have changed: who notices changes should look now.
    pub(crate) fn wake(&self) {
        // Who is awake needs no second message.
        let _ = self.waker.try_send(());
    }

    /// A message when there is something to look at.
    pub(crate) fn woken(&self) -> &Receiver<()> {
        &self.woken
    }

    /// What changed since the last time.
    pub(crate) fn take_changed(&self) -> BTreeSet<&'static str> {
        std::mem::take(&mut self.lock().touched)
    }

    /// Whether anybody listens to anything; if not, `otherwise` happens before somebody can begin.
    pub(crate) fn has_subscribers_or(&self, otherwise: impl FnOnce()) -> bool {
        let mut state = self.lock();
        state.listeners.retain(|uri, mailboxes| {
            mailboxes.retain(|it| it.upgrade().is_some_and(|it| it.wants(uri)));
            !mailboxes.is_empty()
        });
        if state.listeners.is_empty() {
            state.touched.clear();
            otherwise();
        }
        !state.listeners.is_empty()
    }

    /// Tells everybody who listens to a resource that it changed.
    pub(crate) fn publish(&self, uri: &'static str) {
        let mut state = self.lock();
        if let Some(mailboxes) = state.listeners.get_mut(uri) {
            mailboxes.retain(|it| it.upgrade().is_some_and(|it| it.put(uri)));
            if mailboxes.is_empty() {
                state.listeners.remove(uri);
            }
        }
    }

    fn add(&self, uri: &'static str, mailbox: &Arc<Mailbox>) {
        let mut state = self.lock();
        let mailboxes = state.listeners.entry(uri).or_default();
        mailboxes.retain(|it| it.upgrade().is_some_and(|it| !Arc::ptr_eq(&it, mailbox)));
        mailboxes.push(Arc::downgrade(mailbox));
    }

    fn lock(&self) -> MutexGuard<'_, HubState> {
        // Nothing panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one connection listens to, and what it was not yet told.
#[derive(Debug)]
struct Mailbox {
    subscriptions: Mutex<Vec<Subscription>>,
    waker: Sender<()>,
}

#[derive(Debug)]
struct Subscription {
    /// The request that stays open; `None` for all that the connection subscribed to one by one.
    open: Option<OpenRequest>,
    uris: BTreeSet<&'static str>,
    /// Those that changed.
    news: BTreeSet<&'static str>,
}

#[derive(Debug)]
struct OpenRequest {
    id: RequestId,
    /// What the server says about itself at the end.
    server: Value,
    /// The id is taken as long.
    _ticket: InFlightGuard,
}

impl Mailbox {
    fn wants(&self, uri: &str) -> bool {
        self.lock().iter().any(|it| it.uris.contains(uri))
    }

    /// Puts a change in for every subscription that wants it; whether there is one.
    fn put(&self, uri: &'static str) -> bool {
        let mut is_wanted = false;
        for subscription in self.lock().iter_mut().filter(|it| it.uris.contains(uri)) {
            subscription.news.insert(uri);
            is_wanted = true;
        }
        if is_wanted {
            // Who is awake needs no second message.
            let _ = self.waker.try_send(());
        }
        is_wanted
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Subscription>> {
        // Nothing panics while it holds the lock.
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection's side of it.
#[derive(Debug)]
pub(super) struct Subscriptions {
    mailbox: Arc<Mailbox>,
    woken: Receiver<()>,
}

impl Default for Subscriptions {
    fn default() -> Subscriptions {
        let (waker, woken) = bounded(1);
        Subscriptions {
            mailbox: Arc::new(Mailbox { subscriptions: Mutex::default(), waker }),
            woken,
        }
    }
}

impl Subscriptions {
    /// A message when there is news.
    pub(super) fn woken(&self) -> &Receiver<()> {
        &self.woken
    }

    /// What wakes the connection, for others that have something for it.
    pub(super) fn waker(&self) -> Sender<()> {
        self.mailbox.waker.clone()
    }

    /// Subscribes to one resource. Twice is as good as once.
    pub(super) fn subscribe<S: Handler>(
        &self,
        server: &Server<S>,
        params: &Params,
    ) -> Result<Map<String, Value>, RpcError> {
        let uri = resource(server, named(params)?)?;
        let mut subscriptions = self.mailbox.lock();
        match subscriptions.iter_mut().find(|it| it.open.is_none()) {
            Some(it) => drop(it.uris.insert(uri)),
            None => {
                let uris = BTreeSet::from([uri]);
                subscriptions.push(Subscription { open: None, uris, news: BTreeSet::new() });
            }
        }
        drop(subscriptions);
        self.begin(server, [uri]);
        Ok(Map::new())
    }

    /// Takes that back. What was never subscribed to is no mistake.
    pub(super) fn unsubscribe<S: Handler>(
        &self,
        server: &Server<S>,
        params: &Params,
    ) -> Result<Map<String, Value>, RpcError> {
        let uri = resource(server, named(params)?)?;
        for subscription in self.mailbox.lock().iter_mut().filter(|it| it.open.is_none()) {
            subscription.uris.remove(uri);
            subscription.news.remove(uri);
        }
        Ok(Map::new())
    }

    /// Keeps a request open; gives the line that says to what of it the server agrees.
    pub(super) fn listen<S: Handler>(
        &self,
        server: &Server<S>,
        id: RequestId,
        ticket: InFlightGuard,
        params: &Params,
    ) -> Result<OutgoingLine, RpcError> {
        let Some(Value::Object(wanted)) = params.get("notifications") else {
            let why = "`notifications` must be an object: what to be told of";
            return Err(RpcError::new(RpcError::PARAMS, why));
        };
        let (uris, refused) = match wanted.get("resourceSubscriptions") {
            None | Some(Value::Null) => (None, Map::new()),
            Some(Value::Array(names)) => {
                let (uris, refused) = agreed(server, names)?;
                (Some(uris), refused)
            }
            Some(_) => return Err(not_uris()),
        };
        let is_full =
            LISTENS_MAX <= self.mailbox.lock().iter().filter(|it| it.open.is_some()).count();
        if is_full {
            let why = format!("{LISTENS_MAX} requests are open on this connection; cancel one");
            return Err(RpcError::new(RpcError::REQUEST, why));
        }
        #[derive(Serialize)]
        struct AcknowledgedUris<'a> {
            #[serde(rename = "_meta")]
            meta: SubscriptionMeta<'a>,
            notifications: Value,
        }
        let notifications = match &uris {
            None => json!({}),
            Some(uris) => json!({"resourceSubscriptions": uris}),
        };
        let agreed = AcknowledgedUris {
            meta: SubscriptionMeta { refused, ..SubscriptionMeta::of(&id) },
            notifications,
        };
        let line = notification_line("notifications/subscriptions/acknowledged", &agreed);
        let uris = uris.unwrap_or_default();
        let open = Some(OpenRequest { id, server: server.info(), _ticket: ticket });
        let subscription = Subscription { open, uris: uris.clone(), news: BTreeSet::new() };
        self.mailbox.lock().push(subscription);
        self.begin(server, uris);
        Ok(line.into())
    }

    /// Ends the request of that id, if one is open; its id is free again.
    pub(super) fn cancel(&self, id: &RequestId) {
        let key = id.key();
        self.mailbox.lock().retain(|it| it.open.as_ref().is_none_or(|it| it.id.key() != key));
    }

    /// What changed since the last time, a line for each subscription and resource.
    pub(super) fn pending_updates(&self) -> Vec<OutgoingLine> {
        #[derive(Serialize)]
        struct Updated<'a> {
            #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
            meta: Option<SubscriptionMeta<'a>>,
            uri: &'a str,
        }
        let mut lines = Vec::new();
        for subscription in self.mailbox.lock().iter_mut() {
            for uri in std::mem::take(&mut subscription.news) {
                let meta = subscription.open.as_ref().map(|it| SubscriptionMeta::of(&it.id));
                let line =
                    notification_line("notifications/resources/updated", &Updated { meta, uri });
                lines.push(line.into());
            }
        }
        lines
    }

    /// Ends every request that is open, and gives the lines of their results.
    pub(super) fn end_all(&self) -> Vec<OutgoingLine> {
        #[derive(Serialize)]
        struct StreamEnd<'a> {
            #[serde(rename = "resultType")]
            result_type: &'a str,
            #[serde(rename = "_meta")]
            meta: SubscriptionMeta<'a>,
        }
        let open = std::mem::take(&mut *self.mailbox.lock());
        let ended = open.iter().filter_map(|it| it.open.as_ref()).map(|it| {
            let meta =
                SubscriptionMeta { server: Some(&it.server), ..SubscriptionMeta::of(&it.id) };
            result_line(&it.id, &StreamEnd { result_type: "complete", meta }).into()
        });
        ended.collect()
    }

    /// From here on, changes of these reach the mailbox.
    fn begin<S: Handler>(&self, server: &Server<S>, uris: impl IntoIterator<Item = &'static str>) {
        let mut is_new = false;
        for uri in uris {
            server.hub.add(uri, &self.mailbox);
            is_new = true;
        }
        if is_new {
            server.handler.note(Event::Listened);
            // Whoever notices changes may be waiting for this.
            server.hub.wake();
        }
    }
}

/// What everything that is sent for an open request carries.
#[derive(Serialize)]
struct SubscriptionMeta<'a> {
    #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
    id: &'a RequestId,
    /// What every result carries.
    #[serde(
        rename = "io.modelcontextprotocol/serverInfo",
        skip_serializing_if = "Option::is_none"
    )]
    server: Option<&'a Value>,
    /// Why the server does not agree to some of it.
    #[serde(rename = "remindb/refused", skip_serializing_if = "Map::is_empty")]
    refused: Map<String, Value>,
}

impl SubscriptionMeta<'_> {
    fn of(id: &RequestId) -> SubscriptionMeta<'_> {
        SubscriptionMeta { id, server: None, refused: Map::new() }
    }
}

fn named(params: &Params) -> Result<&str, RpcError> {
    let uri = params.get("uri").and_then(Value::as_str);
    uri.ok_or_else(|| RpcError::new(RpcError::PARAMS, "`uri` must be a string, the resource's"))
}

/// Those of a list that can be subscribed to, and why others cannot.
fn agreed<S: Handler>(
    server: &Server<S>,
    names: &[Value],
) -> Result<(BTreeSet<&'static str>, Map<String, Value>), RpcError> {
    let mut uris = BTreeSet::new();
    let mut refused = Map::new();
    for name in names {
        let name = name.as_str().ok_or_else(not_uris)?;
        match resource(server, name) {
            Ok(uri) => drop(uris.insert(uri)),
            Err(fault) if refused.len() < REFUSALS_MAX => {
                refused.insert(text::truncate_chars(name, 100), fault.message.into());
            }
            Err(_) => (),
        }
    }
    Ok((uris, refused))
}

/// The resource that a URI means, if it is one that clients may subscribe to.
fn resource<S: Handler>(server: &Server<S>, name: &str) -> Result<&'static str, RpcError> {
    let echo = text::truncate_chars(name, 100);
    let known = || {
        let uris = server.resources.iter().filter(|it| it.is_subscribable).map(|it| it.uri);
        uris.collect::<Vec<_>>().join(", ")
    };
    let why = match uri::match_template(server.resources.iter().map(|it| it.uri), name) {
        Ok((idx, _)) => match server.resources.get(idx) {
            Some(row) if row.is_subscribable => return Ok(row.uri),
            _ => format!("`{echo}` cannot be subscribed to; these can: {}", known()),
        },
        Err(UriError::Unknown) => {
            format!("there is no resource `{echo}`; these can be subscribed to: {}", known())
        }
        Err(UriError::Bad(why)) => format!("`{echo}` is no URI of a resource: {why}"),
    };
    Err(RpcError::new(RpcError::PARAMS, why))
}

fn not_uris() -> RpcError {
    RpcError::new(RpcError::PARAMS, "`resourceSubscriptions` must be a list of URIs")
}

#[cfg(test)]
mod tests;
