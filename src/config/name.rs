//! Names that are more than strings.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Takes a name that the configuration has checked.
            pub fn new(name: impl Into<String>) -> Self {
                $name(name.into())
            }
            /// The text of it.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

name! {
    /// The name of a target, which is that of its cluster in the fleet.
    TargetName
}
name! {
    /// The name of an application: a DNS label of at most 40 characters.
    AppName
}
