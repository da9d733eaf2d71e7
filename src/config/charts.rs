//! Charts that are not local, and the repositories and registries that hold them.

use super::fleet::ChartRepositoryEntry;
use super::names::{is_chart_name, is_image_digest};
use super::node::Node;
use super::paths;
use super::target::{ChartRepository, RemoteChart};
use crate::error::{Error, Location};

/// What `render.helm` says of where its chart is.
pub(crate) struct Written<'a> {
    pub(crate) chart: &'a str,
    pub(crate) repository: Option<&'a str>,
    pub(crate) version: Option<&'a str>,
    pub(crate) digest: Option<&'a str>,
}

/// What is wrong with a key of `render.helm`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) key: &'static str,
    pub(crate) message: String,
    pub(crate) hint: String,
    /// Whether the line may hold a login.
    has_login: bool,
}

impl Fault {
    /// The error for a place. Its line is not shown where it may hold a login.
    pub(crate) fn at(self, error: impl FnOnce(String) -> Error) -> Error {
        let error = error(self.message).hint(self.hint);
        if self.has_login { without_line(error) } else { error }
    }
}

/// The error without the text of the line that it is about.
fn without_line(error: Error) -> Error {
    match error.location().cloned() {
        Some(place) => error.at(Location { text: String::new(), ..place }),
        None => error,
    }
}

fn fault(key: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Fault {
    Fault { key, message: message.into(), hint: hint.into(), has_login: false }
}

impl Written<'_> {
    /// The chart, if it is not a local one.
    pub(crate) fn remote(&self) -> Option<Result<RemoteChart, Vec<Fault>>> {
        let chart = self.chart.trim_end_matches('/');
        let (repository, name) = match (self.repository, self.chart.starts_with("oci://")) {
            (Some(repository), false) => (repository.trim_end_matches('/'), chart),
            (None, true) => chart.rsplit_once('/').unwrap_or((chart, "")),
            (Some(_), true) => {
                let hint = "leave `repository` out: `chart` says where the chart is";
                return Some(Err(vec![fault("repository", "the chart is named twice", hint)]));
            }
            (None, false) if chart.contains("://") => {
                let message = format!("`{chart}` is no name of a chart");
                let hint = "write `repository: https://…` and `chart: <its name there>`, or \
                            `chart: oci://…`";
                return Some(Err(vec![fault("chart", message, hint)]));
            }
            (None, false) => return self.local(),
        };
        let mut faults = Vec::new();
        if let Err((message, hint)) = check_url(repository) {
            let key = if self.repository.is_some() { "repository" } else { "chart" };
            faults.push(Fault { has_login: repository.contains('@'), ..fault(key, message, hint) });
        } else if !is_chart_name(name) {
            let hint = match name.contains([':', '@']) {
                true => "the version goes into `version`, the digest into `digest`",
                false => {
                    "write the name that the chart has in the repository; a local chart has no \
                     `repository` (an override removes it by `repository: null`)"
                }
            };
            faults.push(fault("chart", format!("`{name}` is no name of a chart"), hint));
        }
        let version = self.version.map(str::trim).unwrap_or_default();
        if version.is_empty() {
            faults.push(fault(
                "version",
                format!("`version` is missing for the chart `{name}`"),
                "say which one, or every run may deploy another: `version: \"1.2.3\"`, or a \
                 range such as `\"^1.2\"`",
            ));
        }
        if let Some(digest) = self.digest {
            if !is_image_digest(digest) || !digest.starts_with("sha256:") {
                let hint = "it looks like `sha256:` and 64 hex digits";
                faults.push(fault("digest", format!("`{digest}` is no digest of a chart"), hint));
            }
            if !version.is_empty() && !is_exact(version) {
                faults.push(fault(
                    "version",
                    format!("`{version}` is a range, and `digest` is the digest of one version"),
                    "write the version exactly, or leave `digest` out",
                ));
            }
        }
        Some(if faults.is_empty() {
            Ok(RemoteChart {
                repository: repository.to_owned(),
                name: name.to_owned(),
                version: version.to_owned(),
                digest: self.digest.map(str::to_owned),
            })
        } else {
            Err(faults)
        })
    }

    /// A local chart has a place, and nothing else.
    fn local(&self) -> Option<Result<RemoteChart, Vec<Fault>>> {
        let given = [("version", self.version), ("digest", self.digest)];
        let faults: Vec<Fault> = given
            .into_iter()
            // An empty version is none.
            .filter(|(_, value)| value.is_some_and(|value| !value.trim().is_empty()))
            .map(|(key, _)| {
                fault(
                    key,
                    format!("a local chart has no `{key}` to choose"),
                    "`version` and `digest` are for charts of a `repository` or of `oci://`; \
                     `helmVersion` is the version of helm",
                )
            })
            .collect();
        (!faults.is_empty()).then_some(Err(faults))
    }
}

