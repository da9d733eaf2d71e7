//! TODO-DOC rollout.
