use proptest::prelude::*;
use serde_json::json;

use super::*;

const LABEL: &str = "shop.web";
const MANAGER: &str = "mcd:shop/web";

fn id(text: &str) -> ObjectId {
    let parts: Vec<&str> = text.split('/').collect();
    let [group, kind, namespace, name] = parts[..] else { panic!("{text}") };
    ObjectId {
        group: group.to_owned(),
        kind: kind.to_owned(),
        namespace: (!namespace.is_empty()).then(|| namespace.to_owned()),
        name: name.to_owned(),
    }
}

fn resource(id: &ObjectId) -> Resource {
    let plural = format!("{}s", id.kind.to_lowercase());
    let gvk = Gvk { group: id.group.clone(), version: "v1".into(), kind: id.kind.clone() };
    Resource::new(gvk, &plural, id.namespace.is_some())
}

fn rules(besides: Besides, whole: bool) -> Rules<'static> {
    Rules {
        app_label: LABEL,
        manager: MANAGER,
        former: None,
        state_namespace: "shop",
        besides,
        whole,
    }
}

const ALL: Besides = Besides { namespaces: true, definitions: true, volumes: true };

fn ours(uid: &str) -> Value {
    json!({"metadata": {
        "uid": uid,
        "labels": {"mcd.dev/app": LABEL},
        "managedFields": [{"manager": MANAGER, "operation": "Apply", "apiVersion": "v1",
            "fieldsV1": {"f:data": {}}}],
    }})
}

fn live(text: &str, uid: Option<&str>, object: Value) -> Candidate {
    let id = id(text);
    let found = Found::Live(Box::new((resource(&id), object)));
    Candidate { id, uid: uid.map(str::to_owned), protected: false, found }
}

fn other(text: &str, found: Found) -> Candidate {
    Candidate { id: id(text), uid: Some("1".into()), protected: false, found }
}

/// A line each: `- name`, `= name: why`, `. name: why`, `? name`.
fn told(sweep: &Sweep) -> Vec<String> {
    let delete = sweep.delete.iter().map(|c| format!("- {}", c.id));
    let kept = sweep.kept.iter().map(|(id, why)| format!("= {id}: {why}"));
    let gone = sweep.gone.iter().map(|(id, why)| format!(". {id}: {why}"));
    let unread = sweep.unread.iter().map(|e| format!("? {e}"));
    delete.chain(kept).chain(gone).chain(unread).collect()
}

fn swept(candidates: Vec<Candidate>, besides: Besides, whole: bool) -> Vec<String> {
    told(&sweep(candidates, &rules(besides, whole), &[]))
}

