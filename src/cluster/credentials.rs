//! Credential plugins (`users[].user.exec`): run once for all clusters that share one, bounded,
//! without a terminal, output captured; run again when the server refuses what they gave (401) or
//! it expires.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use jiff::{SignedDuration, Timestamp};
use kube::config::{
    AuthInfo, Cluster as ClusterEntry, ExecAuthCluster, ExecConfig, ExecInteractiveMode,
};
use serde::Deserialize;
use serde_json::json;

use super::connect::lock;
use super::text::clean;

/// The plugins of a run.
pub(super) struct Plugins {
    timeout: Duration,
    known: Mutex<HashMap<String, Arc<Plugin>>>,
}

impl Plugins {
    pub(super) fn new(timeout: Duration) -> Self {
        Plugins { timeout, known: Mutex::default() }
    }

    /// The plugin of a user: the same for all users and clusters for which it would be run in the
    /// same way. Errors are reasons.
    pub(super) fn plugin(
        &self,
        exec: ExecConfig,
        cluster: &ClusterEntry,
    ) -> Result<Arc<Plugin>, String> {
        let command = exec.command.clone().filter(|c| !c.is_empty());
        let command = command.ok_or("its `exec` names no command")?;
        let version = exec.api_version.clone().unwrap_or_default();
        if !["v1", "v1beta1"].iter().any(|v| version == format!("client.authentication.k8s.io/{v}"))
        {
            return Err(format!("its `exec` is of an unknown version `{}`", clean(&version)));
        }
        if exec.interactive_mode == Some(ExecInteractiveMode::Always) {
            return Err(format!(
                "its command `{command}` wants a terminal (`interactiveMode: Always`), which it never gets here"
            ));
        }
        let mut spec = json!({"interactive": false});
        if exec.provide_cluster_info {
            let info = ExecAuthCluster::try_from(cluster).map_err(|e| clean(&e.to_string()))?;
            spec["cluster"] = serde_json::to_value(info).map_err(|e| e.to_string())?;
        }
        let info = json!({"apiVersion": version, "kind": "ExecCredential", "spec": spec});
        let pairs = exec.env.into_iter().flatten();
        let environment: Vec<(String, String)> = pairs
            .filter_map(|pair| Some((pair.get("name")?.clone(), pair.get("value")?.clone())))
            .collect();
        let plugin = Plugin {
            command,
            args: exec.args.unwrap_or_default(),
            environment,
            info: info.to_string(),
            install_hint: exec.install_hint.map(|hint| clean(&hint)),
            timeout: self.timeout,
            last: tokio::sync::Mutex::default(),
        };
        let key =
            format!("{:?}", (&plugin.command, &plugin.args, &plugin.environment, &plugin.info));
        Ok(lock(&self.known).entry(key).or_insert_with(|| Arc::new(plugin)).clone())
    }
}

/// One way to run a plugin, and what it gave last.
pub(super) struct Plugin {
    command: String,
    args: Vec<String>,
    environment: Vec<(String, String)>,
    info: String,
    install_hint: Option<String>,
    timeout: Duration,
    last: tokio::sync::Mutex<Option<Result<Credential, String>>>,
}

/// What a plugin gave. Never shown.
#[derive(Clone)]
pub(super) struct Credential {
    number: u64,
    token: Option<String>,
    /// Certificate and key, PEM.
    certificate: Option<(String, String)>,
    expires: Option<Timestamp>,
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Credential {
    /// Whether it should be replaced before the next call.
    pub(super) fn expires_soon(&self, now: Timestamp) -> bool {
        let soon = now.checked_add(SignedDuration::from_secs(30)).unwrap_or(now);
        self.expires.is_some_and(|expires| expires <= soon)
    }

    /// Makes it the user's.
    pub(super) fn put_into(&self, user: &mut AuthInfo) {
        let encode = |pem: &str| base64::engine::general_purpose::STANDARD.encode(pem);
        if let Some(token) = &self.token {
            user.token = Some(token.clone().into());
            user.token_file = None;
        }
        if let Some((certificate, key)) = &self.certificate {
            user.client_certificate_data = Some(encode(certificate));
            user.client_key_data = Some(encode(key).into());
        }
    }
}

impl Plugin {
    /// What the plugin gave, if it is not `not` and does not expire; else it is run. Callers that
    /// come meanwhile wait for that run. A failure is kept, so that a plugin that is broken, or
    /// waits for someone, holds up a run only once.
    pub(super) async fn credential(&self, not: Option<&Credential>) -> Result<Credential, String> {
        let mut last = self.last.lock().await;
        match &*last {
            Some(Ok(known)) => {
                let refused = not.is_some_and(|not| not.number == known.number);
                if !refused && !known.expires_soon(Timestamp::now()) {
                    return Ok(known.clone());
                }
            }
            Some(Err(why)) => return Err(why.clone()),
            None => {}
        }
        let result = self.run().await;
        *last = Some(result.clone());
        result
    }

