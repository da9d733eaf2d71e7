//! Ctrl-C and SIGTERM: once stops after the write in flight, twice leaves now.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio_util::sync::CancellationToken;

use crate::error::Exit;

/// Whether the run was asked to stop, and by what.
#[derive(Clone, Debug, Default)]
pub(super) struct Interrupt {
    token: CancellationToken,
    exit: Arc<AtomicU8>,
}

impl Interrupt {
    /// Listens from now on. `said` is called once, at the first signal.
    pub(super) fn listen(said: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let interrupt = Interrupt::default();
        let mut int = signal(SignalKind::interrupt())?;
        let mut term = signal(SignalKind::terminate())?;
        let me = interrupt.clone();
        tokio::spawn(async move {
            loop {
                let exit = tokio::select! {
                    Some(()) = int.recv() => Exit::Interrupted,
                    Some(()) = term.recv() => Exit::Terminated,
                    else => return,
                };
                if me.token.is_cancelled() {
                    std::process::exit(i32::from(exit.code()));
                }
                me.exit.store(exit.code(), Ordering::SeqCst);
                me.token.cancel();
                said();
            }
        });
        Ok(interrupt)
    }

    /// Cancelled at the first signal.
    pub(super) fn token(&self) -> &CancellationToken {
        &self.token
    }

    /// The exit code of an interrupted run.
    pub(super) fn exit(&self) -> Option<Exit> {
        match self.exit.load(Ordering::SeqCst) {
            130 => Some(Exit::Interrupted),
            143 => Some(Exit::Terminated),
            _ => None,
        }
    }
}
