//! What the application's state is called in a target.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::config::{AppName, Target, TargetName};
use crate::manifest::ObjectId;

/// The label that members of an application carry (design §7). Its value is
/// [`StateNames::app_label`].
pub const APP_LABEL: &str = "mcd.dev/app";

/// The label that state Secrets carry, with the same value as [`APP_LABEL`]. It is another key, so
/// that the LIST of members by label never downloads megabytes of releases.
pub const STATE_LABEL: &str = "mcd.dev/state";

/// Where the state of an application is in a cluster: `shop/web`, or `mcd-system/shop.web` where
/// state has a namespace of its own. Field managers name applications like this.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct StatePlace {
    /// The namespace of the state.
    pub namespace: String,
    /// The application's namespace, where it is another.
    of: Option<String>,
    app: String,
}

impl StatePlace {
    /// The place of a record that is called `name` in a namespace; none when it is no record's name.
    pub fn of_record(namespace: &str, name: &str) -> Option<Self> {
        let (of, app) = match name.strip_prefix("mcd.")?.split_once('.') {
            Some((of, app)) => (Some(of), app),
            None => (None, name.strip_prefix("mcd.")?),
        };
        let is_label = |text: &str| {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        };
        let labels = [Some(namespace), of, Some(app)];
        labels.into_iter().flatten().all(is_label).then(|| StatePlace {
            namespace: namespace.to_owned(),
            of: of.map(str::to_owned),
            app: app.to_owned(),
        })
    }

    /// The application.
    pub fn app(&self) -> &str {
        &self.app
    }

    /// The application's namespace.
    pub fn app_namespace(&self) -> &str {
        self.of.as_deref().unwrap_or(&self.namespace)
    }
}

impl fmt::Display for StatePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.of {
            Some(of) => write!(f, "{}/{of}.{}", self.namespace, self.app),
            None => write!(f, "{}/{}", self.namespace, self.app),
        }
    }
}

impl TryFrom<String> for StatePlace {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let place = text
            .split_once('/')
            .and_then(|(namespace, base)| StatePlace::of_record(namespace, &format!("mcd.{base}")));
        place.ok_or_else(|| "expected NAMESPACE/APPLICATION, such as `shop/web`".to_owned())
    }
}

impl From<StatePlace> for String {
    fn from(place: StatePlace) -> String {
        place.to_string()
    }
}

/// The names under which a target's state is kept, and by which its members are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateNames {
    /// The target, for errors.
    pub target: TargetName,
    /// The application.
    pub app: AppName,
    /// The namespace of record, key, releases and lease.
    pub namespace: String,
    /// The value of [`APP_LABEL`]: `<stateNamespace>.<app>`, at most 63 characters.
    pub app_label: String,
    /// The field manager of everything that is written: `mcd:<stateNamespace>/<app>`, at most 128
    /// characters.
    pub manager: String,
    /// `<app>`, or `<namespace>.<app>` when `stateNamespace` is set.
    base: String,
}

impl StateNames {
    /// The names for a target.
    pub fn of(target: &Target) -> Self {
        let own = target.state_namespace_is_set.then_some(target.state_namespace.as_str());
        Self::new(&target.name, &target.app, &target.namespace, own)
    }

    /// The names for an application in a namespace, whose state has a namespace of its own or not.
    pub fn new(
        target: &TargetName,
        app: &AppName,
        namespace: &str,
        state_namespace: Option<&str>,
    ) -> Self {
        // With a namespace of its own for state, two deployments of one application into two
        // namespaces meet there; then every name carries the namespace.
        let base = match state_namespace {
            Some(_) => format!("{namespace}.{app}"),
            None => app.to_string(),
        };
        let state_namespace = state_namespace.unwrap_or(namespace);
        StateNames {
            target: target.clone(),
            app: app.clone(),
            namespace: state_namespace.to_owned(),
            app_label: bounded(&format!("{state_namespace}.{base}"), 63),
            // The server's bound on a field manager is 128 characters.
            manager: bounded(&format!("mcd:{state_namespace}/{base}"), 128),
            base,
        }
    }

    /// The names for the state at a place, whichever application of that target it is.
    pub fn at(target: &TargetName, place: &StatePlace) -> Self {
        let own = place.of.as_ref().map(|_| place.namespace.as_str());
        Self::new(target, &AppName::new(&place.app), place.app_namespace(), own)
    }

    /// Where it is.
    pub fn place(&self) -> StatePlace {
        let app = self.app.to_string();
        let of = self.base.strip_suffix(&format!(".{app}")).map(str::to_owned);
        StatePlace { namespace: self.namespace.clone(), of, app }
    }

    /// The Secret with the record.
    pub fn record(&self) -> String {
        format!("mcd.{}", self.base)
    }

    /// The Secret with the key.
    pub fn key(&self) -> String {
        format!("mcd-key.{}", self.base)
    }

    /// The Lease.
    pub fn lease(&self) -> String {
        format!("mcd.{}", self.base)
    }

    /// The Secret with a part of a release, from 1. Only the first bears no part number.
    pub fn release(&self, number: u64, part: u32) -> String {
        let first = format!("mcd-release.{}.{number}", self.base);
        if part <= 1 { first } else { format!("{first}.{part}") }
    }