#[test]
fn each_reason() {
    let with = |path: [&str; 2], value: Value| {
        let mut object = ours("1");
        object[path[0]][path[1]] = value;
        object
    };
    let owner = json!([{"kind": "ReplicaSet", "name": "web-1", "uid": "7"}]);
    let mut unlabelled = ours("1");
    unlabelled["metadata"]["labels"] = json!({});
    let mut of_another = ours("1");
    of_another["metadata"]["managedFields"][0]["manager"] = json!("mcd:shop/api");
    let cases = [
        (live("/ConfigMap/shop/a", Some("1"), ours("1")), "- ConfigMap shop/a"),
        (live("/ConfigMap/shop/a", None, ours("1")), "- ConfigMap shop/a"),
        // What someone took label or fields of is still the object that was applied.
        (live("/ConfigMap/shop/a", Some("1"), unlabelled.clone()), "- ConfigMap shop/a"),
        (
            live("/ConfigMap/shop/a", Some("2"), ours("1")),
            ". ConfigMap shop/a: recreated by someone since mcd applied it",
        ),
        (
            live("/ConfigMap/shop/a", None, unlabelled),
            ". ConfigMap shop/a: not made by this application",
        ),
        (
            live("/ConfigMap/shop/a", None, of_another),
            ". ConfigMap shop/a: not made by this application",
        ),
        (
            live("/ConfigMap/shop/a", Some("1"), with(["metadata", "ownerReferences"], owner)),
            "= ConfigMap shop/a: it belongs to ReplicaSet web-1, and goes with it",
        ),
        (
            live(
                "/ConfigMap/shop/a",
                Some("1"),
                with(["metadata", "annotations"], json!({"mcd.dev/protect": "true"})),
            ),
            "= ConfigMap shop/a: protected by the annotation mcd.dev/protect",
        ),
        (
            live(
                "/ConfigMap/shop/a",
                Some("1"),
                with(["metadata", "annotations"], json!({"mcd.dev/protect": "false"})),
            ),
            "- ConfigMap shop/a",
        ),
        (
            live("/PersistentVolumeClaim/shop/a", Some("1"), ours("1")),
            "= PersistentVolumeClaim shop/a: deleted only with --with-volumes",
        ),
        (
            live("/PersistentVolume//a", Some("1"), ours("1")),
            "= PersistentVolume a: deleted only with --with-volumes",
        ),
        (
            live("/Namespace//a", Some("1"), ours("1")),
            "= Namespace a: deleted only with --with-namespaces",
        ),
        (
            live("apiextensions.k8s.io/CustomResourceDefinition//a", Some("1"), ours("1")),
            "= CustomResourceDefinition a: deleted only with --with-definitions",
        ),
        // Only what the core group calls so.
        (live("example.com/Namespace/shop/a", Some("1"), ours("1")), "- Namespace shop/a"),
        (other("/ConfigMap/shop/a", Found::Gone), ". ConfigMap shop/a: gone from the cluster"),
        (
            other("example.com/Widget/shop/a", Found::Undefined),
            ". Widget shop/a: gone with its definition: the cluster does not serve its kind",
        ),
        (
            other(
                "batch/Job/shop/a",
                Found::Unread(Error::new(Exit::Unreachable, "`jane` may not get jobs")),
            ),
            "? Job shop/a: `jane` may not get jobs",
        ),
    ];
    for (candidate, expected) in cases {
        let asked = format!("{candidate:?}");
        assert_eq!(swept(vec![candidate], Besides::default(), false), [expected], "{asked}");
    }
}

/// Knative's Service and the core one are two objects (T12).
#[test]
fn kinds_of_one_name_are_told_apart() {
    let both = vec![
        live("/Service/shop/web", Some("1"), ours("1")),
        live("serving.knative.dev/Service/shop/web", Some("2"), ours("2")),
    ];
    let sweep = sweep(both, &rules(Besides::default(), false), &[]);
    let groups: Vec<_> =
        sweep.delete.iter().map(|c| (c.resource.gvk.group.as_str(), c.uid.as_str())).collect();
    assert_eq!(groups, [("serving.knative.dev", "2"), ("", "1")]);
}

#[test]
fn the_reverse_of_the_order_of_an_apply() {
    let first = json!({"metadata": {"uid": "1", "annotations": {"mcd.dev/order": "-5"}}});
    let all = vec![
        live("/ServiceAccount/shop/a", Some("1"), ours("1")),
        live("apps/Deployment/shop/a", Some("1"), ours("1")),
        live("/Namespace//other", Some("1"), ours("1")),
        live("/Service/shop/a", Some("1"), first),
        live("/ConfigMap/shop/b", Some("1"), ours("1")),
        live("/ConfigMap/shop/a", Some("1"), ours("1")),
    ];
    assert_eq!(
        swept(all, ALL, false),
        [
            "- Deployment shop/a",
            "- ConfigMap shop/b",
            "- ConfigMap shop/a",
            "- ServiceAccount shop/a",
            "- Namespace other",
            "- Service shop/a"
        ]
    );
}

/// What stays of two namespaces and a definition when the named objects do, as part of the set.
fn spared(stays: &[(&str, &str)], whole: bool) -> Vec<String> {
    let stays: Vec<(ObjectId, Resource)> = stays
        .iter()
        .map(|(text, plural)| {
            let id = id(text);
            let resource = Resource { plural: (*plural).to_owned(), ..resource(&id) };
            (id, resource)
        })
        .collect();
    let stays: Vec<(&ObjectId, Option<&Resource>)> =
        stays.iter().map(|(id, r)| (id, Some(r))).collect();
    let all = [
        "/Namespace//shop",
        "/Namespace//other",
        "apiextensions.k8s.io/CustomResourceDefinition//widgets.example.com",
        "/Service/shop/web",
    ];
    let all = all.map(|text| live(text, Some("1"), ours("1"))).into();
    let sweep = sweep(all, &rules(ALL, whole), &stays);
    assert_eq!(sweep.delete.len() + sweep.kept.len(), 4);
    sweep.kept.into_iter().map(|(id, why)| format!("{}: {why}", id.name)).collect()
}

