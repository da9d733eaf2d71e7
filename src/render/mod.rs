//! Tools as subprocesses → objects (design §4).

mod charts;
mod copy;
mod find;
mod helm;
mod job;
mod kustomize;
mod learn;
mod once;
mod options;
mod paths;
mod plain;
mod private;
pub(crate) mod tool;
mod version;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use self::charts::{Chart, Charts, Surroundings};
use self::find::{Finder, Found, Tool};
use self::job::{Job, Printed};
use self::once::Once;
use self::tool::Runner;
use crate::config::{ChartSource, HelmRender, KustomizeRender, Render, Target, ValuesSource};
use crate::error::{Error, Result};
use crate::manifest::{self, Object, Scrubber, yaml};

pub use charts::ChartUsed;
pub use helm::Hook;
pub use options::RenderOptions;

/// How many of a tool's warnings are passed on.
const WARNINGS: usize = 20;

/// What helm is told of a cluster, by discovery.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Capabilities {
    /// The server's version: `v1.36.3`.
    pub kube_version: String,
    /// Group versions, and kinds as `apps/v1/Deployment`.
    pub api_versions: Vec<String>,
}

/// Which tool rendered a target, for the plan and the release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolUsed {
    /// `kustomize` or `helm`.
    pub name: &'static str,
    /// Its version, without `v`.
    pub version: String,
    /// The binary.
    pub path: PathBuf,
}

/// A target's manifests.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// The objects, in the order of the files or the tool's output, with images, replicas and
    /// patches applied. Namespaces that are not written are not settled yet.
    pub objects: Vec<Object>,
    /// The chart's hooks; those that are applied are among the objects, too.
    pub hooks: Vec<Hook>,
    /// What rendered them; none for plain manifests.
    pub tool: Option<ToolUsed>,
    /// The chart; none when helm did not render it, or when its Chart.yaml cannot be read.
    pub chart: Option<ChartUsed>,
    /// What the tool said, and what is probably not meant. Scrubbed.
    pub warnings: Vec<String>,
    /// How long the target waited for it; identical renders are shared.
    pub took: Duration,
}

impl Rendered {
    /// The hooks that are not applied.
    pub fn dropped_hooks(&self) -> Vec<Hook> {
        self.hooks.iter().filter(|hook| !hook.applied).cloned().collect()
    }
}

/// What a tool said, without its own mark of a warning (kustomize: `# Warning: …`).
fn bare(line: &str) -> &str {
    let text = line.trim_start_matches(['#', ' ']);
    text.strip_prefix("Warning: ").or_else(|| text.strip_prefix("WARNING: ")).unwrap_or(text)
}

/// Whether rendering the target uses a cluster's version and APIs where they can be had.
pub fn needs_capabilities(target: &Target) -> bool {
    match &target.render {
        Render::Helm(helm) => helm.kube_version.is_none() || helm.api_versions.is_none(),
        Render::Kustomize(_) | Render::Manifests(_) => false,
    }
}

/// Renders targets. One serves a whole run: it asks each tool for its version once, and runs
/// identical invocations once.
#[derive(Debug)]
pub struct Renderer {
    options: RenderOptions,
    scrubber: Scrubber,
    runner: Runner,
    finder: Finder,
    charts: Arc<Charts>,
    shared: Once<Key, Output>,
}

/// What is the same for all targets that ask for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Files(PathBuf, Vec<PathBuf>),
    Job(Job),
}

/// What was read or printed, before anything of a target is done to it.
#[derive(Debug)]
struct Output {
    objects: Vec<Object>,
    warnings: Vec<String>,
}

impl Renderer {
    /// The scrubber learns the values of all Secrets that are rendered; the token ends all tools.
    pub fn new(options: RenderOptions, scrubber: Scrubber, cancel: CancellationToken) -> Self {
        let runner = Runner::new(options.timeout, options.max_bytes, cancel);
        let (finder, charts, shared) = (Finder::default(), Arc::default(), Once::default());
        Renderer { options, scrubber, runner, finder, charts, shared }
    }

    /// Another renderer that has rendered nothing yet. What was pulled stays: a range of versions
    /// comes to the same version.
    pub fn again(&self) -> Self {
        let runner =
            Runner::new(self.options.timeout, self.options.max_bytes, self.runner.cancel().clone());
        Renderer {
            options: self.options.clone(),
            scrubber: self.scrubber.clone(),
            runner,
            finder: Finder::default(),
            charts: Arc::clone(&self.charts),
            shared: Once::default(),
        }
    }