    /// The Secret, in another namespace, with a part of a release, from 1. It bears the state
    /// namespace, because two applications of one name may have Secrets in one namespace.
    pub fn release_elsewhere(&self, number: u64, part: u32) -> String {
        format!("mcd-release.{}.{}.{number}.{part}", self.namespace, self.base)
    }

    /// The identity of a state Secret, for errors.
    pub fn secret_id(&self, name: &str) -> ObjectId {
        ObjectId {
            group: String::new(),
            kind: "Secret".into(),
            namespace: Some(self.namespace.clone()),
            name: name.into(),
        }
    }

    /// The identity of the lease, for errors.
    pub fn lease_id(&self) -> ObjectId {
        ObjectId {
            group: "coordination.k8s.io".into(),
            kind: "Lease".into(),
            namespace: Some(self.namespace.clone()),
            name: self.lease(),
        }
    }

    /// The label selector of this application's members.
    pub fn member_selector(&self) -> String {
        format!("{APP_LABEL}={}", self.app_label)
    }

    /// The label selector of this application's state Secrets.
    pub fn state_selector(&self) -> String {
        format!("{STATE_LABEL}={}", self.app_label)
    }
}

/// `text`, or when it is longer than `max`: its start, `-` and 10 hex digits of its sha256. All of
/// `text` is ASCII (DNS labels, dots, a slash), so bytes are characters.
fn bounded(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let digest = Sha256::digest(text.as_bytes());
    let hex: String = digest.iter().take(5).map(|byte| format!("{byte:02x}")).collect();
    let start: String = text.chars().take(max - 11).collect();
    format!("{start}-{hex}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(app: &str, namespace: &str, state: Option<&str>) -> StateNames {
        StateNames::new(&TargetName::new("us-east"), &AppName::new(app), namespace, state)
    }

    #[test]
    fn names_are_those_of_the_design() {
        let names = named("web", "shop", None);
        assert_eq!(names.namespace, "shop");
        assert_eq!(names.app_label, "shop.web");
        assert_eq!(names.manager, "mcd:shop/web");
        assert_eq!(names.record(), "mcd.web");
        assert_eq!(names.key(), "mcd-key.web");
        assert_eq!(names.lease(), "mcd.web");
        assert_eq!(names.release(7, 1), "mcd-release.web.7");
        assert_eq!(names.release(7, 2), "mcd-release.web.7.2");
        assert_eq!(names.release_elsewhere(7, 1), "mcd-release.shop.web.7.1");
        assert_eq!(names.member_selector(), "mcd.dev/app=shop.web");
        assert_eq!(names.state_selector(), "mcd.dev/state=shop.web");
    }

    #[test]
    fn a_state_namespace_of_its_own_puts_the_namespace_into_every_name() {
        let names = named("web", "shop", Some("mcd-system"));
        assert_eq!(names.namespace, "mcd-system");
        assert_eq!(names.record(), "mcd.shop.web");
        assert_eq!(names.key(), "mcd-key.shop.web");
        assert_eq!(names.lease(), "mcd.shop.web");
        assert_eq!(names.release(7, 1), "mcd-release.shop.web.7");
        assert_eq!(names.app_label, "mcd-system.shop.web");
        assert_eq!(names.manager, "mcd:mcd-system/shop.web");
        let other = named("web", "blog", Some("mcd-system"));
        assert_ne!(names.app_label, other.app_label);
        assert_ne!(names.manager, other.manager);
        assert_ne!(names.record(), other.record());
    }

    #[test]
    fn places_are_read_as_they_are_written() {
        for (names, text) in [
            (named("web", "shop", None), "shop/web"),
            (named("web", "shop", Some("mcd-system")), "mcd-system/shop.web"),
        ] {
            let place = names.place();
            assert_eq!(place.to_string(), text);
            assert_eq!(StatePlace::try_from(text.to_owned()), Ok(place.clone()));
            assert_eq!(StateNames::at(&TargetName::new("us-east"), &place), names);
            assert_eq!(
                StatePlace::of_record(&names.namespace, &names.record()),
                Some(place.clone())
            );
            assert_eq!((place.app(), place.app_namespace()), ("web", "shop"));
            assert!(names.manager.ends_with(text), "{}", names.manager);
        }
        for wrong in ["shop", "shop/", "/web", "shop/a.b.c", "shop/web/x", ""] {
            assert!(StatePlace::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
        assert_eq!(StatePlace::of_record("shop", "mcd-key.web"), None);
    }

    #[test]
    fn a_long_label_keeps_52_characters_and_a_digest() {
        let namespace = "n".repeat(63);
        let names = named("web", &namespace, None);
        assert_eq!(names.app_label.len(), 63);
        assert_eq!(&names.app_label[..53], format!("{}-", "n".repeat(52)));
        let other = named("api", &namespace, None);
        assert_ne!(names.app_label, other.app_label, "the digest is over the whole name");
        let app = "a".repeat(40);
        let names = named(&app, &namespace, Some(&"s".repeat(63)));
        assert!(names.manager.len() <= 128);
        assert!(names.release_elsewhere(u64::MAX, 99).len() <= 253);
    }
}
