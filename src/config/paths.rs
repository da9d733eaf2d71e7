//! Paths that the files name: relative to the file, and inputs of rendering inside the
//! repository, judged by components of canonical paths (a prefix of text would take `/app-evil`
//! for a part of `/app`, and a symbolic link leads anywhere).

use std::io;
use std::path::{Path, PathBuf};

use super::node::Mark;
use super::read::{Files, join};
use crate::error::Result;

/// The folder that inputs of rendering stay inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    /// Absolute and canonical.
    pub(crate) path: PathBuf,
    /// Whether it is the top level of a git repository; else it is the file's own folder.
    pub(crate) is_git: bool,
}

impl Root {
    /// The root for files in `folder`, which is canonical. `.git` is a file in a worktree.
    pub(crate) fn of(files: &dyn Files, folder: &Path) -> Root {
        match folder.ancestors().find(|above| files.canonical(&above.join(".git")).is_ok()) {
            Some(top) => Root { path: top.to_path_buf(), is_git: true },
            None => Root { path: folder.to_path_buf(), is_git: false },
        }
    }
}

/// A path that may lead anywhere (kubeconfigs, the fleet, tools).
///
/// # Errors
/// Exit 3: it is empty, or starts with `~`.
pub(crate) fn free(mark: &Mark, path: &str) -> Result<PathBuf> {
    plain(mark, path)?;
    Ok(join(&mark.source.folder, Path::new(path)))
}

/// An input of rendering: canonical, and inside `root`. One that may be absent need not exist.
///
/// # Errors
/// Exit 3: it does not exist, or is outside of `root`.
pub(crate) fn input(
    files: &dyn Files,
    root: &Root,
    mark: &Mark,
    path: &str,
    may_be_absent: bool,
) -> Result<PathBuf> {
    plain(mark, path)?;
    let joined = join(&mark.source.folder, Path::new(path));
    let found = match files.canonical(&joined) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound && may_be_absent => {
            absent(files, &joined)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // Whether a place outside exists is nobody's business here.
            inside(root, mark, path, &absent(files, &joined))?;
            return Err(mark
                .error(format!("`{path}` does not exist"))
                .hint("paths are relative to the file that names them"));
        }
        Err(error) => {
            return Err(mark.error(format!("`{path}` cannot be read")).because(error.to_string()));
        }
    };
    inside(root, mark, path, &found)?;
    Ok(found)
}

fn plain(mark: &Mark, path: &str) -> Result<()> {
    if path.is_empty() {
        return Err(mark.error("the path is empty"));
    }
    if path == "~" || path.starts_with("~/") {
        return Err(mark
            .error(format!("`{path}`: `~` is not expanded in files"))
            .hint("write an absolute path, or one relative to this file"));
    }
    Ok(())
}

fn inside(root: &Root, mark: &Mark, path: &str, found: &Path) -> Result<()> {
    if found.starts_with(&root.path) {
        return Ok(());
    }
    let top = root.path.display();
    let error = mark.error(format!("`{path}` is outside of `{top}`"));
    let error = match found == Path::new(path) {
        true => error,
        false => error.because(format!("it leads to `{}`", found.display())),
    };
    Err(if root.is_git {
        error.hint("inputs of rendering stay inside the repository of the application file")
    } else {
        error.hint(
            "inputs of rendering stay inside the repository of the application file, or inside \
             its folder when that is in no git repository",
        )
    })
}

