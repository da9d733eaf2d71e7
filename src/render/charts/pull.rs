//! Pulls a chart with helm, and checks it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::access::Access;
use super::advice::{advice, is_missing};
use super::cache::{Cache, sha256};
use super::run::{Helm, folder, index};
use super::{Chart, Surroundings, describe};
use crate::config::RemoteChart;
use crate::error::{Error, Result};
use crate::manifest::yaml;
use crate::render::find::Found;
use crate::render::private::Private;
use crate::suggest;

/// The name of the one repository in a private configuration.
const NAME: &str = "mcd";
/// How many versions or charts a hint names.
const NAMED: usize = 10;

/// The chart, checked against its pin.
///
/// # Errors
/// See [`super::Charts::remote`].
pub(super) async fn pull(
    remote: &RemoteChart,
    found: &Found,
    around: &Surroundings<'_>,
) -> Result<Chart> {
    let shown = format!("{} {}", remote.reference(), remote.version);
    let private = Private::new(&around.options.temp_dir, &shown)?;
    let cache = Cache::of(&around.options.env);
    let kept = private.path().join("chart.tgz");
    let (path, digest) = match &remote.digest {
        Some(pin) if cache.find(pin, remote.is_oci(), &kept) => (kept, Some(pin.clone())),
        pin => {
            let access = Access::to(
                &remote.reference(),
                around.repositories,
                &around.options.env,
                around.scrubber,
            )?;
            let (path, digest) = match remote.is_oci() {
                true => from_registry(remote, &access, found, around, &private).await?,
                false => from_repository(remote, &access, found, around, &private).await?,
            };
            if let Some(pin) = pin {
                check(remote, pin, digest.as_deref())?;
                cache.keep(pin, &path);
            }
            (path, digest)
        }
    };
    let mut used = describe(&path).ok_or_else(|| {
        Error::manifest(format!("`{shown}` is no chart: its Chart.yaml cannot be read"))
    })?;
    (used.repository, used.digest) = (Some(remote.repository.clone()), digest);
    Ok(Chart { path, shown, used: Some(used), private: Some(private) })
}

fn check(remote: &RemoteChart, pin: &str, digest: Option<&str>) -> Result<()> {
    if digest == Some(pin) {
        return Ok(());
    }
    let what =
        format!("`{}` {} is not the chart that is pinned", remote.reference(), remote.version);
    Err(Error::manifest(what)
        .because(format!("its digest is `{}`, and not `{pin}`", digest.unwrap_or("unknown")))
        .hint(
            "someone published another chart under this version, or the pin is of another one: \
             see what changed before `render.helm.digest` is",
        ))
}

async fn from_registry(
    remote: &RemoteChart,
    access: &Access,
    found: &Found,
    around: &Surroundings<'_>,
    private: &Private,
) -> Result<(PathBuf, Option<String>)> {
    let reference = remote.reference();
    let registries = [(reference.clone(), access.clone())];
    let helm = Helm::new(found, around, private, &[], &registries)?;
    let flags = |version: &str| -> Vec<OsString> {
        std::iter::once(format!("--version={version}").into()).chain(helm.flags()).collect()
    };
    let label = format!("helm pull {reference} --version {}", remote.version);
    let out = private.path().join("out");
    let mut args: Vec<OsString> = vec!["pull".into(), (&reference).into()];
    args.extend(flags(&remote.version));
    args.extend(["--destination".into(), folder(&out)?.into()]);
    let output = helm.run(args, private.path(), &label).await?;
    let said = helm.said(&output);
    if !output.status.success() {
        let error = helm.failed(&output, &label);
        if let Some(advice) = advice(&said, &reference, access) {
            return Err(error.hint(advice));
        }
        if !is_missing(&said) {
            return Err(error);
        }
        // Helm lists no tags; but it finds the newest one.
        let mut args: Vec<OsString> = vec!["show".into(), "chart".into(), (&reference).into()];
        args.extend(flags(">=0.0.0-0"));
        let newest = helm
            .run(args, private.path(), &label)
            .await
            .ok()
            .filter(|output| output.status.success());
        let newest = newest.and_then(|output| {
            let documents = yaml::load(&String::from_utf8_lossy(&output.stdout), "").ok()?;
            documents.first()?.value["version"].as_str().map(str::to_owned)
        });
        return Err(match newest {
            Some(newest) => Error::manifest(format!(
                "the registry has no version `{}` of `{reference}`",
                remote.version
            ))
            .hint(format!("the newest that it has is `{newest}`")),
            None => Error::manifest(format!("the registry has no chart `{reference}`"))
                .because(said)
                .hint("check its name, and whether the login may read it"),
        });
    }
    let digest = said
        .lines()
        .find_map(|line| line.strip_prefix("Digest: "))
        .map(|digest| digest.trim().to_owned());
    Ok((archive(&out, &label)?, digest))
}

