//! TODO-DOC ownership.
