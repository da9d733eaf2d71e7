//! How an object is applied where its annotations say so (design §6, "Per-object annotations").

use serde_json::Value;

use super::order::{ORDER, override_of};
use crate::error::Error;
use crate::manifest::Object;
use crate::suggest;

/// The annotation that says how an object is applied.
pub const APPLY: &str = "mcd.dev/apply";

/// The annotation of an object that nothing deletes.
pub const PROTECT: &str = "mcd.dev/protect";

/// How an object is applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Handling {
    /// By server-side apply beside other managers: what no annotation says.
    #[default]
    Shared,
    /// As a whole: fields that others have set go.
    Replace,
    /// Deleted and made anew where the server refuses a change because a field is immutable.
    Recreate,
    /// Made when it is absent, and never touched again.
    CreateOnly,
    /// Never sent, and not the application's.
    Ignore,
}

impl Handling {
    const WORDS: [(&'static str, Handling); 4] = [
        ("replace", Handling::Replace),
        ("recreate", Handling::Recreate),
        ("create-only", Handling::CreateOnly),
        ("ignore", Handling::Ignore),
    ];

    /// Reads it off a manifest, with `mcd.dev/protect` checked too.
    ///
    /// # Errors
    /// Exit 4 for a value that is none of the known ones.
    pub fn of(object: &Object) -> Result<Self, Error> {
        let annotation = |key: &str| object.value["metadata"]["annotations"].get(key);
        let unknown = |key: &str, value: &Value, known: &[&str]| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let error = Error::manifest(format!("the annotation `{key}` is `{text}`"))
                .on(&object.id)
                .because(format!("written in {}", object.origin));
            let list: Vec<String> = known.iter().map(|word| format!("`{word}`")).collect();
            let (last, rest) = list.split_last().map_or(("", &[][..]), |(l, r)| (l.as_str(), r));
            let list = match rest {
                [] => last.to_owned(),
                rest => format!("{} or {last}", rest.join(", ")),
            };
            error.hint(match suggest::nearest(&text, known.iter().copied()) {
                Some(meant) if known.len() > 1 => {
                    format!("did you mean `{meant}`? It takes {list}")
                }
                _ => format!("it takes {list}"),
            })
        };
        if let Some(value) = annotation(PROTECT).filter(|v| !v.is_null())
            && !matches!(value.as_str(), Some("true" | "false"))
        {
            return Err(unknown(PROTECT, value, &["true", "false"]));
        }
        let Some(value) = annotation(APPLY).filter(|v| !v.is_null()) else {
            return Ok(Handling::Shared);
        };
        let known = Self::WORDS.iter().find(|(word, _)| value.as_str() == Some(word));
        let Some((_, handling)) = known else {
            return Err(unknown(APPLY, value, &Self::WORDS.map(|(word, _)| word)));
        };
        // With these everything goes that is in them, of whomever.
        let homes = ["Namespace", "CustomResourceDefinition", "PersistentVolume"];
        if *handling == Handling::Recreate && homes.contains(&object.gvk.kind.as_str()) {
            let error = Error::manifest(format!("a {} is not recreated", object.gvk.kind));
            return Err(error
                .on(&object.id)
                .because(format!("`{APPLY}: recreate` is written in {}", object.origin))
                .hint("remove the annotation: with the object everything in it would go"));
        }
        Ok(*handling)
    }

    /// The annotation's value; empty for what no annotation says.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, handling)| *handling == self).map_or("", |(word, _)| word)
    }
}

/// What all annotations that are mcd's begin with.
const OURS: &str = "mcd.dev/";

/// Checks the annotations of a manifest that are mcd's.
///
/// # Errors
/// Exit 4 for a value that is none of the known ones, and for a name that is unknown: somebody who
/// writes `mcd.dev/protcet` counts on it.
pub fn check_annotations(object: &Object) -> Result<Handling, Error> {
    let annotations = object.value["metadata"]["annotations"].as_object();
    let known = [APPLY, ORDER, PROTECT];
    let mut names = annotations.into_iter().flatten().map(|(name, _)| name.as_str());
    if let Some(name) = names.find(|name| name.starts_with(OURS) && !known.contains(name)) {
        let error = Error::manifest(format!("the annotation `{name}` is unknown"))
            .on(&object.id)
            .because(format!("written in {}", object.origin));
        return Err(error.hint(match suggest::nearest(name, known) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("there are `{}`", known.join("`, `")),
        }));
    }
    if let Err(text) = override_of(&object.value) {
        return Err(Error::manifest(format!("the annotation `{ORDER}` is `{text}`"))
            .on(&object.id)
            .because(format!("written in {}", object.origin))
            .hint("it takes a whole number: lower ones are written first"));
    }
    Handling::of(object)
}

