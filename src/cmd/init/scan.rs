//! Looks for what can be rendered: kustomizations, charts, manifests.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::manifest::{self, yaml};

/// How deep it looks, at how many folders, and at how large files (bytes).
const DEPTH: usize = 4;
const FOLDERS: usize = 5000;
const LARGEST: u64 = 4 << 20;

/// What an application may render. Paths are relative to the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A folder with a kustomization.
    Kustomize {
        path: String,
        /// The folders beside it that hold kustomizations, itself included, by name; none when it
        /// is no overlay.
        overlays: Vec<String>,
    },
    /// A chart's folder.
    Helm {
        path: String,
        /// What stands between `values-` and `.yaml` in the files beside its values.
        values: Vec<String>,
    },
    /// Files, or folders.
    Manifests(Vec<String>),
}

impl Source {
    /// What `mcd init PATH` calls it.
    pub(super) fn path(&self) -> &str {
        match self {
            Source::Kustomize { path, .. } | Source::Helm { path, .. } => path,
            Source::Manifests(paths) => paths.first().map_or(".", String::as_str),
        }
    }

    /// The folder that an overlay is in.
    pub(super) fn above(path: &str) -> &str {
        path.rsplit_once('/').map_or("", |(above, _)| above)
    }

    /// Shallow ones first; of one depth kustomizations, then charts, then manifests.
    fn rank(&self) -> (usize, u8, bool) {
        let depth = |path: &str| if path == "." { 0 } else { path.split('/').count() };
        match self {
            Source::Kustomize { path, overlays } if overlays.is_empty() => {
                (depth(path), 0, path.ends_with("base"))
            }
            // An overlay stands for the folder that holds `overlays` and `base`.
            Source::Kustomize { path, .. } => (depth(path).saturating_sub(1), 0, false),
            Source::Helm { path, .. } => (depth(path), 1, false),
            Source::Manifests(paths) => (paths.first().map_or(0, |path| depth(path)), 2, false),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Kustomize { path, .. } => write!(f, "the kustomization `{path}`"),
            Source::Helm { path, .. } => write!(f, "the chart `{path}`"),
            Source::Manifests(paths) => write!(f, "the manifests `{}`", paths.join("`, `")),
        }
    }
}

/// What was found: the one to take, and others of another kind.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) source: Source,
    pub(super) others: Vec<Source>,
}

/// Looks into a folder and below, or at `path` alone.
///
/// # Errors
/// Exit 3: there is nothing to render.
pub(super) fn scan(folder: &Path, path: Option<&Path>) -> Result<Found> {
    let mut look = Look { folder, found: Vec::new(), manifests: Vec::new(), folders: 0 };
    if let Some(path) = path {
        let full = folder.join(path);
        if full.is_file() {
            let source = Source::Manifests(vec![shown(path)]);
            return Ok(Found { source, others: Vec::new() });
        }
        look.at(&full);
    } else {
        look.below(folder, 0);
    }
    let mut sources = look.found;
    sources.extend(manifests_of(look.manifests));
    sources.sort_by_key(Source::rank);
    let mut sources = sources.into_iter();
    let Some(source) = sources.next() else {
        let what = match path {
            Some(path) => format!("`{}` holds nothing to render", path.display()),
            None => "nothing to render was found in this folder".to_owned(),
        };
        return Err(Error::config(what)
            .because("there is no kustomization, no chart and no manifest")
            .hint("put manifests into `k8s/`, or name what to render: `mcd init PATH`"));
    };
    let kind = std::mem::discriminant(&source);
    let mut others: Vec<Source> = Vec::new();
    for other in sources {
        let is_new =
            others.iter().all(|o| std::mem::discriminant(o) != std::mem::discriminant(&other));
        if std::mem::discriminant(&other) != kind && is_new {
            others.push(other);
        }
    }
    Ok(Found { source, others })
}

struct Look<'a> {
    folder: &'a Path,
    found: Vec<Source>,
    /// Folders or files with manifests, by the folder they are in.
    manifests: Vec<(String, Vec<String>)>,
    folders: usize,
}

impl Look<'_> {
    fn below(&mut self, folder: &Path, depth: usize) {
        self.folders += 1;
        // What is below a chart, or beside a kustomization, is part of it.
        if self.at(folder) || depth >= DEPTH || self.folders > FOLDERS {
            return;
        }
        for below in folders(folder) {
            let name = below.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let skipped = ["node_modules", "vendor", "target", "dist", "testdata"];
            if !name.starts_with('.') && !skipped.contains(&name.as_str()) {
                self.below(&below, depth + 1);
            }
        }
    }

    /// Looks at one folder; whether it is one thing with all that is below.
    fn at(&mut self, folder: &Path) -> bool {
        let relative = self.relative(folder);
        if let Some(kind) = kustomization(folder) {
            // A component is part of another kustomization.
            if kind == "Kustomization" {
                let overlays = overlays(folder);
                self.found.push(Source::Kustomize { path: relative, overlays });
            }
            return false;
        }
        if let Some(chart) = read(&folder.join("Chart.yaml")) {
            let is_library = chart["type"] == "library";
            if chart["name"].is_string() && !is_library {
                let values = values(folder);
                self.found.push(Source::Helm { path: relative, values });
            }
            return true;
        }
        let (mut manifests, mut others) = (Vec::new(), false);
        for file in files(folder) {
            let is_one = is_manifest(&file);
            others |= !is_one;
            if is_one {
                manifests.push(self.relative(&file));
            }
        }
        if !manifests.is_empty() {
            // The files of mcd come into this folder itself: it is never taken as a whole.
            let whole = !others && relative != ".";
            let paths = if whole { vec![relative.clone()] } else { manifests };
            self.manifests.push((relative, paths));
        }
        false
    }

    fn relative(&self, path: &Path) -> String {
        match path.strip_prefix(self.folder) {
            Ok(below) => shown(below),
            Err(_) => shown(path),
        }
    }
}

