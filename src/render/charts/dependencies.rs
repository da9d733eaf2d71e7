//! Dependencies of a local chart: what `charts/` lacks of what Chart.lock names is built in a
//! private copy that starts at the repository root, since `file://` dependencies lie beside the
//! chart, and helm writes into it (design §4).

use std::path::{Path, PathBuf};

use serde_json::Value;
use tokio::task::spawn_blocking;

use super::access::{self, Access, host};
use super::advice::advice;
use super::run::Helm;
use super::{Chart, Surroundings, describe};
use crate::error::{Error, Result};
use crate::manifest::yaml;
use crate::render::copy;
use crate::render::find::Found;
use crate::render::private::Private;

/// A dependency as Chart.yaml or Chart.lock names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dependency {
    name: String,
    version: String,
    /// A URL, `file://…`, or the name of one of the user's repositories (`@name`, `alias:name`).
    repository: String,
}

/// What Chart.lock names, if `charts/` lacks some of it. A chart in `charts/` that belongs to no
/// repository is for whoever put it there.
///
/// # Errors
/// Exit 4: something is lacking, and there is no Chart.lock to say which one it is.
pub(super) fn lacking(chart: &Path, shown: &str) -> Result<Option<Vec<Dependency>>> {
    if !chart.is_dir() {
        return Ok(None);
    }
    let named = dependencies(&chart.join("Chart.yaml")).unwrap_or_default();
    if named.is_empty() {
        return Ok(None);
    }
    if let Some(locked) = dependencies(&chart.join("Chart.lock")) {
        let lacks = locked.iter().any(|d| !is_there(chart, &d.name, Some(&d.version)));
        return Ok(lacks.then_some(locked));
    }
    match named.iter().find(|d| !is_there(chart, &d.name, None)) {
        None => Ok(None),
        Some(first) => Err(Error::manifest(format!(
            "the chart `{shown}` lacks its dependency `{}`, and has no Chart.lock",
            first.name
        ))
        .hint(format!(
            "run `helm dependency update {shown}` and commit Chart.lock: it says which version \
             every run takes"
        ))),
    }
}

/// The dependencies of a file that come from somewhere; none without the file.
fn dependencies(path: &Path) -> Option<Vec<Dependency>> {
    let text = std::fs::read_to_string(path).ok()?;
    let documents = yaml::load(&text, "").ok()?;
    let list = documents.first()?.value["dependencies"].as_array().cloned().unwrap_or_default();
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    let all = list.iter().map(|entry| Dependency {
        name: text(entry, "name"),
        version: text(entry, "version"),
        repository: text(entry, "repository"),
    });
    Some(all.filter(|dependency| !dependency.repository.is_empty()).collect())
}

/// Whether `charts/` holds a chart: an unpacked one, or its archive in this version.
fn is_there(chart: &Path, name: &str, version: Option<&str>) -> bool {
    let charts = chart.join("charts");
    if charts.join(name).join("Chart.yaml").is_file() {
        return true;
    }
    match version {
        Some(version) => charts.join(format!("{name}-{version}.tgz")).is_file(),
        None => std::fs::read_dir(&charts).into_iter().flatten().flatten().any(|entry| {
            let file = entry.file_name().to_string_lossy().into_owned();
            let rest = file.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
            // `db-1.0.0.tgz`, and not `db-extra-1.0.0.tgz`.
            rest.is_some_and(|rest| {
                rest.ends_with(".tgz") && rest.starts_with(|c: char| c.is_ascii_digit() || c == 'v')
            })
        }),
    }
}

