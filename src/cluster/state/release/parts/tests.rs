use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;

use super::super::super::fixture::{about, names};
use super::*;
use crate::config::{AppName, TargetName};

fn release(number: u64, objects: Vec<Value>) -> Release {
    Release {
        schema: SCHEMA,
        number,
        app: AppName::new("web"),
        target: TargetName::new("us-east"),
        namespace: "shop".into(),
        about: about(),
        rollback_of: None,
        settings: json!({"render": {"kustomize": {"path": "overlays/prod"}}}),
        objects,
    }
}

fn object(kind: &str, namespace: Option<&str>, name: &str, data: &str) -> Value {
    json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": namespace},
        "data": {"text": data}})
}

/// Text that does not compress.
fn noise(length: usize, seed: u64) -> String {
    let mut state = seed | 1;
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend(state.to_le_bytes());
    }
    STANDARD.encode(&bytes[..length])
}

type ByNamespace = BTreeMap<String, Vec<Value>>;

fn by_namespace(parts: &[StoredPart]) -> (Vec<Value>, ByNamespace) {
    let mut all = ByNamespace::new();
    for part in parts {
        assert_eq!(part.manifest["metadata"]["namespace"], part.namespace.as_str());
        assert_eq!(part.manifest["metadata"]["name"], part.name.as_str());
        all.entry(part.namespace.clone()).or_default().push(part.manifest.clone());
    }
    (all.remove("shop").unwrap(), all)
}

