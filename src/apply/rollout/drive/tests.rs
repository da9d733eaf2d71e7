//! The driver over a fleet of a few targets: what it tells, how it ends, and with which code.
