//! How repositories and registries are reached: what the fleet says of them, and helm's own login
//! files. Helm reads logins from private files, never from arguments, which anyone on the machine
//! can read.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::config::ChartRepository;
use crate::error::{Error, Result};
use crate::manifest::{Scrubber, yaml};

/// The user's environment.
type Env = BTreeMap<OsString, OsString>;

/// How one repository or registry is reached.
#[derive(Clone, Default)]
pub(super) struct Access {
    /// The fleet's variables, and what they hold.
    login: Option<Login>,
    /// Certificates to trust.
    pub(super) ca_file: Option<PathBuf>,
    /// Whether a registry speaks plain HTTP.
    pub(super) plain_http: bool,
}

#[derive(Clone)]
struct Login {
    variables: (String, String),
    username: String,
    password: String,
}

/// Never the login.
impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access")
            .field("variables", &self.variables())
            .field("ca_file", &self.ca_file)
            .field("plain_http", &self.plain_http)
            .finish()
    }
}

impl Access {
    /// For a URL: the longest entry that it is, or is below. The scrubber learns the password.
    ///
    /// # Errors
    /// Exit 3: a variable that the fleet names is not set.
    pub(super) fn to(
        url: &str,
        known: &[ChartRepository],
        env: &Env,
        scrubber: &Scrubber,
    ) -> Result<Self> {
        let below = |entry: &&ChartRepository| {
            url.strip_prefix(&entry.url)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let Some(entry) = known.iter().filter(below).max_by_key(|entry| entry.url.len()) else {
            return Ok(Access::default());
        };
        let read = |name: &String| {
            let value = env.get(&OsString::from(name)).and_then(|value| value.to_str());
            value.filter(|value| !value.is_empty()).map(str::to_owned).ok_or_else(|| {
                Error::config(format!("the environment variable `{name}` is not set")).because(
                    format!(
                        "the fleet's `chartRepositories` takes the login for `{}` from it",
                        entry.url
                    ),
                )
            })
        };
        let login = match &entry.login {
            Some((username, password)) => {
                let variables = (username.clone(), password.clone());
                let login =
                    Login { variables, username: read(username)?, password: read(password)? };
                scrubber.learn_value(&login.password);
                scrubber.learn_value(&login.basic());
                Some(login)
            }
            None => None,
        };
        Ok(Access { login, ca_file: entry.ca_file.clone(), plain_http: entry.plain_http })
    }

    /// The variables that the fleet names, for messages.
    pub(super) fn variables(&self) -> Option<&(String, String)> {
        self.login.as_ref().map(|login| &login.variables)
    }
}

impl Login {
    fn basic(&self) -> String {
        STANDARD.encode(format!("{}:{}", self.username, self.password))
    }
}

/// A `repositories.yaml` with these repositories, by the names given. What the fleet does not say
/// of one comes from the user's own file, for the same URL.
pub(super) fn repositories(wanted: &[(String, String, Access)], env: &Env) -> Vec<u8> {
    let own = own_repositories(env);
    let entries = wanted.iter().map(|(name, url, access)| {
        let same = |entry: &&Map<String, Value>| {
            entry.get("url").and_then(Value::as_str).map(|u| u.trim_end_matches('/'))
                == Some(url.trim_end_matches('/'))
        };
        let mut entry = own.iter().find(same).cloned().unwrap_or_default();
        entry.insert("name".into(), json!(name));
        entry.insert("url".into(), json!(url));
        if let Some(login) = &access.login {
            entry.insert("username".into(), json!(login.username));
            entry.insert("password".into(), json!(login.password));
            // Archives may be on another host: that one is told nothing.
            entry.remove("pass_credentials_all");
        }
        if let Some(path) = &access.ca_file {
            entry.insert("caFile".into(), json!(path));
        }
        Value::Object(entry)
    });
    let file = json!({"apiVersion": "", "repositories": entries.collect::<Vec<_>>()});
    file.to_string().into_bytes()
}

/// The entries of the user's own `repositories.yaml`.
pub(super) fn own_repositories(env: &Env) -> Vec<Map<String, Value>> {
    let path = config_file(env, "HELM_REPOSITORY_CONFIG", "repositories.yaml");
    let text = path.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
    let documents = yaml::load(&text, "").unwrap_or_default();
    let list = documents.first().and_then(|d| d.value["repositories"].as_array());
    list.into_iter().flatten().filter_map(|entry| entry.as_object().cloned()).collect()
}

/// The user's own login file for registries, if there is one.
pub(in crate::render) fn own_registry_config(env: &Env) -> Option<PathBuf> {
    let path = config_file(env, "HELM_REGISTRY_CONFIG", "registry/config.json")?;
    path.canonicalize().ok().filter(|path| path.is_file())
}

/// A login file for registries: the user's own with the logins that the fleet knows. None when it
/// knows none: then the user's own is used as it is.
pub(super) fn registry_config<'a>(
    registries: impl IntoIterator<Item = (&'a str, &'a Access)>,
    env: &Env,
) -> Option<Vec<u8>> {
    let logins: Vec<(&str, &Login)> = registries
        .into_iter()
        .filter_map(|(url, access)| Some((host(url), access.login.as_ref()?)))
        .collect();
    if logins.is_empty() {
        return None;
    }
    let own = own_registry_config(env).and_then(|path| std::fs::read(path).ok());
    let own: Value = own.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let map = |key: &str| own[key].as_object().cloned().unwrap_or_default();
    // Not `credsStore`: it would be asked in place of `auths`.
    let (mut auths, mut helpers) = (map("auths"), map("credHelpers"));
    for (host, login) in logins {
        auths.insert(host.to_owned(), json!({"auth": login.basic()}));
        helpers.remove(host);
    }
    Some(json!({"auths": auths, "credHelpers": helpers}).to_string().into_bytes())
}

