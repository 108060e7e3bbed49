//! Subscriptions: connections learn of changed resources through the [`SubscriptionHub`].
//!
//! ```text
//! change ─ mark_changed ─▶ hub ─ take_changed ─▶ notifier ─ publish ─▶ mailbox
//! mailbox ─ pending_updates ─▶ lines
//! ```
//!
//! Nothing here waits or queues: a resource that changed twice is in a set once, however slow the
//! reader. Nothing here is logged either, since the log is a resource.
//!
//! In the legacy era a connection subscribes to resources one by one; in the modern era a request
//! that stays open names several, and its notifications carry its id.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crossbeam_channel::{Receiver, Sender, bounded};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::in_flight::InFlightGuard;
use super::{ClientActivity, Handler, OutgoingRpcMessageLine, Server};
use crate::mcp::rpc::{Params, RequestId, RpcError, notification_line, result_line};
use crate::mcp::uri::{self, UriError};
use crate::text;

/// Simultaneous open requests of one connection.
const LISTENS_MAX: usize = 32;

/// Refused resources of one request that are explained.
const REFUSALS_MAX: usize = 16;

/// The URI of a resource that can be subscribed to; few are not known from the start.
type SubscribableUri = Cow<'static, str>;

/// Connects the source of changes with the subscribed connections.
#[derive(Debug)]
pub(crate) struct SubscriptionHub {
    state: Mutex<HubState>,
    waker: Sender<()>,
    wakeups: Receiver<()>,
}

#[derive(Debug, Default)]
struct HubState {
    /// The mailboxes subscribed to each resource; some may be dropped.
    listeners: BTreeMap<SubscribableUri, Vec<Weak<ConnectionSubscriptions>>>,
    /// Changed resources that were not taken yet.
    touched: BTreeSet<SubscribableUri>,
}

impl Default for SubscriptionHub {
    fn default() -> SubscriptionHub {
        let (waker, wakeups) = bounded(1);
        SubscriptionHub { state: Mutex::default(), waker, wakeups }
    }
}

impl SubscriptionHub {
    /// Marks a resource as changed. It is quick on any thread, and does nothing without
    /// subscribers.
    pub(crate) fn mark_changed(&self, uri: &str) {
        let mut state = self.lock();
        let Some((uri, _)) = state.listeners.get_key_value(uri) else { return };
        let uri = uri.clone();
        if state.touched.insert(uri) {
            drop(state);
            self.wake();
        }
    }

    /// Wakes the thread that looks for changes.
    pub(crate) fn wake(&self) {
        // A pending wake is enough.
        let _ = self.waker.try_send(());
    }

    /// Returns a channel with a message when there may be changes.
    pub(crate) fn wakeups(&self) -> &Receiver<()> {
        &self.wakeups
    }

    /// Takes the resources that changed since the last call.
    pub(crate) fn take_changed(&self) -> BTreeSet<SubscribableUri> {
        std::mem::take(&mut self.lock().touched)
    }

    /// Returns whether there are subscribers; if not, runs `otherwise` before one can be added.
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

    /// Notifies all subscribers of a resource.
    pub(crate) fn publish(&self, uri: &str) {
        let mut state = self.lock();
        if let Some(mailboxes) = state.listeners.get_mut(uri) {
            mailboxes.retain(|it| it.upgrade().is_some_and(|it| it.put(uri)));
            if mailboxes.is_empty() {
                state.listeners.remove(uri);
            }
        }
    }