/// Where a path that does not exist would lead: what exists of it is canonical, the rest is
/// taken as text.
fn absent(files: &dyn Files, path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|above| {
        let canonical = files.canonical(above).ok()?;
        let rest = path.strip_prefix(above).ok()?;
        Some((canonical, rest.to_path_buf()))
    });
    let Some((mut found, rest)) = existing else { return path.to_path_buf() };
    for component in rest.components() {
        match component {
            std::path::Component::ParentDir => {
                found.pop();
            }
            other => found.push(other),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::node::{Mark, Source};
    use crate::config::read::Disk;

    fn mark(folder: &Path) -> Mark {
        let source = Source { name: "mcd.yaml".into(), folder: folder.into(), text: String::new() };
        Mark::start(&std::sync::Arc::new(source))
    }

    #[test]
    fn inputs_stay_inside_whatever_the_path_looks_like() {
        let temp = tempfile::tempdir().expect("a folder");
        let top = temp.path().canonicalize().expect("it exists");
        for folder in ["repo/.git", "repo/app/base", "repo-evil", "repo/other"] {
            std::fs::create_dir_all(top.join(folder)).expect("a folder");
        }
        for file in ["repo/app/v.yaml", "repo-evil/v.yaml", "repo/other/v.yaml"] {
            std::fs::write(top.join(file), "").expect("a file");
        }
        let link = |to: &Path, at: &str| {
            std::os::unix::fs::symlink(to, top.join(at)).expect("a link");
        };
        link(&top.join("repo-evil"), "repo/app/out");
        link(&top.join("repo/other"), "repo/app/in");
        link(&top.join("repo/app/out"), "repo/app/twice");
        let folder = top.join("repo/app");
        let root = Root::of(&Disk, &folder);
        assert_eq!(root, Root { path: top.join("repo"), is_git: true });

        let absolute = top.join("repo/app/v.yaml").display().to_string();
        let evil = top.join("repo-evil/v.yaml").display().to_string();
        let cases = [
            ("v.yaml", false, Ok("repo/app/v.yaml")),
            ("./base/../v.yaml", false, Ok("repo/app/v.yaml")),
            ("../other/v.yaml", false, Ok("repo/other/v.yaml")),
            ("in/v.yaml", false, Ok("repo/other/v.yaml")),
            (absolute.as_str(), false, Ok("repo/app/v.yaml")),
            ("none.yaml", true, Ok("repo/app/none.yaml")),
            ("none.yaml", false, Err("does not exist")),
            ("../../repo-evil/v.yaml", false, Err("outside")),
            ("../../repo-evil/none.yaml", false, Err("outside")),
            ("../../repo-evil/none.yaml", true, Err("outside")),
            ("none/../../../repo-evil/x.yaml", true, Err("outside")),
            ("out/v.yaml", false, Err("outside")),
            ("out/none.yaml", true, Err("outside")),
            ("twice/v.yaml", false, Err("outside")),
            (evil.as_str(), false, Err("outside")),
            ("../..", false, Err("outside")),
            ("", false, Err("empty")),
            ("~/x", true, Err("not expanded")),
        ];
        for (path, may_be_absent, expected) in cases {
            let found = input(&Disk, &root, &mark(&folder), path, may_be_absent);
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, top.join(expected), "{path}"),
                (Err(error), Err(word)) => assert!(error.message().contains(word), "{error}"),
                (found, expected) => panic!("{path}: {found:?}, expected {expected:?}"),
            }
        }
    }

    #[test]
    fn without_a_repository_the_folder_is_the_root() {
        let temp = tempfile::tempdir().expect("a folder");
        let top = temp.path().canonicalize().expect("it exists");
        assert_eq!(Root::of(&Disk, &top), Root { path: top, is_git: false });
    }

    #[test]
    fn free_paths_start_at_their_file() {
        let mark = mark(Path::new("/fleet/prod"));
        for (path, expected) in [
            ("kube/us.yaml", "/fleet/prod/kube/us.yaml"),
            ("./us.yaml", "/fleet/prod/us.yaml"),
            ("../us.yaml", "/fleet/us.yaml"),
            ("/etc/us.yaml", "/etc/us.yaml"),
            ("a/../us.yaml", "/fleet/prod/a/../us.yaml"),
        ] {
            assert_eq!(free(&mark, path), Ok(PathBuf::from(expected)));
        }
    }
}
