//! What is wrong with a server's certificate, in words that say what to do. Pure.

use jiff::Timestamp;
use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, Error, InvalidMessage};

use super::text::clean;

/// Why a connection is not trusted. It does not get better by trying again.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Distrust {
    /// What is wrong, as a fragment.
    pub(super) why: String,
    /// What to do.
    pub(super) next: &'static str,
}

/// Reads rustls' error.
pub(super) fn distrust(error: &Error) -> Distrust {
    let told = |why: String, next| Distrust { why, next };
    match error {
        Error::InvalidCertificate(why) => certificate(why),
        Error::AlertReceived(
            AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::CertificateRequired
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied,
        ) => told(
            "the server refuses the client certificate of the user".to_owned(),
            "renew `client-certificate-data` of the kubeconfig's user: fetch the kubeconfig anew",
        ),
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => told(
            "it does not answer by TLS".to_owned(),
            "see whether `server` of the kubeconfig's cluster is the address, and the port, of an \
             API server",
        ),
        other => told(
            clean(&other.to_string()),
            "see `certificate-authority-data` and `tls-server-name` of the kubeconfig's cluster",
        ),
    }
}

fn certificate(error: &CertificateError) -> Distrust {
    let told = |why: String, next| Distrust { why, next };
    match error {
        CertificateError::UnknownIssuer => told(
            "its certificate is signed by an authority that is not trusted".to_owned(),
            "see `certificate-authority-data` of the kubeconfig's cluster: it is another cluster's, \
             or the authority was renewed; fetch the kubeconfig anew",
        ),
        CertificateError::NotValidForName => told(
            "its certificate is for another name".to_owned(),
            "set `tls-server-name` of the kubeconfig's cluster to a name of the certificate",
        ),
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names: Vec<String> =
                presented.iter().map(|name| format!("`{}`", clean(plain(name)))).collect();
            let names = if names.is_empty() { "no name".to_owned() } else { names.join(", ") };
            told(
                format!("its certificate is for {names}, not for `{}`", clean(&expected.to_str())),
                "use one of its names in `server` of the kubeconfig's cluster, or set \
                 `tls-server-name` to one",
            )
        }
        CertificateError::Expired => expired(None),
        CertificateError::ExpiredContext { not_after, .. } => expired(Some(*not_after)),
        CertificateError::NotValidYet => early(None),
        CertificateError::NotValidYetContext { not_before, .. } => early(Some(*not_before)),
        other => told(
            format!("its certificate is not accepted: {}", clean(&other.to_string())),
            "see `certificate-authority-data` and `tls-server-name` of the kubeconfig's cluster",
        ),
    }
}

fn expired(at: Option<UnixTime>) -> Distrust {
    let when = at.and_then(time).map_or(String::new(), |time| format!(" on {time}"));
    Distrust {
        why: format!("its certificate expired{when}"),
        next: "have the server's certificate renewed; or set this machine's clock, if that is wrong",
    }
}

fn early(at: Option<UnixTime>) -> Distrust {
    let when = at.and_then(time).map_or(String::new(), |time| format!(" before {time}"));
    Distrust {
        why: format!("its certificate is not valid yet{when}"),
        next: "set this machine's clock, which is behind the server's",
    }
}

fn time(at: UnixTime) -> Option<Timestamp> {
    Timestamp::from_second(i64::try_from(at.as_secs()).ok()?).ok()
}

/// The name in `DnsName("localhost")`, `IpAddress(127.0.0.1)`.
fn plain(name: &str) -> &str {
    let inside = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    inside.unwrap_or(name).trim_matches('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_has_words_of_its_own() {
        let time = |seconds| UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds));
        let name = CertificateError::NotValidForNameContext {
            expected: "10.0.0.1".try_into().unwrap(),
            presented: vec!["DnsName(\"localhost\")".into(), "IpAddress(127.0.0.1)".into()],
        };
        let expired =
            CertificateError::ExpiredContext { time: time(2), not_after: time(1_700_000_000) };
        let cases = [
            (Error::InvalidCertificate(CertificateError::UnknownIssuer), "authority that is not"),
            (
                Error::InvalidCertificate(name),
                "is for `localhost`, `127.0.0.1`, not for `10.0.0.1`",
            ),
            (Error::InvalidCertificate(expired), "expired on 2023-11-14T22:13:20Z"),
            (Error::InvalidCertificate(CertificateError::NotValidYet), "is not valid yet"),
            (Error::AlertReceived(AlertDescription::UnknownCA), "refuses the client certificate"),
            (Error::InvalidMessage(InvalidMessage::InvalidContentType), "does not answer by TLS"),
        ];
        let mut hints = std::collections::BTreeSet::new();
        for (error, words) in cases {
            let told = distrust(&error);
            assert!(told.why.contains(words), "{told:?}");
            assert!(hints.insert(told.next), "{told:?}");
        }
    }
}
