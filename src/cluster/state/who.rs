//! Who runs mcd, where, and from which commit: read off the environment and git. Nothing here
//! fails; what is not known is said to be unknown.

use std::path::Path;
use std::time::{Duration, Instant};

use super::about::{CiRun, Commit, Who};

/// How long git may take for both questions together.
const GIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Who runs this process.
pub fn current_user() -> Who {
    who_by(|name| std::env::var(name).ok(), &hostname())
}

/// The machine's name.
pub fn hostname() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if name.is_empty() { "unknown".into() } else { name }
}

/// How one CI system shows itself: the variable that it sets, its name, who started the run and
/// the parts of the run's address.
struct CiSystem {
    sign: &'static str,
    name: &'static str,
    users: &'static [&'static str],
    url: &'static [Part],
}

enum Part {
    Var(&'static str),
    Text(&'static str),
}

use Part::{Text, Var};

const SYSTEMS: [CiSystem; 8] = [
    CiSystem {
        sign: "GITHUB_ACTIONS",
        name: "GitHub Actions",
        users: &["GITHUB_ACTOR"],
        url: &[
            Var("GITHUB_SERVER_URL"),
            Text("/"),
            Var("GITHUB_REPOSITORY"),
            Text("/actions/runs/"),
            Var("GITHUB_RUN_ID"),
        ],
    },
    CiSystem {
        sign: "GITLAB_CI",
        name: "GitLab CI",
        users: &["GITLAB_USER_LOGIN"],
        url: &[Var("CI_JOB_URL")],
    },
    CiSystem {
        sign: "BUILDKITE",
        name: "Buildkite",
        users: &["BUILDKITE_BUILD_CREATOR"],
        url: &[Var("BUILDKITE_BUILD_URL")],
    },
    CiSystem {
        sign: "CIRCLECI",
        name: "CircleCI",
        users: &["CIRCLE_USERNAME"],
        url: &[Var("CIRCLE_BUILD_URL")],
    },
    CiSystem {
        sign: "TF_BUILD",
        name: "Azure Pipelines",
        users: &["BUILD_REQUESTEDFOR"],
        url: &[
            Var("SYSTEM_COLLECTIONURI"),
            Var("SYSTEM_TEAMPROJECT"),
            Text("/_build/results?buildId="),
            Var("BUILD_BUILDID"),
        ],
    },
    CiSystem { sign: "TEAMCITY_VERSION", name: "TeamCity", users: &[], url: &[Var("BUILD_URL")] },
    CiSystem {
        sign: "JENKINS_URL",
        name: "Jenkins",
        users: &["BUILD_USER_ID"],
        url: &[Var("BUILD_URL")],
    },
    CiSystem { sign: "CI", name: "CI", users: &[], url: &[] },
];

/// Who, by environment variables; none of them is a credential.
fn who_by(variable: impl Fn(&str) -> Option<String>, host: &str) -> Who {
    let variable = |name: &str| variable(name).map(|v| clean(&v)).filter(|v| !v.is_empty());
    let system = (SYSTEMS.iter()).find(|ci| variable(ci.sign).is_some_and(|v| v != "false"));
    let ci_user = system.and_then(|ci| ci.users.iter().find_map(|name| variable(name)));
    let user = ci_user
        .or_else(|| ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(&variable))
        .unwrap_or_else(|| format!("uid {}", rustix::process::getuid().as_raw()));
    let ci = system.map(|ci| {
        let url: Option<String> = (ci.url.iter())
            .map(|part| match part {
                Var(name) => variable(name),
                Text(text) => Some((*text).to_owned()),
            })
            .collect();
        CiRun { system: ci.name.into(), url: url.filter(|url| !url.is_empty()) }
    });
    Who { user, host: clean(host), ci }
}

/// One line of at most 200 characters: this goes into tables and annotations.
fn clean(text: &str) -> String {
    text.trim().chars().filter(|c| !c.is_control()).take(200).collect()
}

/// The commit that is checked out in `folder`; none outside a repository or without git. Blocks
/// for at most five seconds.
pub fn current_commit(folder: &Path) -> Option<Commit> {
    let deadline = Instant::now() + GIT_TIMEOUT;
    let id = git(folder, &["rev-parse", "--verify", "HEAD^{commit}"], deadline)?;
    let id = id.trim().to_owned();
    if id.len() < 40 || !id.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let status = git(folder, &["status", "--porcelain", "--no-renames"], deadline);
    Some(Commit { id, dirty: status.map(|lines| !lines.trim().is_empty()) })
}

/// What git prints, when it ends well before the deadline.
fn git(folder: &Path, arguments: &[&str], deadline: Instant) -> Option<String> {
    // A repository's configuration can name a program to watch files with; none is run for us.
    let fixed = ["--no-optional-locks", "-c", "core.fsmonitor=false"];
    let handle = duct::cmd("git", fixed.iter().chain(arguments))
        .dir(folder)
        .env("LC_ALL", "C")
        .stdin_null()
        .stdout_capture()
        .stderr_null()
        .unchecked()
        .start()
        .ok()?;
    match handle.wait_deadline(deadline) {
        Ok(Some(output)) if output.status.success() => {
            Some(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Ok(Some(_)) => None,
        // A failure to kill leaves nothing that could be done about it.
        Ok(None) | Err(_) => handle.kill().ok().and(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(variables: &[(&str, &str)]) -> Who {
        let find = |name: &str| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        who_by(find, "laptop")
    }

    #[test]
    fn the_environment_says_who() {
        assert_eq!(who(&[("USER", "alice")]).to_string(), "alice@laptop");
        assert_eq!(who(&[("USER", ""), ("LOGNAME", "bob")]).to_string(), "bob@laptop");
        assert!(who(&[]).user.starts_with("uid "));
        assert_eq!(who(&[("USER", "a\nb\u{1b}[31m")]).user, "ab[31m");
        assert_eq!(who(&[("CI", "false"), ("USER", "alice")]).ci, None);
        assert_eq!(who(&[("CI", "true"), ("USER", "root")]).to_string(), "root in CI");
    }

    #[test]
    fn a_ci_run_says_who_started_it_and_where_it_is() {
        let github = [
            ("CI", "true"),
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_ACTOR", "alice"),
            ("GITHUB_SERVER_URL", "https://github.example"),
            ("GITHUB_REPOSITORY", "shop/web"),
            ("GITHUB_RUN_ID", "42"),
            ("USER", "runner"),
        ];
        let full = who(&github);
        assert_eq!(full.to_string(), "alice in GitHub Actions");
        let url = full.ci.unwrap().url.unwrap();
        assert_eq!(url, "https://github.example/shop/web/actions/runs/42");
        assert_eq!(who(&github[..5]).ci.unwrap().url, None, "half an address is none");
        let gitlab = who(&[("GITLAB_CI", "true"), ("USER", "root")]);
        assert_eq!(gitlab.to_string(), "root in GitLab CI");
    }

    #[test]
    fn git_says_the_commit_and_whether_the_tree_differs() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(current_commit(folder.path()), None, "no repository");
        let run = |arguments: &[&str]| {
            let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
            duct::cmd("git", identity.iter().chain(arguments))
                .dir(folder.path())
                .stdout_capture()
                .stderr_capture()
                .run()
                .unwrap();
        };
        run(&["init", "-q"]);
        assert_eq!(current_commit(folder.path()), None, "no commit");
        run(&["commit", "-q", "--allow-empty", "-m", "first"]);
        let commit = current_commit(folder.path()).unwrap();
        assert_eq!((commit.id.len(), commit.dirty), (40, Some(false)));
        assert_eq!(commit.to_string().len(), 8);
        std::fs::write(folder.path().join("new.yaml"), "a: 1").unwrap();
        let commit = current_commit(folder.path()).unwrap();
        assert_eq!(commit.dirty, Some(true));
        assert!(commit.to_string().ends_with("-dirty"));
        assert_eq!(current_commit(&folder.path().join("missing")), None);
    }
}
