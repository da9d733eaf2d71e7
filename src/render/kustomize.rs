//! `kustomize build` for a target.

use std::path::Path;

use super::find::{Found, Tool};
use super::job::{Arg, Job, not_allowed, refuse, with_path};
use super::options::runs_code;
use crate::config::{KustomizeRender, Target};
use crate::error::{Error, Result};

/// Flags that make kustomize run other programs.
const CODE: [&str; 4] = ["--enable-alpha-plugins", "--enable-exec", "--helm-command", "--network"];
/// Flags that change where the output goes.
const OUTPUT: [&str; 2] = ["--output", "-o"];

/// Whether the charts of a kustomization are inflated: then kustomize runs helm, and writes
/// `charts/` beside its input.
pub(super) fn runs_helm(render: &KustomizeRender) -> bool {
    let value = |arg: &String| arg.strip_prefix("--enable-helm").map(str::to_owned);
    render
        .args
        .iter()
        .filter_map(value)
        .next_back()
        .is_some_and(|value| matches!(value.as_str(), "" | "=true" | "=1" | "=t" | "=T" | "=TRUE"))
}

/// The requirement on helm for `--enable-helm`: kustomize before 5.8 asks with a flag that helm 4
/// no longer has.
pub(super) fn helm_for(kustomize: &Found) -> Option<&'static str> {
    let version = super::version::parse_word(&kustomize.version)?;
    ((version.major, version.minor) < (5, 8)).then_some(">=3, <4")
}

/// The job. `path` is the canonical folder; `helm` is the binary for `--enable-helm`.
pub(super) fn job(
    target: &Target,
    render: &KustomizeRender,
    path: &Path,
    found: Found,
    helm: Option<&Found>,
) -> Result<Job> {
    let tool = Tool::Kustomize.name();
    refuse(tool, &render.args, &OUTPUT, |flag| {
        Error::config(format!("`{flag}` cannot be set: the output goes to mcd"))
            .hint("`mcd render --out DIR` writes files")
    })?;
    if !target.allow_plugins {
        refuse(tool, &render.args, &CODE, not_allowed)?;
        if let Some(variable) = render.env.keys().find(|name| runs_code(name)) {
            return Err(not_allowed(&format!("env: {variable}")));
        }
    }
    let mut args = vec![Arg::text("build")];
    args.extend(render.args.iter().map(Arg::text));
    if let Some(helm) = helm {
        args.push(with_path("--helm-command=", helm.path.as_os_str()));
    }
    args.push(Arg::text("."));
    let shown = match path.strip_prefix(&target.root) {
        Ok(below) if below.as_os_str().is_empty() => ".".into(),
        Ok(below) => below.display().to_string(),
        Err(_) => path.display().to_string(),
    };
    Ok(Job {
        found,
        args,
        env: render.env.clone(),
        dir: path.to_owned(),
        copied: runs_helm(render).then(|| target.root.clone()),
        renamed: Vec::new(),
        plugins: target.allow_plugins,
        label: format!("kustomize build {shown}"),
    })
}
