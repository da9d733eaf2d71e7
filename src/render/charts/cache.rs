//! Pinned charts that were pulled before, so that a plan of an unchanged application pulls
//! nothing. Only a pin makes it safe: what is found is checked against it each time.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// The folder of pinned charts of this user; none without a home.
pub(super) struct Cache {
    folder: Option<PathBuf>,
}

impl Cache {
    /// `$XDG_CACHE_HOME/mcd/charts`, or below `~/.cache`.
    pub(super) fn of(env: &BTreeMap<OsString, OsString>) -> Self {
        let set = |name: &str| {
            env.get(&OsString::from(name)).map(PathBuf::from).filter(|path| path.is_absolute())
        };
        let base = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
        Cache { folder: base.map(|base| base.join("mcd/charts")) }
    }

    /// Copies the chart that is pinned by `digest` to `to`, if it is there and whole. The digest
    /// of a chart in a registry is that of its manifest, which names the archive; the archive's
    /// own was kept when the manifest was checked.
    pub(super) fn find(&self, digest: &str, is_oci: bool, to: &Path) -> bool {
        let Some(entry) = self.entry(digest) else { return false };
        let expected = match is_oci {
            true => fs::read_to_string(entry.join("archive")).ok(),
            false => Some(digest.to_owned()),
        };
        let copied = fs::copy(entry.join("chart.tgz"), to).is_ok();
        let whole = copied && expected.is_some() && sha256(to).ok() == expected;
        if !whole {
            fs::remove_file(to).ok();
        }
        whole
    }

    /// Keeps a chart whose digest was just checked. What cannot be kept is pulled again.
    pub(super) fn keep(&self, digest: &str, archive: &Path) {
        let (Some(folder), Some(entry)) = (&self.folder, self.entry(digest)) else { return };
        let keep = || -> std::io::Result<()> {
            let private = fs::Permissions::from_mode(0o700);
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            let fresh =
                tempfile::Builder::new().prefix(".new-").permissions(private).tempdir_in(folder)?;
            fs::copy(archive, fresh.path().join("chart.tgz"))?;
            fs::write(fresh.path().join("archive"), sha256(archive)?)?;
            // Another run may have been faster: what it kept is the same, unless it is broken.
            if entry.exists() {
                fs::remove_dir_all(&entry)?;
            }
            fs::rename(fresh.keep(), &entry)
        };
        keep().ok();
    }

    fn entry(&self, digest: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(digest.replace(':', "-")))
    }
}

/// A file's digest: `sha256:` and 64 hex digits.
pub(super) fn sha256(path: &Path) -> std::io::Result<String> {
    let mut file = fs::File::open(path)?;
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let read = file.read(&mut chunk)?;
        if read == 0 {
            break;
        }
        hasher.update(chunk.get(..read).unwrap_or_default());
    }
    let hex: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("sha256:{hex}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_found_only_while_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::of(&BTreeMap::from([("HOME".into(), dir.path().into())]));
        let (chart, to) = (dir.path().join("web.tgz"), dir.path().join("copy.tgz"));
        fs::write(&chart, "a chart").unwrap();
        let digest = sha256(&chart).unwrap();
        assert!(!cache.find(&digest, false, &to));
        cache.keep(&digest, &chart);
        assert!(cache.find(&digest, false, &to));
        assert_eq!(fs::read_to_string(&to).unwrap(), "a chart");

        let manifest = format!("sha256:{}", "ab".repeat(32));
        cache.keep(&manifest, &chart);
        assert!(cache.find(&manifest, true, &to));
        // As the digest of an archive it is a wrong one.
        assert!(!cache.find(&manifest, false, &to));
        assert!(!to.exists());
        for digest in [&digest, &manifest] {
            let entry = cache.entry(digest).unwrap();
            fs::write(entry.join("chart.tgz"), "another chart").unwrap();
            assert!(!cache.find(digest, *digest == manifest, &to));
            cache.keep(digest, &chart);
            assert!(cache.find(digest, *digest == manifest, &to));
        }
        // Nowhere to keep it is no error.
        let nowhere = Cache::of(&BTreeMap::new());
        nowhere.keep(&digest, &chart);
        assert!(!nowhere.find(&digest, false, &to));
    }
}
