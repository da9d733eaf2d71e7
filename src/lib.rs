//! `mcd` deploys one application to many Kubernetes clusters from a terminal or a CI job.
//!
//! Data flows one way: [`config`] → [`render`] → [`plan`] → [`rollout`] → [`apply`] → [`report`].
//! The pure modules ([`config`], [`manifest`], [`plan`], [`diff`], [`ownership`], [`rollout`],
//! [`health`]) take values and return values: no async runtime, no client, no clock, no
//! environment. Effects live in [`cluster`] (API servers), [`render`] (tools as subprocesses),
//! [`apply`] (drives the first two) and [`report`] and [`ui`] (the terminal).

pub mod apply;
pub mod cluster;
pub mod cmd;
pub mod config;
pub mod diff;
pub mod duration;
pub mod error;
pub mod event;
pub mod health;
pub mod manifest;
pub mod ownership;
pub mod plan;
pub mod render;
pub mod report;
pub mod rollout;
pub mod suggest;
pub mod ui;
