//! TODO-DOC report.