#[test]
fn what_holds_something_that_stays_stays_too() {
    let record = "shop: the record of what stays would go with it";
    assert_eq!(spared(&[], true), [""; 0]);
    // The record outlives an apply, whatever else stays.
    assert_eq!(spared(&[], false), [record]);
    assert_eq!(
        spared(&[("/Service/shop/a", "services")], true),
        ["shop: Service shop/a would go with it"]
    );
    assert_eq!(
        spared(&[("/Service/other/a", "services")], true),
        ["other: Service other/a would go with it", record]
    );
    assert_eq!(
        spared(&[("example.com/Widget//a", "widgets")], false),
        [record, "widgets.example.com: Widget a would go with it"]
    );
    // Of another group, or of another namespace: only the record is at stake.
    assert_eq!(spared(&[("example.org/Widget/x/a", "widgets")], false), [record]);
}

/// What stays for its own reason, or could not be read, holds its home too.
#[test]
fn what_is_kept_or_unread_holds_its_namespace() {
    let unread = Found::Unread(Error::new(Exit::Unreachable, "may not get"));
    let told = swept(
        vec![
            live("/PersistentVolumeClaim/data/a", Some("1"), ours("1")),
            other("batch/Job/jobs/a", unread),
            live("/Namespace//data", Some("1"), ours("1")),
            live("/Namespace//jobs", Some("1"), ours("1")),
        ],
        Besides { volumes: false, ..ALL },
        false,
    );
    assert_eq!(
        told,
        [
            "= Namespace data: PersistentVolumeClaim data/a would go with it",
            "= Namespace jobs: Job jobs/a would go with it",
            "= PersistentVolumeClaim data/a: deleted only with --with-volumes",
            "? Job jobs/a: may not get"
        ]
    );
}

#[test]
fn a_whole_application_takes_what_has_an_owner_and_leaves_what_is_anothers() {
    let mut owned = ours("1");
    owned["metadata"]["ownerReferences"] = json!([{"kind": "Db", "name": "a", "uid": "7"}]);
    let told = swept(
        vec![
            live("/ConfigMap/shop/a", Some("1"), owned),
            live("/ConfigMap/shop/b", Some("2"), ours("1")),
        ],
        Besides::default(),
        true,
    );
    assert_eq!(
        told,
        ["- ConfigMap shop/a", "= ConfigMap shop/b: recreated by someone since mcd applied it"]
    );
}

/// What `going` of `inventory` objects come to, with `set` in the manifests.
fn decided(going: usize, inventory: usize, set: usize, options: PruneOptions) -> Prune {
    let all = (0..going).map(|n| live(&format!("/ConfigMap/shop/{n}"), Some("1"), ours("1")));
    prune(sweep(all.collect(), &rules(ALL, false), &[]), options, inventory, set)
}

#[test]
fn much_at_once_is_confirmed_first() {
    let cases: [(usize, usize, usize, Option<&str>); 7] = [
        (0, 3, 0, None),
        (1, 2, 1, None),
        (2, 4, 4, None),
        (
            3,
            5,
            2,
            Some(
                "3 of 5 objects would be deleted: more than half of what the application owns left the manifests",
            ),
        ),
        (
            1,
            1,
            1,
            Some(
                "1 of 1 objects would be deleted: more than half of what the application owns left the manifests",
            ),
        ),
        (1, 3, 0, Some("1 of 3 objects would be deleted: the manifests are empty")),
        (3, 3, 0, Some("3 of 3 objects would be deleted: the manifests are empty")),
    ];
    for (going, inventory, set, expected) in cases {
        let decided = decided(going, inventory, set, PruneOptions::default());
        assert_eq!(decided.sweep.delete.len(), going);
        assert_eq!(decided.blocked.as_ref().map(|e| format!("{e:#}")).as_deref(), expected);
        if let Some(error) = decided.blocked {
            assert_eq!(error.exit(), Exit::Blocked);
            assert!(error.hints()[0].contains("--allow-prune-all"));
        }
    }
}

