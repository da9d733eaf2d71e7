//! Where the bed keeps what it built and what it runs: always outside the checkout.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::{Context, Error, Result};
use crate::progress::{say, with_heartbeat};

/// The cache folder: `$MCD_TESTBED_CACHE`, else `$XDG_CACHE_HOME/mcd-testbed`, else `~/.cache/mcd-testbed`.
pub(crate) fn folder() -> Result<PathBuf> {
    choose_folder(|name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from))
}

fn choose_folder(var: impl Fn(&str) -> Option<PathBuf>) -> Result<PathBuf> {
    let path = if let Some(path) = var("MCD_TESTBED_CACHE") {
        path
    } else if let Some(cache) = var("XDG_CACHE_HOME").filter(|p| p.is_absolute()) {
        cache.join("mcd-testbed")
    } else if let Some(home) = var("HOME") {
        home.join(".cache/mcd-testbed")
    } else {
        return Err(Error::new("no cache folder: set MCD_TESTBED_CACHE, XDG_CACHE_HOME or HOME"));
    };
    std::path::absolute(&path).at(&path)
}

/// The folder of what runs: `$MCD_TESTBED_RUN`, else `run` in the cache folder. Two beds that are to be independent need
/// two of these.
pub(crate) fn run_folder() -> Result<PathBuf> {
    match std::env::var_os("MCD_TESTBED_RUN").filter(|v| !v.is_empty()) {
        Some(path) => std::path::absolute(&path).at(Path::new(&path)),
        None => Ok(folder()?.join("run")),
    }
}

/// A short name for some content: the first 16 hex digits of its SHA-256, each part with its length.
pub(crate) fn key<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(8).map(|b| format!("{b:02x}")).collect()
}

/// An exclusive lock between processes (and threads), held until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock(#[expect(dead_code, reason = "held for its effect")] File);

impl Lock {
    /// Takes the lock on `path`, and says so if another process has it.
    pub(crate) fn take(path: &Path, waiting_for: &str) -> Result<Lock> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).at(parent)?;
        }
        let file = File::options().create(true).truncate(false).write(true).open(path).at(path)?;
        match file.try_lock() {
            Ok(()) => return Ok(Lock(file)),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(e)) => return Err(e).at(path),
        }
        say(&format!("waiting for another process that {waiting_for}"));
        with_heartbeat(&format!("waiting for another process that {waiting_for}"), || file.lock())
            .at(path)?;
        Ok(Lock(file))
    }
}

/// Writes a whole file at once: a reader sees the old content or the new, never a part.
pub(crate) fn write_atomically(path: &Path, content: &[u8]) -> Result<()> {
    let parent = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent).at(parent)?;
    let mut file = tempfile::NamedTempFile::new_in(parent).at(parent)?;
    std::io::Write::write_all(&mut file, content).at(path)?;
    file.persist(path).at(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(vars: &'static [(&str, &str)]) -> Option<String> {
        choose_folder(|n| vars.iter().find(|(k, _)| *k == n).map(|(_, v)| PathBuf::from(v)))
            .ok()
            .map(|p| p.display().to_string())
    }

    #[test]
    fn the_cache_folder_follows_the_usual_order() {
        let all = [("MCD_TESTBED_CACHE", "/a"), ("XDG_CACHE_HOME", "/b"), ("HOME", "/c")];
        assert_eq!(
            choose_folder(|n| all.iter().find(|(k, _)| *k == n).map(|(_, v)| v.into())).unwrap(),
            Path::new("/a")
        );
        assert_eq!(with(&[("XDG_CACHE_HOME", "/b"), ("HOME", "/c")]).unwrap(), "/b/mcd-testbed");
        assert_eq!(with(&[("HOME", "/c")]).unwrap(), "/c/.cache/mcd-testbed");
        // A relative XDG_CACHE_HOME is to be ignored (XDG base directory specification).
        assert_eq!(
            with(&[("XDG_CACHE_HOME", "b"), ("HOME", "/c")]).unwrap(),
            "/c/.cache/mcd-testbed"
        );
        assert_eq!(with(&[]), None);
    }

    #[test]
    fn keys_depend_on_content_and_on_where_parts_end() {
        assert_eq!(key(["a", "b"]).len(), 16);
        assert_eq!(key(["a", "b"]), key(["a", "b"]));
        assert_ne!(key(["a", "b"]), key(["ab", ""]));
        assert_ne!(key(["a", "b"]), key(["a", "c"]));
    }

    #[test]
    fn a_lock_keeps_a_second_taker_out_until_it_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sub/lock");
        let lock = Lock::take(&path, "tests").unwrap();
        let other = File::options().write(true).open(&path).unwrap();
        assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
        drop(lock);
        other.try_lock().unwrap();
    }
}
