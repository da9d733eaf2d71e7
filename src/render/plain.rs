//! Plain manifests: files, and folders (their *.yaml, *.yml and *.json, not below).

use std::path::{Path, PathBuf};

use super::options::RenderOptions;
use super::paths;
use crate::error::{Error, Result};

/// A file as read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// Its name for messages.
    pub(super) name: String,
    /// Its text.
    pub(super) text: String,
}

/// Reads the files in the order given, those of a folder by name.
///
/// Errors: a path that is missing or outside of `root`, a folder without manifests, a file that
/// is not UTF-8, more than `options.max_bytes` together.
pub(super) fn read(
    root: &Path,
    listed: &[PathBuf],
    options: &RenderOptions,
) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    let mut left = options.max_bytes;
    for path in listed {
        let real = paths::inside(root, path, "the path", options)?;
        if !real.is_dir() {
            sources.push(file(path, &real, &mut left, options)?);
            continue;
        }
        let files = manifests(path).map_err(|e| cannot_read(path, options, &e))?;
        if files.is_empty() {
            return Err(Error::manifest(format!(
                "the folder `{}` holds no *.yaml, *.yml or *.json file",
                options.shown(path)
            ))
            .hint("folders below it are not read: list each of them"));
        }
        for path in files {
            let real = paths::inside(root, &path, "the file", options)?;
            sources.push(file(&path, &real, &mut left, options)?);
        }
    }
    Ok(sources)
}

fn manifests(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let is_manifest = path.extension().is_some_and(|extension| {
            ["yaml", "yml", "json"].iter().any(|known| extension == *known)
        });
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if is_manifest && !hidden && !path.is_dir() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn file(path: &Path, real: &Path, left: &mut usize, options: &RenderOptions) -> Result<Source> {
    let name = options.shown(path);
    let metadata = real.metadata().map_err(|e| cannot_read(path, options, &e))?;
    if !metadata.is_file() {
        return Err(Error::manifest(format!("`{name}` is not a file")));
    }
    let size = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
    *left = left.checked_sub(size).ok_or_else(|| {
        Error::manifest(format!(
            "the manifests are larger than {} MiB together, at `{name}`",
            options.max_bytes >> 20
        ))
    })?;
    let bytes = std::fs::read(real).map_err(|e| cannot_read(path, options, &e))?;
    let text = String::from_utf8(bytes).map_err(|e| {
        let valid = e.utf8_error().valid_up_to();
        let line = e.as_bytes().iter().take(valid).filter(|byte| **byte == b'\n').count() + 1;
        Error::manifest(format!("`{name}` is not UTF-8 text, on line {line}"))
    })?;
    Ok(Source { name, text })
}

fn cannot_read(path: &Path, options: &RenderOptions, e: &std::io::Error) -> Error {
    Error::manifest(format!("`{}` cannot be read", options.shown(path))).because(e.to_string())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn folders_are_read_by_name_and_not_below() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("k8s/below")).unwrap();
        for name in ["b.yml", "a.yaml", "c.json", "README.md", "below/d.yaml", ".hidden.yaml"] {
            fs::write(root.join("k8s").join(name), name).unwrap();
        }
        let options = RenderOptions { cwd: root.clone(), ..RenderOptions::from_env() };
        let names = |listed: &[&str], options: &RenderOptions| {
            let listed: Vec<_> = listed.iter().map(|path| root.join(path)).collect();
            read(&root, &listed, options)
                .map(|sources| sources.into_iter().map(|s| s.name).collect::<Vec<_>>())
                .map_err(|e| e.to_string())
        };
        let all = ["k8s/a.yaml", "k8s/b.yml", "k8s/c.json"].map(str::to_owned).to_vec();
        assert_eq!(names(&["k8s"], &options), Ok(all));
        // A file that is named is read whatever it is called.
        let two = ["k8s/README.md", "k8s/a.yaml"].map(str::to_owned).to_vec();
        assert_eq!(names(&["k8s/README.md", "k8s/a.yaml"], &options), Ok(two));

        fs::create_dir(root.join("empty")).unwrap();
        let error = names(&["empty"], &options).unwrap_err();
        assert!(error.contains("`empty` holds no *.yaml"), "{error}");
        let error = names(&["gone"], &options).unwrap_err();
        assert!(error.contains("`gone` does not exist"), "{error}");

        fs::write(root.join("latin.yaml"), b"a: b\nc: \xe9\n").unwrap();
        let error = names(&["latin.yaml"], &options).unwrap_err();
        assert!(error.contains("not UTF-8 text, on line 2"), "{error}");

        let small = RenderOptions { max_bytes: 10, ..options.clone() };
        let error = names(&["k8s"], &small).unwrap_err();
        assert!(error.contains("larger than 0 MiB together, at `k8s/b.yml`"), "{error}");
    }
}