    async fn run(&self) -> Result<Credential, String> {
        let command = &self.command;
        let mut expression = duct::cmd(command, &self.args)
            .stdin_null()
            .stdout_capture()
            .stderr_capture()
            .unchecked()
            .env("KUBERNETES_EXEC_INFO", &self.info);
        for (name, value) in &self.environment {
            expression = expression.env(name, value);
        }
        #[cfg(unix)]
        let expression = expression.before_spawn(|command| {
            use std::os::unix::process::CommandExt;
            command.process_group(0);
            Ok(())
        });
        let handle = expression.start().map_err(|error| {
            let hint = self.install_hint.as_ref().map_or(String::new(), |h| format!(" ({h})"));
            format!("the command `{command}` cannot be run: {error}{hint}")
        })?;
        let running = Running(Arc::new(handle));
        let (waited, timeout) = (running.0.clone(), self.timeout);
        let wait = move || {
            let output = waited.wait_timeout(timeout)?;
            Ok::<_, std::io::Error>(output.cloned())
        };
        let output = tokio::task::spawn_blocking(wait)
            .await
            .map_err(|_| format!("the command `{command}` was interrupted"))?
            .map_err(|error| format!("the command `{command}` failed: {error}"))?;
        let Some(output) = output else {
            let seconds = self.timeout.as_secs();
            return Err(format!("the command `{command}` did not end within {seconds}s"));
        };
        if !output.status.success() {
            let ending = output.status.code().map_or_else(
                || "was ended by a signal".to_owned(),
                |code| format!("exited with {code}"),
            );
            let said = last_lines(&output.stderr);
            let said = if said.is_empty() { said } else { format!(": {said}") };
            return Err(format!("the command `{command}` {ending}{said}"));
        }
        parse(&output.stdout).ok_or_else(|| {
            format!("the command `{command}` printed no ExecCredential with a token or certificate")
        })
    }
}

/// Ends a plugin with all its children when nobody waits for it any more.
struct Running(Arc<duct::Handle>);

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(Some(_))) {
            return;
        }
        #[cfg(unix)]
        for pid in self.0.pids() {
            use rustix::process::{Pid, Signal, kill_process_group};
            let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
            // A group that is gone already is what we want.
            let _ = pid.map(|pid| kill_process_group(pid, Signal::KILL));
        }
        let _ = self.0.kill();
    }
}

/// The last lines of what a plugin said, as one.
fn last_lines(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let mut lines: Vec<&str> =
        text.lines().rev().filter(|l| !l.trim().is_empty()).take(3).collect();
    lines.reverse();
    clean(&lines.join(" / "))
}

#[derive(Deserialize)]
struct ExecCredential {
    status: Option<Status>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
    expiration_timestamp: Option<String>,
}

/// JSON, or YAML, which client-go takes too. None without any credential.
fn parse(stdout: &[u8]) -> Option<Credential> {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let document: ExecCredential = match serde_json::from_slice(stdout) {
        Ok(document) => document,
        Err(_) => serde_saphyr::from_slice(stdout).ok()?,
    };
    let status = document.status?;
    let token = status.token.filter(|token| !token.is_empty());
    let certificate = status.client_certificate_data.zip(status.client_key_data);
    if token.is_none() && certificate.is_none() {
        return None;
    }
    let expires = status.expiration_timestamp.and_then(|text| text.parse().ok());
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    Some(Credential { number, token, certificate, expires })
}

#[cfg(test)]
mod tests;
