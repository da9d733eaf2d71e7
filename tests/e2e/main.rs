//! The real binary against real control planes, by behaviour. `cargo testbed up` starts them; the
//! first test does it otherwise.

mod apply;
mod crash;
mod examples;
mod fast_path;
mod faults;
mod refusals;
mod secrets;
mod support;
mod takeover;