#[test]
fn a_small_release_is_one_secret_whose_metadata_says_all() {
    let release = release(7, vec![object("ConfigMap", Some("shop"), "a", "b")]);
    let (parts, summary) = release.encode(&names()).unwrap();
    assert_eq!(parts.len(), 1);
    let mut manifest = parts[0].manifest.clone();
    assert!(summary.bytes > 0);
    manifest["data"]["release"] = "[data]".into();
    let mut text: Value =
        serde_json::from_str(manifest["metadata"]["annotations"][SUMMARY].as_str().unwrap())
            .unwrap();
    text["bytes"] = "[bytes]".into();
    manifest["metadata"]["annotations"][SUMMARY] = text;
    insta::assert_json_snapshot!(manifest, @r#"
    {
      "apiVersion": "v1",
      "data": {
        "release": "[data]"
      },
      "immutable": true,
      "kind": "Secret",
      "metadata": {
        "annotations": {
          "mcd.dev/release-parts": "{\"here\":1}",
          "mcd.dev/release-summary": {
            "bytes": "[bytes]",
            "commit": {
              "dirty": true,
              "id": "1a2b3c4d5e6f1a2b3c4d5e6f1a2b3c4d5e6f"
            },
            "mcd": "0.1.0",
            "number": 7,
            "objects": 1,
            "started": "2026-01-02T03:04:05Z",
            "state": "staged",
            "tool": {
              "name": "kustomize",
              "version": "5.8.2"
            },
            "who": {
              "host": "laptop",
              "user": "alice"
            }
          }
        },
        "labels": {
          "mcd.dev/release": "7",
          "mcd.dev/release-part": "1",
          "mcd.dev/release-state": "staged",
          "mcd.dev/state": "shop.web"
        },
        "name": "mcd-release.web.7",
        "namespace": "shop"
      },
      "type": "mcd.dev/release.v1"
    }
    "#);
    let head = Head::read(&parts[0].manifest).unwrap();
    assert_eq!(head.parts, PartCount { here: 1, elsewhere: BTreeMap::new() });
    assert!(head.summary.about.vars.is_empty(), "vars stay out of metadata");
    assert_eq!(head.summary.bytes, summary.bytes);
    let (here, elsewhere) = by_namespace(&parts);
    assert_eq!(Release::decode(7, &here, &elsewhere, &names()).unwrap(), release);
}

#[test]
fn a_large_release_is_split_under_the_limit() {
    let objects = vec![
        object("ConfigMap", Some("shop"), "a", &noise(900_000, 1)),
        object("ConfigMap", Some("shop"), "b", &noise(900_000, 2)),
    ];
    let release = release(7, objects);
    let (parts, summary) = release.encode(&names()).unwrap();
    let sizes: Vec<usize> = (parts.iter())
        .map(|p| STANDARD.decode(p.manifest["data"]["release"].as_str().unwrap()).unwrap().len())
        .collect();
    assert!(sizes.len() > 1 && sizes.iter().all(|size| *size <= MAX_DATA));
    assert_eq!(sizes.iter().sum::<usize>() as u64, summary.bytes);
    assert_eq!(parts[1].name, "mcd-release.web.7.2");
    let (here, elsewhere) = by_namespace(&parts);
    assert_eq!(Release::decode(7, &here, &elsewhere, &names()).unwrap(), release);
    let swapped: Vec<Value> = here.iter().rev().cloned().collect();
    assert!(Release::decode(7, &swapped, &elsewhere, &names()).is_err());
    assert!(Release::decode(7, &here[..1], &elsewhere, &names()).is_err());
}

#[test]
fn values_of_secrets_stay_in_their_namespace() {
    let objects = vec![
        object("Secret", Some("other"), "a", "elsewhere1"),
        object("ConfigMap", Some("other"), "b", "config"),
        object("Secret", Some("shop"), "c", "own"),
        object("Secret", Some("other"), "d", "elsewhere2"),
        object("Secret", None, "e", "none"),
    ];
    let release = release(7, objects);
    let (parts, _) = release.encode(&names()).unwrap();
    let names_of: Vec<_> = parts.iter().map(|p| (p.namespace.as_str(), p.name.as_str())).collect();
    assert_eq!(names_of, [("shop", "mcd-release.web.7"), ("other", "mcd-release.shop.web.7.1")]);
    let (here, elsewhere) = by_namespace(&parts);
    let own = join(&here).unwrap().to_string();
    assert!(own.contains("config") && !own.contains("elsewhere"), "{own}");
    assert!(join(&elsewhere["other"]).unwrap().to_string().contains("elsewhere2"));
    assert_eq!(Release::decode(7, &here, &elsewhere, &names()).unwrap(), release);
    let error = Release::decode(7, &here, &BTreeMap::new(), &names()).unwrap_err();
    assert!(error.to_string().contains("an object of it is missing"), "{error}");
}

#[test]
fn a_newer_release_and_another_one_are_refused() {
    let (parts, _) = release(7, Vec::new()).encode(&names()).unwrap();
    let (here, _) = by_namespace(&parts);
    let decode = |n, here: &[Value]| Release::decode(n, here, &BTreeMap::new(), &names());
    assert!(decode(7, &here).is_ok());
    assert!(decode(8, &here).unwrap_err().to_string().contains("another release"));
    assert!(decode(7, &[]).is_err());
    let mut newer = here.clone();
    newer[0]["type"] = "mcd.dev/release.v2".into();
    let error = decode(7, &newer).unwrap_err();
    assert_eq!(error.exit(), Exit::Blocked);
    insta::assert_snapshot!(error, @"us-east: Secret shop/mcd-release.web.7: release 7 was written by a newer mcd (schema 2; this one knows 1)");
}

#[test]
fn listed_metadata_is_grouped_by_release() {
    let big = vec![object("ConfigMap", Some("shop"), "a", &noise(1_500_000, 3))];
    let (mut seven, _) = release(7, big).encode(&names()).unwrap();
    let (eight, _) =
        release(8, vec![object("Secret", Some("x"), "s", "")]).encode(&names()).unwrap();
    let (nine, _) = release(9, Vec::new()).encode(&names()).unwrap();
    let head = seven.remove(0);
    let mut listed: Vec<Value> = (seven.iter().chain(&eight).chain(&nine))
        .filter(|part| part.namespace == "shop")
        .map(|part| part.manifest.clone())
        .collect();
    let mut failed = super::super::super::fixture::summary(9, ReleaseState::Failed);
    failed.message = Some("quota".repeat(1000));
    let patch = mark_patch(&failed);
    json_patch::merge(listed.last_mut().unwrap(), &patch);
    listed.push(json!({"metadata": {"name": "mcd.web", "labels": {}}}));
    let grouped = Stored::group(&listed);
    let numbers: Vec<_> = grouped.iter().map(|s| (s.number, s.head.is_some())).collect();
    assert_eq!(numbers, [(7, false), (8, true), (9, true)], "the head of 7 is gone");
    let head_of_nine = &grouped[2].head.as_ref().unwrap().summary;
    assert_eq!(head_of_nine.state, ReleaseState::Failed);
    assert_eq!(head_of_nine.message.as_ref().unwrap().len(), 2000);

    let shop = |name: &str| ("shop".to_owned(), name.to_owned());
    assert_eq!(
        grouped[1].to_delete(&names()),
        [("x".to_owned(), "mcd-release.shop.web.8.1".to_owned()), shop("mcd-release.web.8")]
    );
    listed.push(head.manifest);
    let whole = &Stored::group(&listed)[0];
    assert_eq!(
        whole.to_delete(&names()),
        [shop("mcd-release.web.7.2"), shop("mcd-release.web.7")],
        "the head goes last"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_release_comes_back_as_it_was(
        objects in prop::collection::vec((any::<bool>(), prop::option::of(0u8..3), 0usize..2_000), 0..40),
        huge in prop::option::weighted(0.2, 900_000usize..1_600_000),
    ) {
        let mut objects: Vec<Value> = objects.into_iter().enumerate().map(|(i, (secret, namespace, length))| {
            let namespace = namespace.map(|n| ["shop", "other", "third"][usize::from(n)]);
            object(if secret { "Secret" } else { "ConfigMap" }, namespace, &format!("o{i}"), &noise(length, i as u64))
        }).collect();
        if let Some(length) = huge {
            objects.push(object("Secret", Some("other"), "huge", &noise(length, 99)));
        }
        let release = release(3, objects);
        let (parts, summary) = release.encode(&names()).unwrap();
        let head = Head::read(&parts[0].manifest).unwrap();
        let (here, elsewhere) = by_namespace(&parts);
        prop_assert_eq!(head.parts.here as usize, here.len());
        prop_assert_eq!(summary.objects as usize, release.objects.len());
        let counted: BTreeMap<_, _> = elsewhere.iter().map(|(ns, l)| (ns.clone(), l.len() as u32)).collect();
        prop_assert_eq!(head.parts.elsewhere, counted);
        prop_assert_eq!(Release::decode(3, &here, &elsewhere, &names()).unwrap(), release);
    }
}
