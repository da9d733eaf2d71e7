//! TODO-DOC render.
