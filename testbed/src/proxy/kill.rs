//! Ends a process at a chosen write: what a crash, or `kill -9`, at that point would leave behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use tokio::sync::watch;

use crate::process::Process;

/// When the process is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before the server sees the write.
    Before,
    /// After the server has answered the write, and before the process sees the answer.
    After,
}

/// Ends a process (SIGKILL) at the n-th write. Attached to several proxies, it counts their writes together.
#[derive(Clone, Debug)]
pub struct KillSwitch(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    nth: usize,
    when: When,
    seen: AtomicUsize,
    target: watch::Sender<Option<Process>>,
    fired: watch::Sender<bool>,
}

impl KillSwitch {
    /// For the n-th write from now, from 1. That write waits until [`KillSwitch::target`] has said whom it ends.
    pub fn at_write(nth: usize, when: When) -> KillSwitch {
        KillSwitch(Arc::new(Inner {
            nth,
            when,
            seen: AtomicUsize::new(0),
            target: watch::Sender::new(None),
            fired: watch::Sender::new(false),
        }))
    }

    /// Says which child is to be ended.
    pub fn target(&self, child: &std::process::Child) {
        // A child that is gone already sends no n-th write.
        self.0.target.send_replace(Process::of(child));
    }

    /// True once the process was ended.
    pub fn fired(&self) -> bool {
        *self.0.fired.borrow()
    }

    /// How many writes came by.
    pub fn writes(&self) -> usize {
        self.0.seen.load(Ordering::SeqCst)
    }

    /// Counts a write. Some if it is the one.
    pub(crate) fn count(&self) -> Option<When> {
        let nth = self.0.seen.fetch_add(1, Ordering::SeqCst) + 1;
        (nth == self.0.nth).then_some(self.0.when)
    }

    /// Ends the process, as soon as it is known, and waits until it is gone.
    pub(crate) async fn fire(&self) {
        let mut target = self.0.target.subscribe();
        let known = tokio::time::timeout(Duration::from_secs(60), target.wait_for(Option::is_some));
        let Ok(Ok(process)) = known.await.map(|r| r.map(|p| p.clone())) else {
            return;
        };
        if let Some(process) = process {
            process.signal(Signal::KILL);
            while process.runs() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            self.0.fired.send_replace(true);
        }
    }
}