#[test]
fn flags_that_let_all_go_or_none() {
    let all = PruneOptions { all: true, ..PruneOptions::default() };
    assert!(decided(3, 3, 0, all).blocked.is_none());
    let keep = PruneOptions { keep: true, ..PruneOptions::default() };
    let kept = decided(3, 3, 0, keep);
    assert!(kept.blocked.is_none() && kept.sweep.delete.is_empty());
    assert_eq!(told(&kept.sweep)[0], "= ConfigMap shop/0: --prune=false");
    assert_eq!(kept.left().count(), 3);
}

proptest! {
    /// Whatever there is: each candidate gets one verdict, and nothing goes that is protected, of
    /// another uid, or that would take along what stays.
    #[test]
    fn nothing_is_lost_and_nothing_of_others_goes(
        objects in prop::collection::vec((0usize..5, 0usize..3, 0u8..6), 1..20),
        besides in (any::<bool>(), any::<bool>(), any::<bool>()),
        whole in any::<bool>(),
    ) {
        let kinds = ["/ConfigMap/a", "/ConfigMap/b", "/Namespace/", "/PersistentVolumeClaim/a",
            "apps/Deployment/b"];
        let names = ["a", "b", "c"];
        let mut candidates = BTreeMap::new();
        for (kind, name, how) in objects {
            let text = format!("{}/{}", kinds[kind], names[name]);
            let mut object = ours("1");
            let candidate = match how {
                0 => live(&text, Some("1"), object),
                1 => live(&text, Some("2"), object),
                2 => {
                    object["metadata"]["annotations"] = json!({"mcd.dev/protect": "true"});
                    live(&text, Some("1"), object)
                }
                3 => other(&text, Found::Gone),
                4 => other(&text, Found::Unread(Error::new(Exit::Unreachable, "x"))),
                _ => live(&text, None, json!({"metadata": {"uid": "1"}})),
            };
            candidates.insert(candidate.id.clone(), (how, candidate));
        }
        let hows: BTreeMap<ObjectId, u8> =
            candidates.iter().map(|(id, (how, _))| (id.clone(), *how)).collect();
        let besides = Besides { namespaces: besides.0, definitions: besides.1, volumes: besides.2 };
        let count = candidates.len();
        let swept =
            sweep(candidates.into_values().map(|(_, c)| c).collect(), &rules(besides, whole), &[]);
        let judged =
            swept.delete.len() + swept.kept.len() + swept.gone.len() + swept.unread.len();
        prop_assert_eq!(judged, count);
        let stays: BTreeSet<&ObjectId> = swept.kept.iter().map(|(id, _)| id)
            .chain(swept.unread.iter().filter_map(Error::object)).collect();
        for condemned in &swept.delete {
            prop_assert_eq!(hows[&condemned.id], 0);
            prop_assert!(besides.guard(&condemned.id).is_none());
            prop_assert!(!stays.iter().any(|id|
                id.namespace.as_ref().is_some_and(|ns| namespace(ns) == condemned.id)));
        }
    }
}

/// What another deployer has taken over stays, unless the mark is the application's own.
#[test]
fn what_another_deployer_holds_stays() {
    let mut marked = ours("1");
    marked["metadata"]["annotations"] = json!({"meta.helm.sh/release-name": "web"});
    let name = "/ConfigMap/shop/a";
    for whole in [false, true] {
        assert_eq!(
            swept(vec![live(name, Some("1"), marked.clone())], ALL, whole),
            ["= ConfigMap shop/a: it is deployed by helm (release web) now"]
        );
    }
    marked["metadata"]["managedFields"][0]["fieldsV1"] =
        json!({"f:metadata": {"f:annotations": {"f:meta.helm.sh/release-name": {}}}});
    assert_eq!(swept(vec![live(name, Some("1"), marked)], ALL, true), ["- ConfigMap shop/a"]);
}