/// Whether nothing may delete the object, as it is or as the manifest has it.
pub fn is_protected(object: &Value) -> bool {
    object["metadata"]["annotations"][PROTECT] == "true"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::manifest::Origin;

    fn read(kind: &str, annotations: Value) -> Result<Handling, String> {
        let value = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "a", "annotations": annotations}});
        let object = Object::new(value, Origin::default()).unwrap();
        Handling::of(&object).map_err(|e| format!("{e}; {}", e.hints().join("; ")))
    }

    #[test]
    fn unknown_names_are_told_with_what_was_meant() {
        let check = |annotations: Value| {
            let value = json!({"apiVersion": "v1", "kind": "Job", "metadata": {"name": "a", "annotations": annotations}});
            let object = Object::new(value, Origin::default()).unwrap();
            check_annotations(&object)
                .map_err(|e| format!("{}; {}", e.message(), e.hints().join("; ")))
        };
        assert_eq!(
            check(json!({"mcd.dev/apply": "replace", "other/x": "y"})),
            Ok(Handling::Replace)
        );
        let said = |name: &str| check(json!({name: "true"})).unwrap_err();
        assert_eq!(
            said("mcd.dev/protcet"),
            "the annotation `mcd.dev/protcet` is unknown; did you mean `mcd.dev/protect`?"
        );
        assert!(said("mcd.dev/aply").ends_with("did you mean `mcd.dev/apply`?"));
        assert!(
            said("mcd.dev/zzzzzzzzzzzz")
                .ends_with("there are `mcd.dev/apply`, `mcd.dev/order`, `mcd.dev/protect`")
        );
        assert!(said("mcd.dev/order").ends_with("lower ones are written first"));
    }

    #[test]
    fn each_annotation_and_what_is_none() {
        assert_eq!(read("Job", json!({})), Ok(Handling::Shared));
        assert_eq!(read("Job", json!({"mcd.dev/apply": null})), Ok(Handling::Shared));
        for (word, handling) in Handling::WORDS {
            assert_eq!(read("Job", json!({"mcd.dev/apply": word})), Ok(handling));
            assert_eq!(handling.word(), word);
        }
        assert_eq!(Handling::Shared.word(), "");
        let said = |annotations| read("Job", annotations).unwrap_err();
        let list = "`replace`, `recreate`, `create-only` or `ignore`";
        let text = said(json!({"mcd.dev/apply": "createonly"}));
        assert!(text.contains("the annotation `mcd.dev/apply` is `createonly`"), "{text}");
        assert!(text.contains(&format!("did you mean `create-only`? It takes {list}")), "{text}");
        assert!(said(json!({"mcd.dev/apply": ""})).contains(&format!("it takes {list}")));
        assert!(said(json!({"mcd.dev/apply": true})).contains("is `true`"));
        let text = said(json!({"mcd.dev/protect": "yes"}));
        assert!(text.contains("it takes `true` or `false`"), "{text}");
        assert_eq!(read("Job", json!({"mcd.dev/protect": "true"})), Ok(Handling::Shared));
    }

    #[test]
    fn what_holds_others_is_not_recreated() {
        for kind in ["Namespace", "CustomResourceDefinition", "PersistentVolume"] {
            let text = read(kind, json!({"mcd.dev/apply": "recreate"})).unwrap_err();
            assert!(text.contains("is not recreated"), "{text}");
            assert_eq!(read(kind, json!({"mcd.dev/apply": "replace"})), Ok(Handling::Replace));
        }
    }

    #[test]
    fn protected_is_only_what_says_true() {
        let object = |value: &str| json!({"metadata": {"annotations": {"mcd.dev/protect": value}}});
        assert!(is_protected(&object("true")));
        assert!(!is_protected(&object("false")) && !is_protected(&json!({})));
    }
}
