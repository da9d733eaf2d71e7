//! The binaries of the bed: found where they are there in the right version, else built from pinned Go modules.
//!
//! The modules (`tools/*/go.mod` and `go.sum`) are part of this crate. Each is built in a copy in the cache, into a folder
//! named after its content and its flags: a change of one module rebuilds that one alone, and a checkout is never written to.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

use crate::cache::{self, Lock};
use crate::error::{Context, Error, Result};
use crate::progress::{say, with_heartbeat};

/// A Go module of `tools/`.
struct Module {
    name: &'static str,
    go_mod: &'static str,
    go_sum: &'static str,
}

macro_rules! module {
    ($id:ident, $folder:literal) => {
        static $id: Module = Module {
            name: $folder,
            go_mod: include_str!(concat!("../tools/", $folder, "/go.mod")),
            go_sum: include_str!(concat!("../tools/", $folder, "/go.sum")),
        };
    };
}

module!(KUBERNETES, "kubernetes");
module!(ETCD, "etcd");
module!(KWOK, "kwok");
module!(KUSTOMIZE_5_8, "kustomize-5.8.2");
module!(KUSTOMIZE_5_4, "kustomize-5.4.3");
module!(HELM_3, "helm-3");
module!(HELM_4, "helm-4");
module!(REGISTRY, "registry");

/// One binary: where it comes from and how its version is asked.
struct Binary {
    module: &'static Module,
    name: &'static str,
    version: &'static str,
    package: &'static str,
    /// What the linker sets, or the binary would not know its own version.
    set: &'static [&'static str],
    /// Arguments that make it print its version on the first line.
    ask: &'static [&'static str],
    /// In the folder of tools that `mcd` and people use.
    is_tool: bool,
}

const KUBERNETES_VERSION: &[&str] = &[
    "k8s.io/component-base/version.gitVersion=v1.36.3",
    "k8s.io/component-base/version.gitMajor=1",
    "k8s.io/component-base/version.gitMinor=36",
];

static BINARIES: [Binary; 11] = [
    kubernetes("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
    kubernetes("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    kubernetes("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"),
    Binary {
        ask: &["version", "--client"],
        is_tool: true,
        ..kubernetes("kubectl", "k8s.io/kubernetes/cmd/kubectl")
    },
    Binary {
        module: &ETCD,
        name: "etcd",
        version: "3.6.16",
        package: "go.etcd.io/etcd/server/v3",
        set: &[],
        ask: &["--version"],
        is_tool: false,
    },
    Binary {
        module: &KWOK,
        name: "kwok",
        version: "0.8.0",
        package: "sigs.k8s.io/kwok/cmd/kwok",
        set: &[],
        ask: &["--version"],
        is_tool: false,
    },
    kustomize(&KUSTOMIZE_5_8, "5.8.2", &["sigs.k8s.io/kustomize/api/provenance.version=v5.8.2"]),
    kustomize(&KUSTOMIZE_5_4, "5.4.3", &["sigs.k8s.io/kustomize/api/provenance.version=v5.4.3"]),
    helm(
        &HELM_3,
        "3.22.0",
        "helm.sh/helm/v3/cmd/helm",
        &["helm.sh/helm/v3/internal/version.version=v3.22.0"],
    ),
    helm(
        &HELM_4,
        "4.3.1",
        "helm.sh/helm/v4/cmd/helm",
        &["helm.sh/helm/v4/internal/version.version=v4.3.1"],
    ),
    // Knows no version of its own: only what was built here is used.
    Binary {
        module: &REGISTRY,
        name: "registry",
        version: "0.22.1",
        package: "github.com/google/go-containerregistry/cmd/registry",
        set: &[],
        ask: &["-version"],
        is_tool: false,
    },
];

const fn kubernetes(name: &'static str, package: &'static str) -> Binary {
    Binary {
        module: &KUBERNETES,
        name,
        version: "1.36.3",
        package,
        set: KUBERNETES_VERSION,
        ask: &["--version"],
        is_tool: false,
    }
}

const fn kustomize(
    module: &'static Module,
    version: &'static str,
    set: &'static [&'static str],
) -> Binary {
    Binary {
        module,
        name: "kustomize",
        version,
        package: "sigs.k8s.io/kustomize/kustomize/v5",
        set,
        ask: &["version"],
        is_tool: true,
    }
}

const fn helm(
    module: &'static Module,
    version: &'static str,
    package: &'static str,
    set: &'static [&'static str],
) -> Binary {
    Binary {
        module,
        name: "helm",
        version,
        package,
        set,
        ask: &["version", "--short"],
        is_tool: true,
    }
}