async fn from_repository(
    remote: &RemoteChart,
    access: &Access,
    found: &Found,
    around: &Surroundings<'_>,
    private: &Private,
) -> Result<(PathBuf, Option<String>)> {
    let url = &remote.repository;
    let repositories = [(NAME.to_owned(), url.clone(), access.clone())];
    let helm = Helm::new(found, around, private, &repositories, &[])?;

    let label = format!("helm repo update {url}");
    let args = vec!["repo".into(), "update".into()];
    let output = helm.run(args, private.path(), &label).await?;
    let index = index(private).join(format!("{NAME}-index.yaml"));
    // Helm 3 ends well even when it got nothing.
    if !index.is_file() {
        let said = helm.said(&output);
        let error = Error::manifest(format!("the chart repository `{url}` cannot be read"));
        return Err(match advice(&said, url, access) {
            Some(advice) => error.because(said).hint(advice),
            None => error.because(said),
        });
    }
    let known = Index::read(&index);
    let label = format!("helm pull {} --repo {url} --version {}", remote.name, remote.version);
    let out = private.path().join("out");
    let args = vec![
        "pull".into(),
        format!("{NAME}/{}", remote.name).into(),
        format!("--version={}", remote.version).into(),
        "--destination".into(),
        folder(&out)?.into(),
    ];
    let output = helm.run(args, private.path(), &label).await?;
    if !output.status.success() {
        let said = helm.said(&output);
        if is_missing(&said)
            && let Some(error) = known.missing(remote)
        {
            return Err(error);
        }
        let error = helm.failed(&output, &label);
        return Err(match advice(&said, url, access) {
            Some(advice) => error.hint(advice),
            None => error,
        });
    }
    let path = archive(&out, &label)?;
    let digest = sha256(&path).map_err(|e| {
        Error::manifest(format!("`{label}` left nothing that can be read")).because(e.to_string())
    })?;
    let listed = describe(&path).and_then(|chart| known.digest(&remote.name, &chart.version));
    if let Some(listed) = listed.filter(|listed| !digest.ends_with(listed)) {
        let what = format!("the archive of `{}` is not the one that its index lists", remote.name);
        return Err(Error::manifest(what)
            .because(format!("its digest is `{digest}`; the index of `{url}` says `{listed}`"))
            .hint("try again; if it stays so, the repository is broken or was tampered with"));
    }
    Ok((path, Some(digest)))
}

/// A repository's index, as far as it can be read.
struct Index(Value);

impl Index {
    fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let documents = yaml::load(&text, "index.yaml").unwrap_or_default();
        Index(documents.into_iter().next().map(|d| d.value).unwrap_or_default())
    }

    fn versions(&self, chart: &str) -> impl Iterator<Item = &Value> {
        self.0["entries"][chart].as_array().into_iter().flatten()
    }

    /// The digest that it lists for an archive, in hex.
    fn digest(&self, chart: &str, version: &str) -> Option<String> {
        let entry = self.versions(chart).find(|entry| entry["version"] == version)?;
        let digest = entry["digest"].as_str()?.to_lowercase();
        Some(digest.rsplit(':').next().unwrap_or_default().to_owned()).filter(|d| !d.is_empty())
    }

    /// That it has no such version, or no such chart.
    fn missing(&self, remote: &RemoteChart) -> Option<Error> {
        let charts = self.0["entries"].as_object()?;
        let (url, name) = (&remote.repository, &remote.name);
        let versions: Vec<&str> =
            self.versions(name).filter_map(|entry| entry["version"].as_str()).collect();
        if versions.is_empty() {
            let error = Error::manifest(format!("the repository `{url}` has no chart `{name}`"));
            let names = || charts.keys().map(String::as_str);
            return Some(match suggest::hint(name, names()) {
                Some(hint) => error.hint(hint),
                None => error.hint(format!("it has {}", listed(&names().collect::<Vec<_>>()))),
            });
        }
        let what = format!(
            "the repository `{url}` has no version `{}` of the chart `{name}`",
            remote.version
        );
        Some(Error::manifest(what).hint(format!("it has {}", listed(&versions))))
    }
}

/// The first of them, and how many more there are.
fn listed(names: &[&str]) -> String {
    let mut shown: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    if names.len() > NAMED {
        shown.push(format!("and {} more", names.len() - NAMED));
    }
    if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
}

/// The one archive in the folder that helm pulled into.
fn archive(out: &Path, label: &str) -> Result<PathBuf> {
    let entries = std::fs::read_dir(out).into_iter().flatten().flatten();
    let mut archives = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_file() && path.extension().is_some_and(|e| e == "tgz" || e == "gz"));
    archives.next().ok_or_else(|| Error::manifest(format!("`{label}` pulled no chart")))
}
