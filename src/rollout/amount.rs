//! A number, or a share of a whole. Pure.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A share in whole percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Percent(pub u32);

/// A number, or a share of a whole: `3`, `20%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Amount {
    /// So many.
    Count(u32),
    /// So much of the whole.
    Percent(Percent),
}

impl Amount {
    /// Reads `3` or `20%`.
    ///
    /// # Errors
    /// What was expected, as a fragment.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is neither a number nor a percentage such as `20%`");
        match text.trim().strip_suffix('%') {
            Some(share) => share.parse().map(|n| Amount::Percent(Percent(n))).map_err(|_| wrong()),
            None => text.trim().parse().map(Amount::Count).map_err(|_| wrong()),
        }
    }

    /// Of a whole, rounded up.
    pub fn ceiling_of(self, whole: u32) -> u32 {
        match self {
            Amount::Count(n) => n,
            Amount::Percent(Percent(share)) => of(share, whole, 99),
        }
    }

    /// Of a whole, rounded down.
    pub fn floor_of(self, whole: u32) -> u32 {
        match self {
            Amount::Count(n) => n,
            Amount::Percent(Percent(share)) => of(share, whole, 0),
        }
    }
}

fn of(share: u32, whole: u32, up: u64) -> u32 {
    let part = (u64::from(share) * u64::from(whole)).saturating_add(up) / 100;
    u32::try_from(part).unwrap_or(u32::MAX)
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Count(n) => f.pad(&n.to_string()),
            Amount::Percent(Percent(share)) => f.pad(&format!("{share}%")),
        }
    }
}

impl From<Amount> for String {
    fn from(amount: Amount) -> Self {
        amount.to_string()
    }
}

impl TryFrom<String> for Amount {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Amount::parse(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_round_up_or_down() {
        let rows = [("20%", 3, 1, 0), ("50%", 3, 2, 1), ("100%", 7, 7, 7), ("1%", 0, 0, 0)];
        for (text, whole, up, down) in rows {
            let amount = Amount::parse(text).unwrap();
            assert_eq!((amount.ceiling_of(whole), amount.floor_of(whole)), (up, down), "{text}");
            assert_eq!(amount.to_string(), text);
        }
        assert_eq!(Amount::parse("4").unwrap().ceiling_of(1), 4);
        assert_eq!(Amount::parse("4294967295%").unwrap().floor_of(u32::MAX), u32::MAX);
        for text in ["", "%", "-1", "1.5", "20 %%", "x"] {
            assert!(Amount::parse(text).is_err(), "{text}");
        }
    }
}
