//! Signed state: travels through the client and is accepted only unchanged.
//!
//! Signed state is 32 hexadecimal digits and then the state as JSON. The digits are two SipHashes
//! of the state and of its request, under keys of this process: state from another process,
//! changed state and state of another request are refused.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use serde_json::{Map, Value};

use crate::mcp::rpc::RpcError;

const TAG_CHARS: usize = 32;

/// The keys of one process.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateSigner([RandomState; 2]);

impl StateSigner {
    /// Signs `state` for a repetition of `request`.
    pub(super) fn sign(&self, request: &str, state: &Map<String, Value>) -> String {
        let state = Value::from(state.clone()).to_string();
        format!("{}{state}", self.tag(request, &state))
    }

    /// Returns the state in `signed`, if this process signed it for this very request.
    pub(super) fn verify(
        &self,
        request: &str,
        signed: &str,
    ) -> Result<Map<String, Value>, RpcError> {
        let opened = signed.split_at_checked(TAG_CHARS).and_then(|(tag, state)| {
            let ours = self.tag(request, state);
            let differences = tag.bytes().zip(ours.bytes());
            // All bytes are compared, so that the time does not reveal the first difference.
            let is_ours = differences.fold(0, |all, (a, b)| all | (a ^ b)) == 0;
            if is_ours { serde_json::from_str(state).ok() } else { None }
        });
        opened.ok_or_else(|| {
            let message = "`requestState` is not what this server gave out for this request; \
                           make the request again without it";
            RpcError::new(RpcError::INVALID_PARAMS, message)
        })
    }

    fn tag(&self, request: &str, state: &str) -> String {
        let hashes = self.0.each_ref().map(|keys| {
            let mut hasher = keys.build_hasher();
            hasher.write(&request.len().to_le_bytes());
            hasher.write(request.as_bytes());
            hasher.write(state.as_bytes());
            hasher.finish()
        });
        hashes.map(|hash| format!("{hash:016x}")).concat()
    }
}
