//! Releases as helm 3 and 4 store them: Secrets, or ConfigMaps, that helm finds by their label
//! `owner=helm` and their name's. Read, to know what a release holds, and hidden from helm by
//! another value of that label (A3.7). Pure.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use serde_json::{Value, json};

use crate::manifest::{Object, objects};

/// The label by which helm knows its own.
const OWNER: &str = "owner";
/// The owner of a release that has ended here.
pub const RETIRED: &str = "retired-by-mcd";
/// The most that a release may unfold to; helm's own are below 1 MiB compressed.
const MOST: u64 = 64 * 1024 * 1024;

/// What a release holds.
#[derive(Clone, Debug)]
pub struct HelmContent {
    /// helm's word for where it stands: `deployed`, `failed`, `pending-upgrade`, …
    pub status: String,
    /// Its objects, as helm rendered them. Those without a namespace are in the release's.
    pub objects: Vec<Object>,
}

/// The label selector of a release's revisions.
pub fn helm_selector(release: &str) -> String {
    format!("{OWNER}=helm,name={release}")
}

/// The merge patch that hides a revision from helm.
pub fn hide_from_helm() -> Value {
    json!({"metadata": {"labels": {OWNER: RETIRED}}})
}

/// The newest of a release's stored revisions.
pub fn newest_revision(stored: &[Value]) -> Option<&Value> {
    let revision = |object: &&Value| {
        let text = object["metadata"]["labels"]["version"].as_str().unwrap_or_default();
        text.parse::<u64>().unwrap_or_default()
    };
    stored.iter().max_by_key(revision)
}

/// Reads a stored revision. None when it is not what helm writes. Never quotes it: it holds the
/// values of the release's Secrets.
pub fn helm_content(stored: &Value) -> Option<HelmContent> {
    let text = stored["data"]["release"].as_str()?;
    // The API server's base64 of a Secret's value, and helm's own below it.
    let packed = match stored["kind"].as_str()? {
        "Secret" => STANDARD.decode(STANDARD.decode(text).ok()?).ok()?,
        _ => STANDARD.decode(text).ok()?,
    };
    let mut json = Vec::new();
    if packed.starts_with(&[0x1f, 0x8b, 0x08]) {
        GzDecoder::new(packed.as_slice()).take(MOST).read_to_end(&mut json).ok()?;
    } else {
        json = packed;
    }
    let release: Value = serde_json::from_slice(&json).ok()?;
    let manifest = release["manifest"].as_str()?;
    Some(HelmContent {
        status: release["info"]["status"].as_str().unwrap_or_default().to_owned(),
        objects: objects(manifest, "the helm release").ok()?,
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn stored(kind: &str, revision: &str, packed: &[u8]) -> Value {
        let mut text = STANDARD.encode(packed);
        if kind == "Secret" {
            text = STANDARD.encode(text);
        }
        json!({"kind": kind, "metadata": {"labels": {"version": revision}}, "data": {"release": text}})
    }

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn revisions_are_read_from_both_drivers() {
        let release = json!({
            "info": {"status": "deployed"},
            "manifest": "---\n# Source: web/templates/a.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
        });
        for (kind, packed) in [
            ("Secret", gzip(&release.to_string())),
            ("ConfigMap", gzip(&release.to_string())),
            ("Secret", release.to_string().into_bytes()),
        ] {
            let content = helm_content(&stored(kind, "1", &packed)).expect("content");
            assert_eq!(content.status, "deployed");
            let names: Vec<&str> = content.objects.iter().map(|o| o.id.name.as_str()).collect();
            assert_eq!(names, ["a"]);
        }
    }

    #[test]
    fn what_helm_did_not_write_is_not_read() {
        for packed in [&b"x"[..], b"", b"{}", &gzip("{"), &gzip(r#"{"manifest": "kind: A"}"#)] {
            assert!(helm_content(&stored("Secret", "1", packed)).is_none());
        }
        assert!(helm_content(&json!({"kind": "Secret"})).is_none());
        assert!(helm_content(&json!({"kind": "Secret", "data": {"release": "%"}})).is_none());
    }

    #[test]
    fn revisions_are_ordered_as_numbers() {
        let all = ["9", "10", "x"].map(|revision| stored("Secret", revision, b""));
        let newest = newest_revision(&all).expect("one");
        assert_eq!(newest["metadata"]["labels"]["version"], "10");
        assert!(newest_revision(&[]).is_none());
    }
}
