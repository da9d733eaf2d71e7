//! The one way to an API server.

pub mod state;