/// A copy of the chart with its dependencies.
///
/// # Errors
/// See [`super::Charts::local`].
pub(super) async fn build(
    root: &Path,
    chart: &Path,
    shown: &str,
    locked: Vec<Dependency>,
    found: &Found,
    around: &Surroundings<'_>,
) -> Result<Chart> {
    let label = format!("helm dependency build {shown}");
    let private = Private::new(&around.options.temp_dir, &label)?;
    let copy = private.path().join("copy");
    let (from, to, what) = (root.to_owned(), copy.clone(), label.clone());
    let cancel = around.runner.cancel().clone();
    let left_out = spawn_blocking(move || copy::tree(&from, &to, &what, &cancel))
        .await
        .map_err(|e| Error::manifest("rendering broke off").because(e.to_string()))
        .flatten()?;
    let path = copy.join(chart.strip_prefix(root).unwrap_or(Path::new("")));
    let env = &around.options.env;
    let to = |url: &str| Access::to(url, around.repositories, env, around.scrubber);

    let (mut repositories, mut registries) = (Vec::new(), Vec::new());
    let own = access::own_repositories(env);
    // helm resolves these names in Chart.lock, and looks them up in Chart.yaml all the same.
    let named = dependencies(&chart.join("Chart.yaml")).unwrap_or_default();
    let is_alias =
        |d: &&Dependency| d.repository.starts_with('@') || d.repository.starts_with("alias:");
    for (i, dependency) in named.iter().filter(is_alias).chain(&locked).enumerate() {
        let url = dependency.repository.trim_end_matches('/');
        let alias = url.strip_prefix('@').or_else(|| url.strip_prefix("alias:"));
        if let Some(alias) = alias {
            let named = own.iter().find(|e| e.get("name").and_then(Value::as_str) == Some(alias));
            let Some(url) = named.and_then(|e| e.get("url")).and_then(Value::as_str) else {
                return Err(Error::manifest(format!(
                    "`{shown}` takes `{}` from the repository `{alias}`, which helm does not know \
                     here",
                    dependency.name
                ))
                .hint(format!(
                    "add it by `helm repo add {alias} URL`, or name its URL in Chart.yaml"
                )));
            };
            if !repositories.iter().any(|(known, _, _)| known == alias) {
                repositories.push((alias.to_owned(), url.to_owned(), to(url)?));
            }
        } else if url.starts_with("oci://") {
            registries.push((url.to_owned(), to(url)?));
        } else if url.starts_with("https://") || url.starts_with("http://") {
            let known = repositories.iter().any(|(_, known, _)| known == url);
            if !known {
                repositories.push((format!("mcd-{i}"), url.to_owned(), to(url)?));
            }
        }
    }
    let helm = Helm::new(found, around, &private, &repositories, &registries)?;
    let mut args = vec!["dependency".into(), "build".into()];
    args.extend(helm.flags());
    args.push(".".into());
    let output = helm.run(args, &path, &label).await?;
    let lacks = locked.iter().find(|d| !is_there(&path, &d.name, Some(&d.version)));
    if let Some(lacks) = lacks.filter(|_| output.status.success()) {
        return Err(Error::manifest(format!("`{label}` left out `{}`", lacks.name))
            .because(helm.said(&output)));
    }
    if !output.status.success() {
        let said = helm.said(&output);
        let error = helm.failed(&output, &label);
        if said.contains("out of sync") {
            return Err(error.hint(format!(
                "Chart.yaml changed since: run `helm dependency update {shown}` and commit \
                 Chart.lock"
            )));
        }
        let sources = repositories.iter().map(|(_, url, access)| (url, access));
        let sources = sources.chain(registries.iter().map(|(url, access)| (url, access)));
        let about = sources.filter(|(url, _)| said.contains(host(url)));
        let advice = about.into_iter().find_map(|(url, access)| advice(&said, url, access));
        let error = match advice {
            Some(advice) => error.hint(advice),
            None => error,
        };
        return Err(match left_out {
            0 => error,
            n => error.hint(format!(
                "{n} links that lead out of the repository are not in the private copy that helm \
                 ran in"
            )),
        });
    }
    let used = describe(&path);
    Ok(Chart { path: PathBuf::from(&path), shown: shown.to_owned(), used, private: Some(private) })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn chart(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    const YAML: &str = "name: web\nversion: 1.0.0\ndependencies:\n\
        - {name: db, version: ^1, repository: 'https://charts.example.com'}\n\
        - {name: own, version: ^1}\n";
    const LOCK: &str = "dependencies:\n\
        - {name: db, version: 1.2.3, repository: 'https://charts.example.com'}\n\
        - {name: own, version: 1.0.0, repository: ''}\n";

    #[test]
    fn what_is_lacking() {
        let lacks = |files: &[(&str, &str)]| {
            let dir = chart(files);
            lacking(dir.path(), "chart").map(|locked| {
                locked.map(|all| all.into_iter().map(|d| d.version).collect::<Vec<_>>())
            })
        };
        let (yaml, lock) = (("Chart.yaml", YAML), ("Chart.lock", LOCK));
        assert_eq!(lacks(&[("Chart.yaml", "name: web\nversion: 1.0.0\n")]), Ok(None));
        assert_eq!(lacks(&[yaml, lock]), Ok(Some(vec!["1.2.3".to_owned()])));
        assert_eq!(lacks(&[yaml, lock, ("charts/db-1.2.3.tgz", "")]), Ok(None));
        // Another version than the locked one is not it.
        let stale = ("charts/db-1.2.2.tgz", "");
        assert_eq!(lacks(&[yaml, lock, stale]), Ok(Some(vec!["1.2.3".to_owned()])));
        assert_eq!(lacks(&[yaml, lock, ("charts/db/Chart.yaml", "")]), Ok(None));
        assert_eq!(lacks(&[yaml, stale]), Ok(None));
        let error = lacks(&[yaml, ("charts/db-extra-1.0.0.tgz", "")]).unwrap_err();
        assert!(error.message().contains("lacks its dependency `db`"), "{error}");
        assert!(error.hints()[0].starts_with("run `helm dependency update chart`"), "{error}");
    }
}
