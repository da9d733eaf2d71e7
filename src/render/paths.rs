//! Inputs of rendering stay inside the repository of the file that names them (design §2).

use std::io;
use std::path::{Path, PathBuf};

use super::options::RenderOptions;
use crate::error::{Error, Result};

/// The canonical form of `path`, which has to exist and to lie inside `root` once links are
/// followed. Compared by components: `/app-evil` is not inside `/app`.
pub(super) fn inside(
    root: &Path,
    path: &Path,
    what: &str,
    options: &RenderOptions,
) -> Result<PathBuf> {
    let shown = options.shown(path);
    let real = path.canonicalize().map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => Error::manifest(format!("{what} `{shown}` does not exist")),
        _ => Error::manifest(format!("{what} `{shown}` cannot be read")).because(e.to_string()),
    })?;
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    if real.starts_with(&root) {
        return Ok(real);
    }
    Err(Error::config(format!(
        "{what} `{shown}` lies outside of `{}`, the repository of the application file",
        options.shown(&root)
    ))
    .hint("inputs of rendering stay inside the repository, links included; copy it there"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_do_not_lead_out() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for folder in ["app/k8s", "app-evil"] {
            std::fs::create_dir_all(base.join(folder)).unwrap();
        }
        symlink("../app-evil", base.join("app/link")).unwrap();
        symlink("k8s", base.join("app/within")).unwrap();
        let (root, options) = (base.join("app"), RenderOptions::from_env());
        let inside = |path: &str| inside(&root, &base.join(path), "the folder", &options);

        assert_eq!(inside("app/within").unwrap(), base.join("app/k8s"));
        assert_eq!(inside("app/k8s/../k8s").unwrap(), base.join("app/k8s"));
        for outside in ["app-evil", "app/link", "app/../app-evil", "."] {
            let error = inside(outside).unwrap_err();
            assert!(error.message().contains("lies outside of"), "{outside}: {error}");
            assert_eq!(error.exit(), crate::error::Exit::Config);
        }
        assert!(inside("app/gone").unwrap_err().message().ends_with("does not exist"));
    }
}