/// The host, with its port, of a URL.
pub(super) fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default()
}

/// A file of helm's own configuration, where helm would look for it.
fn config_file(env: &Env, variable: &str, name: &str) -> Option<PathBuf> {
    let folder = |variable: &str| {
        env.get(&OsString::from(variable)).filter(|v| !v.is_empty()).map(PathBuf::from)
    };
    if let Some(path) = folder(variable) {
        return Some(path);
    }
    let home = folder("HELM_CONFIG_HOME")
        .or_else(|| Some(folder("XDG_CONFIG_HOME")?.join("helm")))
        .or_else(|| {
            let below =
                if cfg!(target_os = "macos") { "Library/Preferences/helm" } else { ".config/helm" };
            Some(folder("HOME")?.join(below))
        })?;
    Some(home.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Env {
        pairs.iter().map(|(k, v)| (OsString::from(k), OsString::from(v))).collect()
    }

    fn entry(url: &str, login: bool) -> ChartRepository {
        ChartRepository {
            url: url.into(),
            login: login.then(|| ("USER_VAR".into(), "PASS_VAR".into())),
            ca_file: Some("/ca.pem".into()),
            plain_http: false,
        }
    }

    #[test]
    fn the_longest_entry_above_a_url_is_its_own() {
        let known = [entry("https://a.example.com", false), entry("https://a.example.com/x", true)];
        let env = env(&[("USER_VAR", "u"), ("PASS_VAR", "hunter2")]);
        let scrubber = Scrubber::new();
        let to = |url: &str| Access::to(url, &known, &env, &scrubber).unwrap();
        assert!(to("https://a.example.com/x/y").variables().is_some());
        assert!(to("https://a.example.com/x").variables().is_some());
        assert!(to("https://a.example.com/xy").variables().is_none());
        assert!(to("https://a.example.com/xy").ca_file.is_some());
        assert!(to("https://a.example.com.evil.org").ca_file.is_none());
        assert_eq!(scrubber.scrub("hunter2 dTpodW50ZXIy"), "*** ***");
        assert!(!format!("{:?}", to("https://a.example.com/x")).contains("hunter2"));
    }

    #[test]
    fn a_variable_that_is_not_set_is_named() {
        let known = [entry("https://a.example.com", true)];
        let error = Access::to(
            "https://a.example.com",
            &known,
            &env(&[("USER_VAR", "u")]),
            &Scrubber::new(),
        )
        .unwrap_err();
        assert_eq!(error.exit().code(), 3);
        assert!(error.message().contains("`PASS_VAR` is not set"), "{error}");
    }

    #[test]
    fn logins_of_helms_own_files_are_used_where_the_fleet_has_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        std::fs::write(
            path("repositories.yaml"),
            "repositories:\n- {name: corp, url: 'https://a.example.com/', username: own, \
             password: own-pass, pass_credentials_all: true}\n",
        )
        .unwrap();
        std::fs::create_dir(dir.path().join("registry")).unwrap();
        std::fs::write(
            path("registry/config.json"),
            r#"{"auths": {"r.example.com": {"auth": "b3du"}, "s.example.com": {}}, "credsStore": "x",
                "credHelpers": {"r.example.com": "y", "t.example.com": "z"}}"#,
        )
        .unwrap();
        let env = env(&[
            ("HELM_CONFIG_HOME", &dir.path().display().to_string()),
            ("USER_VAR", "u"),
            ("PASS_VAR", "fleet-pass"),
        ]);
        let login =
            |url: &str| Access::to(url, &[entry(url, true)], &env, &Scrubber::new()).unwrap();
        let file = |access: Access| -> Value {
            let wanted = [("mcd".to_owned(), "https://a.example.com".to_owned(), access)];
            let file: Value = serde_json::from_slice(&repositories(&wanted, &env)).unwrap();
            file["repositories"][0].clone()
        };
        let own = file(Access::default());
        assert_eq!(own["password"], "own-pass");
        assert_eq!((&own["name"], &own["url"]), (&json!("mcd"), &json!("https://a.example.com")));
        let fleet = file(login("https://a.example.com"));
        assert_eq!(fleet["password"], "fleet-pass");
        assert_eq!(fleet["pass_credentials_all"], Value::Null);
        assert_eq!(fleet["caFile"], "/ca.pem");

        let none = Access::default();
        assert_eq!(registry_config([("oci://r.example.com/x", &none)], &env), None);
        let access = login("oci://r.example.com");
        let merged = registry_config([("oci://r.example.com/x", &access)], &env).unwrap();
        let merged: Value = serde_json::from_slice(&merged).unwrap();
        assert_eq!(
            merged,
            json!({
                "auths": {
                    "r.example.com": {"auth": STANDARD.encode("u:fleet-pass")},
                    "s.example.com": {},
                },
                "credHelpers": {"t.example.com": "z"},
            })
        );
        assert_eq!(
            own_registry_config(&env),
            dir.path().join("registry/config.json").canonicalize().ok()
        );
    }
}
