//! Work that is done for the first who asks; the others wait for it and get the same.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

use crate::error::Result;

/// Results by what was asked for, errors included.
#[derive(Debug)]
pub(super) struct Once<K, V>(Mutex<HashMap<K, Cell<V>>>);

type Cell<V> = Arc<OnceCell<Result<Arc<V>>>>;

impl<K, V> Default for Once<K, V> {
    fn default() -> Self {
        Once(Mutex::default())
    }
}

impl<K: Eq + Hash, V> Once<K, V> {
    /// What `key` came to; `work` runs for the first who asks.
    pub(super) async fn get(
        &self,
        key: K,
        work: impl AsyncFnOnce() -> Result<V>,
    ) -> Result<Arc<V>> {
        let cell = {
            let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(shared.entry(key).or_default())
        };
        cell.get_or_init(async || work().await.map(Arc::new)).await.clone()
    }
}