/// A path as files write it.
fn shown(path: &Path) -> String {
    match path.display().to_string() {
        path if path.is_empty() => ".".to_owned(),
        path => path.trim_start_matches("./").trim_end_matches('/').to_owned(),
    }
}

/// The shallowest folder with manifests, those of the usual names first, and what is below it.
fn manifests_of(mut found: Vec<(String, Vec<String>)>) -> Option<Source> {
    const USUAL: [&str; 6] = ["k8s", "kubernetes", "manifests", "deploy", "deployment", "config"];
    let usual =
        |folder: &str| USUAL.iter().position(|usual| *usual == folder).unwrap_or(USUAL.len());
    found.sort_by_key(|(folder, _)| (usual(folder), folder.matches('/').count(), folder.clone()));
    let (first, _) = found.first()?.clone();
    let below = |folder: &str| {
        first != "."
            && folder
                .strip_prefix(&first)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let paths = found
        .into_iter()
        .filter(|(folder, _)| *folder == first || below(folder))
        .flat_map(|(_, paths)| paths);
    Some(Source::Manifests(paths.collect()))
}

/// The kind of a folder's kustomization.
fn kustomization(folder: &Path) -> Option<String> {
    let names = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
    let path = names.iter().map(|name| folder.join(name)).find(|path| path.is_file())?;
    let kind = read(&path).and_then(|value| value["kind"].as_str().map(str::to_owned));
    Some(kind.unwrap_or_else(|| "Kustomization".to_owned()))
}

/// The overlays beside this one, by name.
fn overlays(folder: &Path) -> Vec<String> {
    const HOLDERS: [&str; 6] = ["overlays", "environments", "envs", "env", "clusters", "overlay"];
    let Some(above) = folder.parent() else { return Vec::new() };
    let name = above.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if !HOLDERS.contains(&name.as_str()) {
        return Vec::new();
    }
    let is_one = |path: &PathBuf| kustomization(path).is_some_and(|kind| kind == "Kustomization");
    let names = folders(above).into_iter().filter(is_one);
    names.filter_map(|path| path.file_name()?.to_str().map(str::to_owned)).collect()
}

/// `prod` for each `values-prod.yaml` of a chart.
fn values(chart: &Path) -> Vec<String> {
    let name = |path: PathBuf| {
        let file = path.file_name()?.to_str()?.to_owned();
        let rest = file.strip_prefix("values-")?;
        rest.strip_suffix(".yaml").map(str::to_owned)
    };
    files(chart).into_iter().filter_map(name).collect()
}

/// Whether a file is a manifest of Kubernetes, and none of mcd.
fn is_manifest(path: &Path) -> bool {
    let Some(text) = content(path) else { return false };
    let is_ours = |document: &yaml::Document| {
        let version = document.value["apiVersion"].as_str().unwrap_or_default();
        // A file of another tool that looks like one: not for a cluster.
        let local = ["mcd.dev/", "kustomize.config.k8s.io/", "kind.x-k8s.io/", "skaffold/"];
        local.iter().any(|prefix| version.starts_with(prefix))
    };
    let documents = yaml::load(&text, "").unwrap_or_default();
    !documents.iter().any(is_ours) && manifest::objects(&text, "").is_ok_and(|all| !all.is_empty())
}

/// The first document of a file.
fn read(path: &Path) -> Option<serde_json::Value> {
    let documents = yaml::load(&content(path)?, "").ok()?;
    documents.into_iter().next().map(|document| document.value)
}

fn content(path: &Path) -> Option<String> {
    let metadata = path.metadata().ok().filter(|m| m.is_file() && m.len() <= LARGEST);
    metadata.and_then(|_| fs::read_to_string(path).ok())
}

/// The folders in a folder, by name; links are not followed.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let real = entries.filter(|e| e.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut found: Vec<PathBuf> = real.map(|e| e.path()).collect();
    found.sort();
    found
}

/// The *.yaml, *.yml and *.json files in a folder, by name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| {
            let known = ["yaml", "yml", "json"];
            let is_one = path.extension().is_some_and(|e| known.iter().any(|k| e == *k));
            let name = path.file_name().unwrap_or_default();
            is_one && path.is_file() && !name.as_encoded_bytes().starts_with(b".")
        })
        .collect();
    found.sort();
    found
}
