//! The real binary against real control planes, by behaviour. `cargo testbed up` starts them; the
//! first test does it otherwise.

mod apply;
mod crash;
mod delete;
mod examples;
mod exit_codes;
mod fast_path;
mod faults;
mod files;
mod interrupt;
mod locks;
mod moved;
mod order;
mod pipes;
mod refusals;
mod secrets;
mod state;
mod support;
mod takeover;
mod terminal;
