//! TODO-DOC cluster.
