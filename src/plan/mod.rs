//! TODO-DOC plan.
