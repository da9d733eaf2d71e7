//! TODO-DOC apply.