    /// The target's manifests. `capabilities` are those of its cluster; without them helm gets
    /// what the fleet says, and never contacts a cluster itself: `lookup` sees nothing.
    ///
    /// Errors name the target, and are scrubbed: 4 when a tool fails or is not there, or its
    /// output is no manifests, 3 for settings that are not allowed, 130 when cancelled.
    pub async fn render(
        &self,
        target: &Target,
        capabilities: Option<&Capabilities>,
    ) -> Result<Rendered> {
        let begin = Instant::now();
        let rendered = match &target.render {
            Render::Manifests(paths) => self.plain(target, paths).await,
            Render::Kustomize(render) => self.kustomize(target, render).await,
            Render::Helm(render) => self.helm(target, render, capabilities).await,
        };
        let settle = |mut rendered: Rendered| {
            let (objects, warnings) = manifest::apply_edits(rendered.objects, target)?;
            rendered.objects = objects;
            rendered.warnings.extend(warnings);
            // Patches may have made Secrets, or changed them.
            rendered.objects.iter().for_each(|object| self.scrubber.learn(&object.value));
            manifest::check_unique(&rendered.objects)?;
            if rendered.objects.is_empty() {
                rendered.warnings.push("rendering gave no objects".to_owned());
            }
            rendered.took = begin.elapsed();
            Ok(rendered)
        };
        rendered
            .and_then(settle)
            .map_err(|error| self.scrubber.scrub_error(error).in_target(&target.name))
    }

    async fn plain(&self, target: &Target, listed: &[PathBuf]) -> Result<Rendered> {
        let key = Key::Files(target.root.clone(), listed.to_vec());
        let output = self.shared.get(key, async || {
            let (root, listed, options) =
                (target.root.clone(), listed.to_vec(), self.options.clone());
            let scrubber = self.scrubber.clone();
            blocking(move || {
                let mut objects = Vec::new();
                for source in plain::read(&root, &listed, &options)? {
                    objects.extend(decode(&source.text, &source.name, &scrubber)?);
                }
                Ok(Output { objects, warnings: Vec::new() })
            })
            .await
        });
        Ok(rendered(&*output.await?, None))
    }

    async fn kustomize(&self, target: &Target, render: &KustomizeRender) -> Result<Rendered> {
        let path = self.inside(target, &render.path, "the kustomization")?;
        if !path.is_dir() {
            let shown = self.options.shown(&render.path);
            return Err(Error::manifest(format!("`{shown}` is not a folder"))
                .hint("`render.kustomize.path` is the folder that holds kustomization.yaml"));
        }
        let found = self.find(target, Tool::Kustomize, render.version.as_deref()).await?;
        let names_helm = render.args.iter().any(|arg| arg.starts_with("--helm-command"));
        let helm = match kustomize::runs_helm(render) && !names_helm {
            true => {
                let wanted = kustomize::helm_for(&found);
                Some(self.find(target, Tool::Helm, wanted).await?)
            }
            false => None,
        };
        let job = kustomize::job(target, render, &path, found.clone(), helm.as_ref())?;
        let output = self.job(job).await.inspect_err(|_| {
            learn::kustomization(&path, &target.root, &self.scrubber);
        })?;
        Ok(rendered(&output, Some(&found)))
    }