    fn add(&self, uri: SubscribableUri, mailbox: &Arc<ConnectionSubscriptions>) {
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

/// The subscriptions of one connection, and its pending changes.
#[derive(Debug)]
struct ConnectionSubscriptions {
    subscriptions: Mutex<Vec<Subscription>>,
    waker: Sender<()>,
}

#[derive(Debug)]
struct Subscription {
    /// The open request; `None` for the resources subscribed to one by one.
    open: Option<OpenListenRequest>,
    uris: BTreeSet<SubscribableUri>,
    /// Resources that changed.
    news: BTreeSet<SubscribableUri>,
}

/// A listen request that is still open.
#[derive(Debug)]
struct OpenListenRequest {
    id: RequestId,
    /// The server's description for the last result.
    server: Value,
    /// Keeps the id in use.
    _ticket: InFlightGuard,
}

impl ConnectionSubscriptions {
    fn wants(&self, uri: &str) -> bool {
        self.lock().iter().any(|it| it.uris.contains(uri))
    }

    /// Adds a change to every subscription to it; returns whether there is one.
    fn put(&self, uri: &str) -> bool {
        let mut is_wanted = false;
        for subscription in self.lock().iter_mut() {
            let Some(uri) = subscription.uris.get(uri) else { continue };
            subscription.news.insert(uri.clone());
            is_wanted = true;
        }
        if is_wanted {
            // A pending wake is enough.
            let _ = self.waker.try_send(());
        }
        is_wanted
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Subscription>> {
        // Nothing panics while it holds the lock.
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection's side of its mailbox.
#[derive(Debug)]
pub(super) struct SubscriptionMailbox {
    mailbox: Arc<ConnectionSubscriptions>,
    wakeups: Receiver<()>,
}

impl Default for SubscriptionMailbox {
    fn default() -> SubscriptionMailbox {
        let (waker, wakeups) = bounded(1);
        SubscriptionMailbox {
            mailbox: Arc::new(ConnectionSubscriptions { subscriptions: Mutex::default(), waker }),
            wakeups,
        }
    }
}

impl SubscriptionMailbox {
    /// Returns a channel with a message when there are updates.
    pub(super) fn wakeups(&self) -> &Receiver<()> {
        &self.wakeups
    }

    /// Returns the sender that wakes the connection.
    pub(super) fn waker(&self) -> Sender<()> {
        self.mailbox.waker.clone()
    }

    /// Subscribes to one resource; repeating it does nothing.
    pub(super) fn subscribe<S: Handler>(
        &self,
        server: &Server<S>,
        params: &Params,
    ) -> Result<Map<String, Value>, RpcError> {
        let uri = resource_there(server, named(params)?)?;
        let mut subscriptions = self.mailbox.lock();
        match subscriptions.iter_mut().find(|it| it.open.is_none()) {
            Some(it) => drop(it.uris.insert(uri.clone())),
            None => {
                let uris = BTreeSet::from([uri.clone()]);
                subscriptions.push(Subscription { open: None, uris, news: BTreeSet::new() });
            }
        }
        drop(subscriptions);
        self.begin(server, [uri]);
        Ok(Map::new())
    }

    /// Unsubscribes from one resource; an unknown subscription is no error.
    pub(super) fn unsubscribe<S: Handler>(
        &self,
        server: &Server<S>,
        params: &Params,
    ) -> Result<Map<String, Value>, RpcError> {
        let uri = resource(server, named(params)?)?;
        for subscription in self.mailbox.lock().iter_mut().filter(|it| it.open.is_none()) {
            subscription.uris.remove(&uri);
            subscription.news.remove(&uri);
        }
        Ok(Map::new())
    }

    /// Keeps a request open; returns the line with the accepted part of it.
    pub(super) fn listen<S: Handler>(
        &self,
        server: &Server<S>,
        id: RequestId,
        ticket: InFlightGuard,
        params: &Params,
    ) -> Result<OutgoingRpcMessageLine, RpcError> {
        let Some(Value::Object(wanted)) = params.get("notifications") else {
            let why = "`notifications` must be an object: what to be told of";
            return Err(RpcError::new(RpcError::INVALID_PARAMS, why));
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
            return Err(RpcError::new(RpcError::INVALID_REQUEST, why));
        }
        /// The parameters of `notifications/subscriptions/acknowledged`.
        #[derive(Serialize)]
        struct SubscriptionAcknowledgedParams<'a> {
            #[serde(rename = "_meta")]
            meta: SubscriptionMeta<'a>,
            notifications: Value,
        }
        let notifications = match &uris {
            None => json!({}),
            Some(uris) => json!({"resourceSubscriptions": uris}),
        };
        let agreed = SubscriptionAcknowledgedParams {
            meta: SubscriptionMeta { refused, ..SubscriptionMeta::of(&id) },
            notifications,
        };
        let line = notification_line("notifications/subscriptions/acknowledged", &agreed);
        let uris = uris.unwrap_or_default();
        let open = Some(OpenListenRequest { id, server: server.info(), _ticket: ticket });
        let subscription = Subscription { open, uris: uris.clone(), news: BTreeSet::new() };
        self.mailbox.lock().push(subscription);
        self.begin(server, uris);
        Ok(line.into())
    }

    /// Ends the open request of that id, and frees the id.
    pub(super) fn cancel(&self, id: &RequestId) {
        let key = id.key();
        self.mailbox.lock().retain(|it| it.open.as_ref().is_none_or(|it| it.id.key() != key));
    }

    /// Takes the updates, one line for each subscription and resource.
    pub(super) fn pending_updates(&self) -> Vec<OutgoingRpcMessageLine> {
        #[derive(Serialize)]
        struct ResourceUpdatedParams<'a> {
            #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
            meta: Option<SubscriptionMeta<'a>>,
            uri: &'a str,
        }
        let mut lines = Vec::new();
        for subscription in self.mailbox.lock().iter_mut() {
            for uri in std::mem::take(&mut subscription.news) {
                let meta = subscription.open.as_ref().map(|it| SubscriptionMeta::of(&it.id));
                let line = notification_line(
                    "notifications/resources/updated",
                    &ResourceUpdatedParams { meta, uri: &uri },
                );
                lines.push(line.into());
            }
        }
        lines
    }

    /// Ends every open request; returns the lines of their results.
    pub(super) fn end_all(&self) -> Vec<OutgoingRpcMessageLine> {
        /// The result that ends a listen request.
        #[derive(Serialize)]
        struct FinalListenResult<'a> {
            #[serde(rename = "resultType")]
            result_type: &'a str,
            #[serde(rename = "_meta")]
            meta: SubscriptionMeta<'a>,
        }
        let open = std::mem::take(&mut *self.mailbox.lock());
        let ended = open.iter().filter_map(|it| it.open.as_ref()).map(|it| {
            let meta =
                SubscriptionMeta { server: Some(&it.server), ..SubscriptionMeta::of(&it.id) };
            result_line(&it.id, &FinalListenResult { result_type: "complete", meta }).into()
        });
        ended.collect()
    }

    /// Directs changes of these resources to the mailbox from here on.
    fn begin<S: Handler>(
        &self,
        server: &Server<S>,
        uris: impl IntoIterator<Item = SubscribableUri>,
    ) {
        let mut is_new = false;
        for uri in uris {
            server.hub.add(uri, &self.mailbox);
            is_new = true;
        }
        if is_new {
            server.handler.note(ClientActivity::Listened);
            // The thread that looks for changes may be waiting for a subscriber.
            server.hub.wake();
        }
    }
}

/// The metadata of all messages for an open request.
#[derive(Serialize)]
struct SubscriptionMeta<'a> {
    #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
    id: &'a RequestId,
    /// The server's description, in results.
    #[serde(
        rename = "io.modelcontextprotocol/serverInfo",
        skip_serializing_if = "Option::is_none"
    )]
    server: Option<&'a Value>,
    /// The reasons for refused resources.
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
    uri.ok_or_else(|| {
        RpcError::new(RpcError::INVALID_PARAMS, "`uri` must be a string, the resource's")
    })
}