const FLAGS: &[&str] = &["-mod=readonly", "-trimpath"];

impl Binary {
    fn linker_flags(&self) -> String {
        let mut flags = String::from("-s -w");
        for set in self.set {
            flags.push_str(" -X ");
            flags.push_str(set);
        }
        flags
    }

    fn title(&self) -> String {
        format!("{} v{}", self.name, self.version)
    }
}

impl Module {
    fn key(&self) -> String {
        let binaries = BINARIES.iter().filter(|b| b.module.name == self.name);
        let flags: Vec<String> = binaries.map(Binary::linker_flags).collect();
        let parts = [self.go_mod, self.go_sum, "CGO_ENABLED=0"].into_iter();
        let key =
            cache::key(parts.chain(FLAGS.iter().copied()).chain(flags.iter().map(String::as_str)));
        format!("{}-{key}", self.name)
    }
}

/// Where every binary of the bed is.
#[derive(Clone, Debug)]
pub(crate) struct Binaries {
    servers: BTreeMap<&'static str, PathBuf>,
    tools: PathBuf,
}

impl Binaries {
    /// Finds all binaries, and builds those that are missing: minutes the first time.
    pub(crate) fn ensure() -> Result<Binaries> {
        let cache = cache::folder()?;
        let mut paths: Vec<Option<PathBuf>> = BINARIES.iter().map(|b| find(&cache, b)).collect();
        if paths.iter().any(Option::is_none) {
            let _lock = Lock::take(&cache.join("build.lock"), "builds the test bed's binaries")?;
            let missing = paths.iter().filter(|p| p.is_none()).count();
            let mut nth = 0;
            for (binary, path) in BINARIES.iter().zip(&mut paths) {
                if path.is_none() {
                    nth += 1;
                    // Another process may have built it while this one waited for the lock.
                    let built = built_path(&cache, binary);
                    if !built.exists() {
                        build(&cache, binary, &built, (nth, missing))?;
                    }
                    *path = Some(built);
                }
            }
        }
        let found: Vec<(&Binary, PathBuf)> =
            BINARIES.iter().zip(paths).filter_map(|(b, p)| Some((b, p?))).collect();
        let tools = tools_folder(&cache, &found)?;
        let servers = found.into_iter().filter(|(b, _)| !b.is_tool || b.name == "kubectl");
        Ok(Binaries { servers: servers.map(|(b, p)| (b.name, p)).collect(), tools })
    }

    /// The path of `kube-apiserver`, `etcd`, `kubectl` and so on.
    pub(crate) fn path(&self, name: &str) -> Result<&Path> {
        let path = self.servers.get(name).map(PathBuf::as_path);
        path.ok_or_else(|| Error::new(format!("the bed has no binary `{name}`")))
    }

    /// The folder with `<tool>/<version>/<tool>`, as `MCD_TOOLS` wants it, and `bin/kubectl`.
    pub(crate) fn tools(&self) -> &Path {
        &self.tools
    }
}

fn built_path(cache: &Path, binary: &Binary) -> PathBuf {
    cache.join("bin").join(binary.module.key()).join(binary.name)
}

/// A binary that is there already: built earlier, in `$KUBEBUILDER_ASSETS`, or on PATH; the latter two in exactly the version
/// wanted.
fn find(cache: &Path, binary: &Binary) -> Option<PathBuf> {
    let built = built_path(cache, binary);
    if built.exists() {
        return Some(built);
    }
    let assets = std::env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from);
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let folders = assets.into_iter().chain(std::env::split_paths(&on_path));
    let mut candidates = folders.map(|f| f.join(binary.name)).filter(|p| p.is_file());
    candidates.find(|candidate| has_version(candidate, binary))
}

fn has_version(candidate: &Path, binary: &Binary) -> bool {
    let output = Command::new(candidate).args(binary.ask).stdin(Stdio::null()).output();
    output.is_ok_and(|o| names_version(&String::from_utf8_lossy(&o.stdout), binary.version))
}