    async fn helm(
        &self,
        target: &Target,
        render: &HelmRender,
        capabilities: Option<&Capabilities>,
    ) -> Result<Rendered> {
        let mut values = Vec::new();
        for source in &render.values {
            match source {
                ValuesSource::Inline(value) => values.push(helm::Values::Inline(value.clone())),
                ValuesSource::File { path, optional: true } if !path.exists() => {}
                ValuesSource::File { path, .. } => {
                    let file = self.inside(target, path, "the values file")?;
                    values.push(helm::Values::File(file));
                }
            }
        }
        let mut set_file = Vec::new();
        for (key, path) in &render.set_file {
            let what = format!("the file of `setFile: {key}`");
            set_file.push((key.clone(), self.inside(target, path, &what)?));
        }
        let found = self.find(target, Tool::Helm, render.helm_version.as_deref()).await?;
        let chart = self.chart(target, &render.chart, &found).await?;
        let inputs = helm::Inputs { chart: chart.path.clone(), values, set_file };
        let known = inputs.clone();
        let job = helm::job(target, render, inputs, &chart, found.clone(), capabilities)?;
        // Values that are secret by the look of their keys: a guess, so it holds for helm's own
        // words alone, and not for the whole run.
        let guessed = || helm::secrets(render, &known);
        let output = self
            .job(job)
            .await
            .map_err(|error| guessed().scrub_error(helm::hint(error, &chart.shown)))?;
        let mut rendered = rendered(&output, Some(&found));
        rendered.chart.clone_from(&chart.used);
        if !rendered.warnings.is_empty() {
            let scrubber = guessed();
            rendered.warnings.iter_mut().for_each(|text| *text = scrubber.scrub(text));
        }
        (rendered.objects, rendered.hooks) = helm::split_hooks(rendered.objects, render.hooks);
        if helm::kube_version(target, render, capabilities).is_none() {
            rendered.warnings.push(
                "helm assumed a Kubernetes version of its own: set `kubeVersion` of the cluster \
                 in the fleet"
                    .to_owned(),
            );
        }
        Ok(rendered)
    }

    /// The chart as helm takes it: where it lies, or pulled.
    async fn chart(
        &self,
        target: &Target,
        source: &ChartSource,
        found: &Found,
    ) -> Result<Arc<Chart>> {
        let around = Surroundings {
            options: &self.options,
            runner: &self.runner,
            scrubber: &self.scrubber,
            repositories: &target.chart_repositories,
        };
        match source {
            ChartSource::Local(path) => {
                let shown = self.options.shown(path);
                let path = self.inside(target, path, "the chart")?;
                self.charts.local(&target.root, path, shown, found, &around).await
            }
            ChartSource::Remote(remote) => self.charts.remote(remote, found, &around).await,
        }
    }

    fn inside(&self, target: &Target, path: &Path, what: &str) -> Result<PathBuf> {
        paths::inside(&target.root, path, what, &self.options)
    }

    async fn find(&self, target: &Target, tool: Tool, requirement: Option<&str>) -> Result<Found> {
        self.finder.find(tool, requirement, &target.tools, &self.options, &self.runner).await
    }

    async fn job(&self, job: Job) -> Result<Arc<Output>> {
        self.shared
            .get(Key::Job(job.clone()), async || {
                let Printed { stdout, stderr } = job.run(&self.options, &self.runner).await?;
                let (label, tool) = (job.label.clone(), job.found.tool);
                let scrubber = self.scrubber.clone();
                let objects = blocking(move || match tool {
                    Tool::Kustomize => decode(&stdout, &label, &scrubber),
                    Tool::Helm => {
                        helm::with_templates(&stdout, &label, || decode(&stdout, &label, &scrubber))
                    }
                })
                .await?;
                // Only now, when the values of the Secrets are known.
                let warnings = stderr
                    .lines()
                    .take(WARNINGS)
                    .map(|line| format!("{}: {}", tool.name(), self.scrubber.scrub(bare(line))))
                    .collect();
                Ok(Output { objects, warnings })
            })
            .await
    }
}

fn rendered(output: &Output, found: Option<&Found>) -> Rendered {
    Rendered {
        objects: output.objects.clone(),
        hooks: Vec::new(),
        tool: found.map(|found| ToolUsed {
            name: found.tool.name(),
            version: found.version.clone(),
            path: found.path.clone(),
        }),
        chart: None,
        warnings: output.warnings.clone(),
        took: Duration::ZERO,
    }
}

/// The objects of a text. The scrubber learns its Secrets before any error can show them.
fn decode(text: &str, source: &str, scrubber: &Scrubber) -> Result<Vec<Object>> {
    match manifest::objects(text, source) {
        Ok(objects) => {
            objects.iter().for_each(|object| scrubber.learn(&object.value));
            Ok(objects)
        }
        Err(error) => {
            for document in yaml::load(text, source).unwrap_or_default() {
                scrubber.learn(&document.value);
            }
            Err(error)
        }
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let done = spawn_blocking(work).await;
    done.map_err(|e| Error::manifest("rendering broke off").because(e.to_string())).flatten()
}

#[cfg(test)]
mod tests;
