//! What to do about what helm says of a repository or a registry. Pure.

use super::access::{Access, host};

/// What to do next, if helm's words are known.
pub(super) fn advice(said: &str, url: &str, access: &Access) -> Option<String> {
    let said = said.to_lowercase();
    let any = |words: &[&str]| words.iter().any(|word| said.contains(word));
    let is_oci = url.starts_with("oci://");
    let advice = if any(&["401", "403", "unauthorized", "forbidden", "denied", "credential"]) {
        match access.variables() {
            Some((username, password)) => format!(
                "it refuses the login of `{username}` and `{password}`: check what they hold, and \
                 what that user may read"
            ),
            None => {
                let scheme = if is_oci { "oci" } else { "https" };
                let by_hand = match is_oci {
                    true => format!("log in by `helm registry login {}`", host(url)),
                    false => format!("log in by `helm repo add NAME {url} --username USER`"),
                };
                format!(
                    "it wants a login: {by_hand}, or name variables that hold one in the fleet: \
                     `chartRepositories: [{{url: \"{scheme}://{}\", usernameEnv: …, passwordEnv: \
                     …}}]`",
                    host(url)
                )
            }
        }
    } else if any(&["http response to https client"]) {
        format!(
            "it speaks plain HTTP: `chartRepositories: [{{url: \"oci://{}\", plainHttp: true}}]` \
             in the fleet allows that",
            host(url)
        )
    } else if any(&["x509", "certificate"]) {
        format!(
            "its certificate is not trusted: `chartRepositories: [{{url: …, caFile: ca.pem}}]` in \
             the fleet names the authority of `{}`",
            host(url)
        )
    } else if any(&["no such host", "connection refused", "timeout", "unreachable", "eof", "reset"])
    {
        format!("check the URL, and whether `{}` can be reached from here", host(url))
    } else if any(&["404"]) && !is_oci {
        format!("there is no `{url}/index.yaml`: check the URL of the repository")
    } else {
        return None;
    };
    Some(advice)
}

/// Whether helm says that there is no such version, or no such chart.
pub(super) fn is_missing(said: &str) -> bool {
    let said = said.to_lowercase();
    let words = ["not found", "could not locate a version", "no chart version", "no chart name"];
    words.iter().any(|word| said.contains(word)) && !said.contains("credential")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helms_words_are_known() {
        let (repo, oci) = ("https://a.example.com/x", "oci://r.example.com:5000/charts");
        let none = Access::default();
        let cases = [
            (
                "failed to fetch https://a.example.com/x/index.yaml : 401 Unauthorized",
                repo,
                "helm repo add NAME https://a.example.com/x",
            ),
            (
                "response status code 401: Unauthorized",
                oci,
                "helm registry login r.example.com:5000",
            ),
            ("response status code 403: denied: requested access", oci, "oci://r.example.com:5000"),
            ("GET \"https://r/v2/\": basic credential not found", oci, "it wants a login"),
            ("http: server gave HTTP response to HTTPS client", oci, "plainHttp: true"),
            (
                "tls: failed to verify certificate: x509: certificate signed by unknown authority",
                repo,
                "caFile",
            ),
            ("dial tcp: lookup a.example.com: no such host", repo, "can be reached"),
            ("dial tcp 127.0.0.1:1: connect: connection refused", oci, "can be reached"),
            (
                "failed to fetch https://a.example.com/x/index.yaml : 404 Not Found",
                repo,
                "index.yaml",
            ),
        ];
        for (said, url, wanted) in cases {
            let advice = advice(said, url, &none).unwrap_or_default();
            assert!(advice.contains(wanted), "{said}: {advice}");
        }
        assert_eq!(advice("something else", oci, &none), None);
    }

    #[test]
    fn what_is_missing() {
        for said in [
            "failed to perform \"FetchReference\" on source: r/web:9.9.9: not found",
            "Could not locate a version matching provided version string ^9",
            "chart \"web\" matching 9.9.9 not found in mcd index. (try 'helm repo update')",
        ] {
            assert!(is_missing(said), "{said}");
        }
        assert!(!is_missing("GET \"https://r/v2/\": basic credential not found"));
        assert!(!is_missing("connection refused"));
    }
}