/// True if the first line has the version as a word, with or without `v` and build metadata.
fn names_version(output: &str, version: &str) -> bool {
    let first = output.lines().next().unwrap_or_default();
    first.split_whitespace().any(|word| {
        let word = word.strip_prefix('v').unwrap_or(word);
        word.split_once('+').map_or(word, |(plain, _)| plain) == version
    })
}

fn build(cache: &Path, binary: &Binary, target: &Path, (nth, of): (usize, usize)) -> Result<()> {
    let title = binary.title();
    say(&format!("building {title} ({nth} of {of}; minutes the first time)…"));
    let start = Instant::now();
    let source = cache.join("src").join(binary.module.key());
    cache::write_atomically(&source.join("go.mod"), binary.module.go_mod.as_bytes())?;
    cache::write_atomically(&source.join("go.sum"), binary.module.go_sum.as_bytes())?;
    let folder = target.parent().unwrap_or(cache);
    fs::create_dir_all(folder).at(folder)?;
    // Beside its final place, so that the rename is atomic.
    let scratch = tempfile::Builder::new().prefix(".build-").tempdir_in(folder).at(folder)?;
    let fresh = scratch.path().join(binary.name);

    let mut command = Command::new("go");
    command
        .arg("build")
        .args(FLAGS)
        .args(["-ldflags", &binary.linker_flags(), "-o"])
        .arg(&fresh)
        .arg(binary.package)
        .current_dir(&source)
        .envs([("CGO_ENABLED", "0"), ("GOWORK", "off"), ("GO111MODULE", "on")])
        // What would build for another machine.
        .env_remove("GOOS")
        .env_remove("GOARCH")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let (success, output) = with_heartbeat(&format!("building {title}"), || run_go(&mut command))?;
    if !success || !fresh.exists() {
        return Err(Error::new(format!(
            "building {title} failed. The last lines of `go build {}` in {}:\n{}\n\
             The first build needs Go 1.26 and access to Go modules (`go env GOPROXY`), and about 6 GB on disk. \
             Binaries of just this version in $KUBEBUILDER_ASSETS or on PATH are used instead.",
            binary.package,
            source.display(),
            indent(&output),
        )));
    }
    fs::rename(&fresh, target).at(target)?;
    say(&format!("built {title} in {} s", start.elapsed().as_secs()));
    Ok(())
}

/// Runs Go; its success and the last lines of its stderr. Downloads are shown while they happen, the first of them and then
/// a few, as they can take long.
fn run_go(command: &mut Command) -> Result<(bool, Vec<String>)> {
    const KEPT: usize = 25;
    let mut child = command.spawn().map_err(|e| {
        Error::new(if e.kind() == std::io::ErrorKind::NotFound {
            "`go` is not on PATH. The test bed builds its control planes from Go modules: install Go 1.26 or later, \
             or put the binaries that testbed/README.md lists into $KUBEBUILDER_ASSETS"
                .to_owned()
        } else {
            format!("`go` cannot be run: {e}")
        })
    })?;
    let last = Mutex::new(Vec::new());
    let mut downloads = 0_usize;
    if let Some(stderr) = child.stderr.take() {
        for line in BufReader::new(stderr).lines() {
            let line = line.doing(|| "output of go".into())?;
            if line.starts_with("go: downloading ") {
                downloads += 1;
                if downloads % 50 == 1 {
                    say(&format!("{line} …"));
                }
                continue;
            }
            if let Ok(mut last) = last.lock() {
                last.push(line);
                if last.len() > KEPT {
                    last.remove(0);
                }
            }
        }
    }
    let status = child.wait().doing(|| "go".into())?;
    Ok((status.success(), last.into_inner().unwrap_or_default()))
}

fn indent(lines: &[String]) -> String {
    lines.iter().map(|l| format!("    {l}")).collect::<Vec<_>>().join("\n")
}

