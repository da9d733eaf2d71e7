use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::*;

/// A folder of fake tools. Each writes a line to `asked` when it is run.
struct Bed {
    dir: tempfile::TempDir,
    options: RenderOptions,
    finder: Finder,
    runner: Runner,
}

type Fleet = BTreeMap<String, BTreeMap<String, PathBuf>>;

impl Bed {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let options = RenderOptions {
            tools_dirs: vec![dir.path().join("tools")],
            path: vec![dir.path().join("bin"), dir.path().join("bin2")],
            cwd: dir.path().to_owned(),
            ..RenderOptions::from_env()
        };
        let runner = Runner::new(Duration::from_secs(60), 1 << 20, CancellationToken::new());
        Bed { dir, options, finder: Finder::default(), runner }
    }

    fn tool(&self, path: &str, prints: &str) -> PathBuf {
        let file = self.dir.path().join(path);
        let asked = self.dir.path().join("asked");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let text = format!("#!/bin/sh\necho {path} \"$@\" >> {}\n{prints}\n", asked.display());
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    async fn find(&self, requirement: &str, fleet: &Fleet) -> Result<(String, String)> {
        let requirement = Some(requirement).filter(|text| !text.is_empty());
        let (tool, options) = (Tool::Kustomize, &self.options);
        let found = self.finder.find(tool, requirement, fleet, options, &self.runner).await?;
        Ok((self.options.shown(&found.path), found.version))
    }

    fn asked(&self) -> Vec<String> {
        let text = fs::read_to_string(self.dir.path().join("asked")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

fn found(path: &str, version: &str) -> Result<(String, String)> {
    Ok((path.to_owned(), version.to_owned()))
}

#[tokio::test]
async fn the_first_that_satisfies_the_requirement_wins() {
    let mut bed = Bed::new();
    bed.tool("tools/kustomize/5.4.3/kustomize", "echo v5.4.3");
    bed.tool("tools/kustomize/5.10.0/kustomize", "echo v5.10.0");
    bed.tool("tools/kustomize/5.8.2/kustomize", "echo '(devel)'");
    bed.tool("bin2/kustomize", "echo '{Version:kustomize/v4.5.7 GitCommit:x}'");
    bed.tool("bin2/kustomize-3.9.1", "echo v3.9.1");
    bed.tool("bin/kustomize-3.10.0", "echo v3.10.0");
    let fleet_path = bed.tool("opt/kz", "echo v5.1.0");
    let none = Fleet::new();
    let listed = BTreeMap::from([("5.1.0".to_owned(), fleet_path)]);
    let fleet = Fleet::from([("kustomize".to_owned(), listed)]);

    assert_eq!(bed.find("", &none).await, found("tools/kustomize/5.10.0/kustomize", "5.10.0"));
    assert_eq!(
        bed.find(">=5.4, <5.9", &none).await,
        found("tools/kustomize/5.8.2/kustomize", "5.8.2")
    );
    assert_eq!(bed.find("5.4.3", &none).await, found("tools/kustomize/5.4.3/kustomize", "5.4.3"));
    assert_eq!(bed.find("^4", &none).await, found("bin2/kustomize", "4.5.7"));
    assert_eq!(bed.find("^3", &none).await, found("bin/kustomize-3.10.0", "3.10.0"));
    assert_eq!(bed.find("^3.9, <3.10", &none).await, found("bin2/kustomize-3.9.1", "3.9.1"));
    assert_eq!(bed.find("", &fleet).await, found("opt/kz", "5.1.0"));
    assert_eq!(bed.find("5.8.2", &fleet).await, found("tools/kustomize/5.8.2/kustomize", "5.8.2"));

    // One more look finds everything known already.
    let asked = bed.asked();
    assert_eq!(bed.find("^4", &none).await, found("bin2/kustomize", "4.5.7"));
    assert_eq!(bed.asked(), asked);
    let each: HashSet<&String> = asked.iter().collect();
    assert_eq!(each.len(), asked.len(), "{asked:?}");

    bed.options.kustomize_bin = Some("bin2/kustomize".into());
    assert_eq!(bed.find("", &fleet).await, found("bin2/kustomize", "4.5.7"));
    assert_eq!(bed.find("5.8.2", &fleet).await, found("tools/kustomize/5.8.2/kustomize", "5.8.2"));
}

#[tokio::test]
async fn without_a_requirement_the_plain_name_on_path_is_used() {
    let bed = Bed::new();
    bed.tool("bin/kustomize-3.9.1", "echo v3.9.1");
    bed.tool("bin2/kustomize", "echo v5.8.2");
    assert_eq!(bed.find("", &Fleet::new()).await, found("bin2/kustomize", "5.8.2"));
}

#[tokio::test]
async fn targets_that_ask_at_once_share_one_answer() {
    let bed = Bed::new();
    bed.tool("bin/kustomize", "echo v5.8.2");
    let none = Fleet::new();
    let all = futures::future::join_all((0..20).map(|_| bed.find("5.8.2", &none))).await;
    assert!(all.iter().all(|one| *one == found("bin/kustomize", "5.8.2")), "{all:?}");
    assert_eq!(bed.asked(), ["bin/kustomize version"]);
}

#[tokio::test]
async fn none_says_what_there_is() {
    let bed = Bed::new();
    let error = bed.find("", &Fleet::new()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "kustomize was not found: nothing by that name is in the fleet's `tools:`, `$MCD_TOOLS` \
         or PATH"
    );
    assert_eq!(
        error.hints(),
        [
            "install it, and name it with `tools: {kustomize: {\"VERSION\": /path/to/kustomize}}` in \
          the fleet, put it at `$MCD_TOOLS/kustomize/VERSION/kustomize` or on PATH as \
          `kustomize-VERSION`, or give `--kustomize-bin`"
        ]
    );

    bed.tool("tools/kustomize/5.4.3/kustomize", "echo v5.4.3");
    bed.tool("bin/kustomize", "echo broken >&2; exit 2");
    bed.tool("bin2/kustomize-5.9.0", "echo '(devel)'");
    let error = bed.find("5.8.2", &Fleet::new()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "no kustomize in version `5.8.2` was found: `tools/kustomize/5.4.3/kustomize` (MCD_TOOLS) \
         is 5.4.3; `bin2/kustomize-5.9.0` (PATH) says only `(devel)`, 5.9.0 by its name; \
         `bin/kustomize` (PATH) ended with exit code 2: broken"
    );
    assert!(error.hints()[0].contains("`$MCD_TOOLS/kustomize/5.8.2/kustomize`"), "{error:?}");
    assert_eq!(error.exit(), Exit::Manifest);
}

#[tokio::test]
async fn mistakes_are_named() {
    let mut bed = Bed::new();
    let error = bed.find("five", &Fleet::new()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`five` is not a requirement on the version of kustomize: unexpected character 'f' while \
         parsing major version number"
    );
    assert_eq!(error.exit(), Exit::Config);
    bed.options.kustomize_bin = Some("nowhere/kustomize".into());
    let error = bed.find("", &Fleet::new()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`--kustomize-bin` names `nowhere/kustomize`, which is not a file that can be run"
    );
    assert_eq!(error.exit(), Exit::Config);

    // Another program is not passed over in silence.
    bed.tool("bin/ls", "echo 'no such option' >&2; exit 2");
    bed.options.kustomize_bin = Some("bin/ls".into());
    let error = bed.find("", &Fleet::new()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`--kustomize-bin` names `bin/ls`, which does not say its version: `version` ended with \
         exit code 2: no such option"
    );
    assert_eq!(error.exit(), Exit::Config);
}
