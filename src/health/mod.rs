//! One object → its health, bound to the generation of our own apply. Pure.

use serde::Serialize;

/// What is known of an object's health.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", content = "reason", rename_all = "camelCase")]
pub enum Health {
    /// It does what its manifest asks.
    Healthy,
    /// On its way; the reason names what is missing.
    Progressing(String),
    /// It will not get there by itself.
    Failed(String),
    /// Paused by its manifest or by someone.
    Paused(String),
    /// Not known, with why.
    Unknown(String),
}
