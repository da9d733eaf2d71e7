//! The sample files of `tests/config`: the valid ones resolve and fit the schemas, each invalid
//! one gets exactly the errors of its snapshot. A first line `# args: …` holds further arguments
//! (`--var`, `-t`, `-l`); a Fleet is judged with a small Application.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{Contexts, Project, Resolver, SchemaKind, Selector, schema};
use crate::error::{Error, Exit};

const FOLDER: &str = "tests/config";

struct Sample {
    name: String,
    path: PathBuf,
    text: String,
}

fn samples(folder: &str) -> Vec<Sample> {
    let mut found: Vec<Sample> = std::fs::read_dir(Path::new(FOLDER).join(folder))
        .expect("the samples")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "yaml"))
        .map(|path| Sample {
            name: path.file_stem().expect("a name").to_string_lossy().into_owned(),
            text: std::fs::read_to_string(&path).expect("a text"),
            path,
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// The contexts of the samples' kubeconfig.
struct Known;

impl Contexts for Known {
    fn contexts(&self, _: Option<&Path>) -> crate::error::Result<Vec<String>> {
        Ok(["dev", "prod-us", "prod-eu", "arn:aws:eks:us-east-1:1:cluster/prod"]
            .map(str::to_owned)
            .to_vec())
    }
}

impl Sample {
    fn is_fleet(&self) -> bool {
        self.name.starts_with("fleet-")
    }

    fn run(&self) -> Result<Project, Vec<Error>> {
        let (mut vars, mut names, mut selector) = (Vec::new(), Vec::new(), None);
        let mut waves = Vec::new();
        let first = self.text.lines().next().unwrap_or_default();
        let mut words = first.strip_prefix("# args: ").unwrap_or_default().split(' ');
        while let (Some(flag), Some(value)) = (words.next(), words.next()) {
            match flag {
                "--var" => {
                    let (name, value) = value.split_once('=').expect("name=value");
                    vars.push((name.to_owned(), value.to_owned()));
                }
                "-t" => names.push(value.to_owned()),
                "--wave" => waves.push(value.to_owned()),
                "-l" => selector = Some(Selector::parse(value).map_err(|e| vec![e])?),
                other => panic!("{other}"),
            }
        }
        let resolver = Resolver::default().with_contexts(&Known);
        let small = Path::new(FOLDER).join("valid/minimal.yaml");
        let project = match self.is_fleet() {
            true => resolver.check(&small, Some(self.path.clone()), &vars)?,
            false => resolver.check(&self.path, None, &vars)?,
        };
        project.narrow(&names, selector.as_ref(), &waves).map_err(|e| vec![e])?;
        Ok(project)
    }
}

/// As a terminal would show it, without colours.
fn render(error: &Error) -> String {
    let mut text = format!("error: {}\n", error.message());
    if let Some(location) = error.location() {
        let _ = writeln!(text, "  --> {location}");
        if !location.text.is_empty() {
            let _ = writeln!(text, "   | {}", location.text);
            if location.column > 0 {
                let _ = writeln!(text, "   | {:>1$}", "^", location.column);
            }
        }
    }
    if let Some(target) = error.target() {
        let _ = writeln!(text, "   = target: {target}");
    }
    for cause in error.causes() {
        let _ = writeln!(text, "   = because: {cause}");
    }
    for hint in error.hints() {
        let _ = writeln!(text, "   = hint: {}", hint.replace('\n', "\n     "));
    }
    text
}

#[test]
fn each_invalid_sample_gets_its_errors() {
    let samples = samples("invalid");
    assert!(samples.len() >= 40, "only {} samples", samples.len());
    let mut settings = insta::Settings::clone_current();
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    settings.set_snapshot_path(manifest.join(FOLDER).join("snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.add_filter(r"`/[^`]*/tests/config/", "`[folder]/");
    settings.add_filter(r"outside of `[^`]*`", "outside of `[root]`");
    settings.bind(|| {
        for sample in samples {
            let Err(errors) = sample.run() else { panic!("{} is valid", sample.name) };
            let told: Vec<String> = errors
                .iter()
                .map(|error| {
                    assert_eq!(error.exit(), Exit::Config, "{}: {error}", sample.name);
                    render(error)
                })
                .collect();
            insta::assert_snapshot!(sample.name.as_str(), told.join("\n"));
        }
    });
}

#[test]
fn the_valid_samples_resolve_without_a_warning() {
    for sample in samples("valid") {
        match sample.run() {
            Ok(project) => assert_eq!(project.warnings, [], "{}", sample.name),
            Err(errors) => {
                let told: Vec<String> = errors.iter().map(render).collect();
                panic!("{}:\n{}", sample.name, told.join("\n"));
            }
        }
    }
}

#[test]
fn the_valid_samples_fit_the_schemas() {
    let validator = |kind| {
        let schema = serde_json::from_str(&schema(kind)).expect("JSON");
        jsonschema::validator_for(&schema).expect("a schema")
    };
    let (application, fleet) = (validator(SchemaKind::Application), validator(SchemaKind::Fleet));
    for sample in samples("valid") {
        let documents = crate::manifest::yaml::load(&sample.text, &sample.name).expect("YAML");
        let schema = if sample.is_fleet() { &fleet } else { &application };
        for document in documents {
            let wrong: Vec<String> =
                schema.iter_errors(&document.value).map(|e| e.to_string()).collect();
            assert_eq!(wrong, Vec::<String>::new(), "{}", sample.name);
        }
    }
}

/// The examples of the repository are what people copy from.
#[test]
fn the_examples_resolve_and_fit_the_schemas() {
    let mut seen = 0;
    for folder in std::fs::read_dir("examples").expect("the examples") {
        let path = folder.expect("an entry").path().join("mcd.yaml");
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let vars = [("tag".to_owned(), "1.0.0".to_owned())];
        let vars = if text.contains("vars.tag") { &vars[..] } else { &[] };
        let project = Resolver::default().load(&path, None, vars).expect("it resolves");
        assert_eq!(project.warnings, [], "{}", path.display());
        let schema = serde_json::from_str(&schema(SchemaKind::Application)).expect("JSON");
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        for document in crate::manifest::yaml::load(&text, "mcd.yaml").expect("YAML") {
            let wrong: Vec<String> =
                validator.iter_errors(&document.value).map(|e| e.to_string()).collect();
            assert_eq!(wrong, Vec::<String>::new(), "{}", path.display());
        }
        seen += 1;
    }
    assert!(seen >= 3, "only {seen} examples");
}

/// What the schemas can know, they refuse: an editor then marks it while it is written.
#[test]
fn the_schemas_refuse_mistyped_keys_and_types() {
    let text = schema(SchemaKind::Application);
    let schema = serde_json::from_str(&text).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for sample in samples("invalid") {
        let of_schema = ["unknown-key-", "wrong-type-", "missing-"];
        if !of_schema.iter().any(|prefix| sample.name.starts_with(prefix)) {
            continue;
        }
        let documents = crate::manifest::yaml::load(&sample.text, &sample.name).expect("YAML");
        assert!(!validator.is_valid(&documents[0].value), "{}", sample.name);
    }
}