/// Whether a version is one version, and no range.
fn is_exact(version: &str) -> bool {
    semver::Version::parse(version.strip_prefix('v').unwrap_or(version)).is_ok()
}

/// Checks the URL of a repository, without a slash at its end: message and hint.
fn check_url(url: &str) -> Result<(), (String, &'static str)> {
    let forms =
        "it looks like `https://charts.example.com`, or `oci://registry.example.com/charts`";
    let rest = ["https://", "http://", "oci://"].iter().find_map(|scheme| url.strip_prefix(scheme));
    let Some(rest) = rest else {
        return Err((format!("`{url}` is no URL of a chart repository"), forms));
    };
    let host = rest.split('/').next().unwrap_or_default();
    if host.contains('@') {
        // Not repeated: it may hold a password.
        return Err((
            "the URL of the chart repository holds a login".to_owned(),
            "name variables that hold it by `chartRepositories` of the fleet, or log in with helm",
        ));
    }
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '?' | '#' | '@');
    if host.is_empty() || !rest.chars().all(plain) {
        return Err((format!("`{url}` is no URL of a chart repository"), forms));
    }
    Ok(())
}

/// Whether a URL's host is this machine.
fn is_loopback(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host == "localhost"
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Checks and completes the fleet's `chartRepositories`; `list` is their list in the file.
pub(crate) fn chart_repositories(
    entries: Vec<ChartRepositoryEntry>,
    list: &Node,
) -> (Vec<ChartRepository>, Vec<Error>) {
    let mut found: Vec<ChartRepository> = Vec::new();
    let mut errors = Vec::new();
    for (entry, node) in entries.into_iter().zip(list.items()) {
        let url = entry.url.trim_end_matches('/').to_owned();
        if let Err((message, hint)) = check_url(&url) {
            let error = node.error(&["url"], message).hint(hint);
            errors.push(if url.contains('@') { without_line(error) } else { error });
        }
        if found.iter().any(|other| other.url == url) {
            errors.push(node.error(&["url"], format!("a second item for `{url}`")));
        }
        for (key, name) in
            [("usernameEnv", &entry.username_env), ("passwordEnv", &entry.password_env)]
        {
            let fine = |name: &str| {
                !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            };
            if name.as_deref().is_some_and(|name| !fine(name)) {
                // Not repeated: whoever misreads the key writes the password itself.
                let error =
                    node.error(&[key], format!("`{key}` is no name of an environment variable"));
                errors.push(without_line(
                    error.hint("the login is not in the file: `passwordEnv: CHARTS_PASSWORD`"),
                ));
            }
        }
        let login = match (entry.username_env, entry.password_env) {
            (Some(username), Some(password)) => Some((username, password)),
            (None, None) => None,
            (username, _) => {
                let missing = if username.is_none() { "usernameEnv" } else { "passwordEnv" };
                let error = node.error(&[], format!("`{missing}` is missing"));
                errors.push(error.hint("a login is a user name and a password"));
                None
            }
        };
        if entry.plain_http && !url.starts_with("oci://") {
            errors.push(
                node.error(&["plainHttp"], "`plainHttp` is for registries (`oci://`)")
                    .hint("a chart repository is asked as its URL says: `http://` or `https://`"),
            );
        }
        let in_clear = entry.plain_http || url.starts_with("http://");
        if login.is_some() && in_clear && !is_loopback(&url) {
            errors.push(
                node.error(&["passwordEnv"], "the password would be sent in clear")
                    .hint("plain HTTP takes a login on this machine only; use TLS"),
            );
        }
        let ca_file = entry.ca_file.as_deref().and_then(|path| {
            let place = node.nearest(&["caFile"]);
            paths::free(&place.mark, path).map_err(|error| errors.push(error)).ok()
        });
        found.push(ChartRepository { url, login, ca_file, plain_http: entry.plain_http });
    }
    (found, errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written<'a>(chart: &'a str, repository: &'a str, version: &'a str) -> Written<'a> {
        let some = |text: &'a str| (!text.is_empty()).then_some(text);
        Written { chart, repository: some(repository), version: some(version), digest: None }
    }

    #[test]
    fn where_a_chart_is() {
        let found = |chart, repository, version| {
            written(chart, repository, version)
                .remote()
                .map(|result| result.map(|c| (c.reference(), c.version)))
        };
        let of =
            |reference: &str, version: &str| Some(Ok((reference.to_owned(), version.to_owned())));
        assert_eq!(found("./chart", "", ""), None);
        assert_eq!(found("chart", "", " "), None);
        assert_eq!(
            found("web", "https://charts.example.com/stable/", "^1.2"),
            of("https://charts.example.com/stable/web", "^1.2")
        );
        assert_eq!(
            found("oci://registry.example.com/charts/web", "", "1.2.3"),
            of("oci://registry.example.com/charts/web", "1.2.3")
        );
        assert_eq!(
            found("web", "oci://registry.example.com/charts", "1.2.3"),
            of("oci://registry.example.com/charts/web", "1.2.3")
        );
    }

    #[test]
    fn what_is_wrong_is_said_at_its_key() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        let faults = |written: Written<'_>| -> Vec<(&str, String)> {
            let faults = written.remote().expect("no local chart").expect_err("a fault");
            faults.into_iter().map(|f| (f.key, f.message)).collect()
        };
        let one = |written: Written<'_>| faults(written).remove(0);
        let oci = "oci://r.example.com/web";
        assert_eq!(one(written(oci, "https://a.example.com", "1.0.0")).0, "repository");
        assert_eq!(one(written("https://a.example.com/web-1.tgz", "", "")).0, "chart");
        assert_eq!(one(written("./web", "https://a.example.com", "1.0.0")).0, "chart");
        assert_eq!(one(written("oci://r.example.com/web:1.0.0", "", "1.0.0")).0, "chart");
        assert_eq!(one(written("oci://", "", "1.0.0")).0, "chart");
        assert_eq!(one(written("web", "ftp://a.example.com", "1.0.0")).0, "repository");
        assert_eq!(one(written(oci, "", "")).0, "version");
        assert_eq!(one(written("./chart", "", "1.0.0")).0, "version");
        let (key, message) = one(written("web", "https://u:hunter2@a.example.com", "1.0.0"));
        assert_eq!((key, message.contains("hunter2")), ("repository", false));
        let pinned =
            |version, digest| Written { digest: Some(digest), ..written(oci, "", version) };
        assert_eq!(one(pinned("^1.0", &digest)).0, "version");
        assert_eq!(one(pinned("1.0.0", "sha256:0a")).0, "digest");
        assert!(pinned("v1.0.0", &digest).remote().is_some_and(|r| r.is_ok()));
    }

    #[test]
    fn this_machine() {
        for url in
            ["oci://127.0.0.1:5000/x", "http://localhost", "http://[::1]:80/", "http://127.1.2.3"]
        {
            assert!(is_loopback(url), "{url}");
        }
        for url in
            ["oci://127.0.0.1.example.com", "http://localhost.example.com", "http://10.0.0.1"]
        {
            assert!(!is_loopback(url), "{url}");
        }
    }
}