/// The folder of links to the tools. Its name depends on what it holds, and it is never changed once it is there.
fn tools_folder(cache: &Path, found: &[(&Binary, PathBuf)]) -> Result<PathBuf> {
    let tools: Vec<&(&Binary, PathBuf)> = found.iter().filter(|(b, _)| b.is_tool).collect();
    let described: Vec<String> =
        tools.iter().map(|(b, p)| format!("{} {}", b.title(), p.display())).collect();
    let parent = cache.join("tools");
    let folder = parent.join(cache::key(described.iter().map(String::as_str)));
    if folder.exists() {
        return Ok(folder);
    }
    fs::create_dir_all(&parent).at(&parent)?;
    let fresh = tempfile::Builder::new().prefix(".new-").tempdir_in(&parent).at(&parent)?;
    for (binary, path) in tools {
        let place = fresh.path().join(binary.name).join(binary.version);
        fs::create_dir_all(&place).at(&place)?;
        std::os::unix::fs::symlink(path, place.join(binary.name)).at(&place)?;
        if binary.name == "kubectl" {
            let bin = fresh.path().join("bin");
            fs::create_dir_all(&bin).at(&bin)?;
            std::os::unix::fs::symlink(path, bin.join("kubectl")).at(&bin)?;
        }
    }
    let fresh = fresh.keep();
    if let Err(e) = fs::rename(&fresh, &folder) {
        fs::remove_dir_all(&fresh).ok();
        // Another process was faster; what it made is the same.
        if !folder.exists() {
            return Err(e).at(&folder);
        }
    }
    // Temporary folders are private to their owner; so is this one, and that is fine.
    Ok(folder)
}

/// PATH with the folder of `kubectl` first, for processes that the bed runs.
pub(crate) fn path_with(tools: &Path) -> OsString {
    let old = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(tools.join("bin")).chain(std::env::split_paths(&old));
    std::env::join_paths(all).unwrap_or(old)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_taken_only_when_they_are_exactly_the_wanted_one() {
        assert!(names_version("Kubernetes v1.36.3\n", "1.36.3"));
        assert!(names_version("Client Version: v1.36.3\nKustomize Version: v5.8.1\n", "1.36.3"));
        assert!(names_version("etcd Version: 3.6.16\nGit SHA: x", "3.6.16"));
        assert!(names_version("kwok version v0.8.0 go1.26.8 (linux/amd64)", "0.8.0"));
        assert!(names_version("v3.22.0+gabcdef", "3.22.0"));
        assert!(!names_version("Kubernetes v1.36.30", "1.36.3"));
        assert!(!names_version("v1.36.3-rc.1", "1.36.3"));
        assert!(!names_version("Client Version: v1.35.0\nKustomize Version: v1.36.3", "1.36.3"));
        assert!(!names_version("(devel)", "5.4.3"));
        assert!(!names_version("", "5.4.3"));
    }

    #[test]
    fn each_module_has_a_key_of_its_own_that_follows_its_content() {
        let keys: std::collections::BTreeSet<String> =
            BINARIES.iter().map(|b| b.module.key()).collect();
        let names: std::collections::BTreeSet<&str> =
            BINARIES.iter().map(|b| b.module.name).collect();
        assert_eq!(keys.len(), names.len());
        let changed = Module { go_sum: "other", ..ETCD_COPY };
        assert_ne!(changed.key(), ETCD.key());
        assert_eq!(ETCD_COPY.key(), ETCD.key());
    }

    const ETCD_COPY: Module = Module {
        name: "etcd",
        go_mod: include_str!("../tools/etcd/go.mod"),
        go_sum: include_str!("../tools/etcd/go.sum"),
    };

    #[test]
    fn modules_pin_the_versions_that_binaries_are_asked_for() {
        for binary in &BINARIES {
            let wanted = format!("v{}", binary.version);
            assert!(
                binary.module.go_mod.split_whitespace().any(|word| word == wanted),
                "tools/{}/go.mod does not have {wanted}",
                binary.module.name
            );
            assert!(binary.module.go_sum.contains(&wanted));
        }
    }

    #[test]
    fn a_failing_build_shows_the_end_of_its_output() {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", "for i in $(seq 40); do echo line $i >&2; done; exit 1"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let (success, lines) = run_go(&mut shell).unwrap();
        assert!(!success);
        assert_eq!((lines.len(), lines[24].as_str()), (25, "line 40"));
        let error = run_go(&mut Command::new("/nonexistent/go")).unwrap_err().to_string();
        assert!(error.contains("not on PATH") && error.contains("install Go"), "{error}");
    }
}
