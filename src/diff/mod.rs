//! TODO-DOC diff.
