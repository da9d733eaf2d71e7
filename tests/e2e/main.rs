//! The real binary against real control planes, by behaviour. `cargo testbed up` starts them; the
//! first test does it otherwise.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a `#[test]`")]
#![expect(clippy::print_stderr, reason = "what a long test tried is part of what it tells")]

mod admission;
mod adopt;
mod annotations;
mod apply;
mod canary_fails;
mod chart_world;
mod charts;
mod compare;
mod conflicts;
mod crash;
mod crash_of_rollouts;
mod delete;
mod dependencies;
mod diff;
mod discovery;
mod doctor;
mod events;
mod examples;
mod exit_codes;
mod fast_path;
mod faults;
mod files;
mod fleet;
mod identity;
mod ignore;
mod init;
mod interrupt;
mod isolation;
mod locks;
mod moved;
mod names;
mod order;
mod orphans;
mod pipes;
mod plugin;
mod preview;
mod prune;
mod record;
mod refusals;
mod refused;
mod relocate;
mod rollback;
mod rollout;
mod rollout_broken_off;
mod rollout_engine;
mod rollout_steps;
mod rollout_world;
mod secrets;
mod seen;
mod slow;
mod state;
mod status;
mod strategy;
mod support;
mod takeover;
mod target_set;
mod terminal;
mod waves;
