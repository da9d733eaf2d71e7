//! A private copy of a repository, for tools that write beside their input.

use std::io;
use std::path::Path;

use tokio_util::sync::CancellationToken;

use crate::error::{Error, Exit, Result};

/// Most files of a copy.
const MAX_ENTRIES: usize = 50_000;
/// Most bytes of a copy.
const MAX_BYTES: u64 = 512 << 20;

/// Copies `root` to `to`, which must not exist, without `.git`, `node_modules` and folders that
/// are marked as caches (CACHEDIR.TAG). Links that stay inside lead into the copy; the number of
/// those that leave it, and are left out, is returned. `what` is named in errors.
pub(super) fn tree(
    root: &Path,
    to: &Path,
    what: &str,
    cancel: &CancellationToken,
) -> Result<usize> {
    let mut copy = Copy { root, to, what, cancel, entries: 0, bytes: 0, left_out: 0 };
    copy.folder(root, to)?;
    Ok(copy.left_out)
}

struct Copy<'a> {
    root: &'a Path,
    to: &'a Path,
    what: &'a str,
    cancel: &'a CancellationToken,
    entries: usize,
    bytes: u64,
    left_out: usize,
}

impl Copy<'_> {
    fn folder(&mut self, from: &Path, to: &Path) -> Result<()> {
        std::fs::create_dir(to).map_err(|e| self.failed(from, &e))?;
        for entry in std::fs::read_dir(from).map_err(|e| self.failed(from, &e))? {
            if self.cancel.is_cancelled() {
                let what = format!("interrupted while `{}` was prepared", self.what);
                return Err(Error::new(Exit::Interrupted, what));
            }
            let entry = entry.map_err(|e| self.failed(from, &e))?;
            let (name, source) = (entry.file_name(), entry.path());
            let target = to.join(&name);
            let kind = entry.file_type().map_err(|e| self.failed(&source, &e))?;
            if kind.is_symlink() {
                self.link(&source, &target)?;
            } else if kind.is_dir() {
                if name == ".git" || name == "node_modules" || is_cache(&source) {
                    continue;
                }
                self.folder(&source, &target)?;
            } else if kind.is_file() {
                if name == ".git" {
                    continue;
                }
                let size = entry.metadata().map_err(|e| self.failed(&source, &e))?.len();
                self.count(size)?;
                std::fs::copy(&source, &target).map_err(|e| self.failed(&source, &e))?;
            }
        }
        Ok(())
    }

    fn link(&mut self, source: &Path, target: &Path) -> Result<()> {
        let real = source.canonicalize().ok();
        let Some(inside) = real.as_deref().and_then(|p| p.strip_prefix(self.root).ok()) else {
            self.left_out += 1;
            return Ok(());
        };
        self.count(0)?;
        std::os::unix::fs::symlink(self.to.join(inside), target)
            .map_err(|e| self.failed(source, &e))
    }

    fn count(&mut self, size: u64) -> Result<()> {
        self.entries += 1;
        self.bytes = self.bytes.saturating_add(size);
        if self.entries <= MAX_ENTRIES && self.bytes <= MAX_BYTES {
            return Ok(());
        }
        Err(Error::manifest(format!(
            "`{}` writes beside its input and so runs in a copy of `{}`, which is too large: over \
             {MAX_ENTRIES} files or {} MiB",
            self.what,
            self.root.display(),
            MAX_BYTES >> 20
        ))
        .hint(
            "mark folders that no rendering reads with a CACHEDIR.TAG file, and they are left out",
        ))
    }

    fn failed(&self, path: &Path, e: &io::Error) -> Error {
        Error::manifest(format!("`{}` cannot be copied for `{}`", path.display(), self.what))
            .because(e.to_string())
    }
}

/// Whether a folder is marked as one that can be made again (bford.info/cachedir).
fn is_cache(folder: &Path) -> bool {
    folder.join("CACHEDIR.TAG").is_file()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_copy_has_what_rendering_reads_and_no_more() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let root = base.join("repo");
        for folder in [".git", "node_modules", "build", "target/sub", "overlays/prod"] {
            fs::create_dir_all(root.join(folder)).unwrap();
            fs::write(root.join(folder).join("f"), folder).unwrap();
        }
        fs::write(root.join("build/CACHEDIR.TAG"), "").unwrap();
        fs::write(base.join("outside"), "").unwrap();
        symlink("../../target", root.join("overlays/prod/in")).unwrap();
        symlink(root.join("overlays"), root.join("absolute")).unwrap();
        symlink(base.join("outside"), root.join("out")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();

        let to = base.join("copy");
        let left_out = tree(&root, &to, "kustomize build", &CancellationToken::new()).unwrap();
        assert_eq!(left_out, 2);
        for gone in [".git", "node_modules", "build", "out", "dangling"] {
            assert!(fs::symlink_metadata(to.join(gone)).is_err(), "{gone}");
        }
        assert_eq!(fs::read_to_string(to.join("overlays/prod/in/sub/f")).unwrap(), "target/sub");
        let through = to.join("absolute/prod/f").canonicalize().unwrap();
        assert!(through.starts_with(&to), "{through:?}");

        let cancelled = CancellationToken::new();
        cancelled.cancel();
        let error = tree(&root, &base.join("again"), "x", &cancelled).unwrap_err();
        assert_eq!(error.exit(), Exit::Interrupted);
    }
}
