//! A real registry (OCI distribution) on this machine, in memory.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::error::{Context as _, Error, Result};

/// A registry of its own; it ends, and forgets all, when it is dropped.
#[derive(Debug)]
pub struct Registry {
    child: Child,
    port: u16,
}

impl Registry {
    pub(crate) fn start(binary: &Path) -> Result<Registry> {
        let mut child = Command::new(binary)
            .args(["-port", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .at(binary)?;
        let stderr = child.stderr.take();
        let mut registry = Registry { child, port: 0 };
        let mut lines = stderr.into_iter().flat_map(|s| BufReader::new(s).lines()).flatten();
        let port = lines.find_map(|line| line.rsplit_once("serving on port ")?.1.parse().ok());
        registry.port = port.ok_or_else(|| Error::new("the registry ended before it served"))?;
        // It logs each request: a pipe that nobody reads would stop it.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(registry)
    }

    /// Where it listens: `127.0.0.1:PORT`. Plain HTTP, and everyone may read and write.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