/// Returns the resources of a list that can be subscribed to, and reasons for the others.
fn agreed<S: Handler>(
    server: &Server<S>,
    names: &[Value],
) -> Result<(BTreeSet<SubscribableUri>, Map<String, Value>), RpcError> {
    let mut uris = BTreeSet::new();
    let mut refused = Map::new();
    for name in names {
        let name = name.as_str().ok_or_else(not_uris)?;
        match resource_there(server, name) {
            Ok(uri) => drop(uris.insert(uri)),
            Err(fault) if refused.len() < REFUSALS_MAX => {
                refused.insert(text::truncate_chars(name, 100), fault.message.into());
            }
            Err(_) => (),
        }
    }
    Ok((uris, refused))
}

/// Returns the resource of a URI, if clients may subscribe to it now.
fn resource_there<S: Handler>(server: &Server<S>, name: &str) -> Result<SubscribableUri, RpcError> {
    let uri = resource(server, name)?;
    let is_there = match &uri {
        Cow::Borrowed(_) => true,
        Cow::Owned(uri) => server.handler.more_resources().iter().any(|it| it.uri == *uri),
    };
    if is_there { Ok(uri) } else { Err(unknown(server, name)) }
}

/// Returns the resource of a URI, if clients may subscribe to it while it is there.
fn resource<S: Handler>(server: &Server<S>, name: &str) -> Result<SubscribableUri, RpcError> {
    let echo = text::truncate_chars(name, 100);
    let why = match uri::match_template(server.resources.iter().map(|it| it.uri), name) {
        Ok((idx, vars)) => match server.resources.get(idx) {
            Some(row) if row.is_subscribable && row.is_template() => {
                return Ok(Cow::Owned(vars.fill(row.uri)));
            }
            Some(row) if row.is_subscribable => return Ok(Cow::Borrowed(row.uri)),
            _ => format!("`{echo}` cannot be subscribed to; these can: {}", known(server)),
        },
        Err(UriError::Unknown) => return Err(unknown(server, name)),
        Err(UriError::Bad(why)) => format!("`{echo}` is no URI of a resource: {why}"),
    };
    Err(RpcError::new(RpcError::INVALID_PARAMS, why))
}

fn unknown<S: Handler>(server: &Server<S>, name: &str) -> RpcError {
    let echo = text::truncate_chars(name, 100);
    let known = known(server);
    let why = format!("there is no resource `{echo}`; these can be subscribed to: {known}");
    RpcError::new(RpcError::INVALID_PARAMS, why)
}

fn known<S: Handler>(server: &Server<S>) -> String {
    let uris = server.resources.iter().filter(|it| it.is_subscribable).map(|it| it.uri);
    uris.collect::<Vec<_>>().join(", ")
}

fn not_uris() -> RpcError {
    RpcError::new(RpcError::INVALID_PARAMS, "`resourceSubscriptions` must be a list of URIs")
}

#[cfg(test)]
mod tests;
