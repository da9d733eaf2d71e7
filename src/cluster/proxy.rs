//! Which proxy a server is reached through: the cluster's `proxy-url`, else HTTPS_PROXY, HTTP_PROXY
//! and NO_PROXY by Go's rules, as in kubectl. Pure.

use std::net::IpAddr;

use http::Uri;

use super::connect::Environment;

/// The proxy for `server`; the error never holds the proxy's credentials.
pub(super) fn proxy_for(
    server: &Uri,
    configured: Option<&str>,
    environment: &Environment,
) -> Result<Option<Uri>, String> {
    if let Some(url) = configured.filter(|url| !url.is_empty()) {
        return parse(url).map(Some).ok_or("its `proxy-url` is not a URL".to_owned());
    }
    let (name, value) = if server.scheme_str() == Some("http") {
        ("HTTP_PROXY", &environment.http_proxy)
    } else {
        ("HTTPS_PROXY", &environment.https_proxy)
    };
    let Some(url) = value.as_deref().filter(|url| !url.is_empty()) else { return Ok(None) };
    if bypassed(server, environment.no_proxy.as_deref().unwrap_or_default()) {
        return Ok(None);
    }
    let url = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
    parse(&url).map(Some).ok_or(format!("the environment's {name} is not a URL"))
}

fn parse(url: &str) -> Option<Uri> {
    url.parse::<Uri>().ok().filter(|uri| uri.scheme().is_some() && uri.host().is_some())
}

/// Whether the environment's proxy does not count for `server`: loopback addresses never do.
fn bypassed(server: &Uri, no_proxy: &str) -> bool {
    let host = server.host().unwrap_or_default().to_lowercase();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let default = if server.scheme_str() == Some("http") { 80 } else { 443 };
    let port = server.port_u16().unwrap_or(default);
    let address = host.parse::<IpAddr>().ok();
    if host == "localhost" || address.is_some_and(|a| a.is_loopback()) {
        return true;
    }
    no_proxy.split(',').map(str::trim).filter(|entry| !entry.is_empty()).any(|entry| {
        if entry == "*" {
            return true;
        }
        if let Some(inside) = address.and_then(|address| in_range(address, entry)) {
            return inside;
        }
        let entry = entry.to_lowercase();
        let (name, wanted) = match entry.rsplit_once(':') {
            Some((name, digits)) if !name.contains(':') => (name, digits.parse::<u16>().ok()),
            _ => (entry.as_str(), None),
        };
        if wanted.is_some_and(|wanted| wanted != port) {
            return false;
        }
        let name = name.strip_prefix('*').unwrap_or(name);
        match name.strip_prefix('.') {
            Some(domain) => host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')),
            None => host == name || host.strip_suffix(name).is_some_and(|r| r.ends_with('.')),
        }
    })
}

/// Whether the address is in `10.0.0.0/8`. None: the entry is no range.
fn in_range(address: IpAddr, entry: &str) -> Option<bool> {
    let (base, length) = entry.split_once('/')?;
    let (base, length) = (base.parse::<IpAddr>().ok()?, length.parse::<u32>().ok()?);
    let (a, b, width) = match (address, base) {
        (IpAddr::V4(a), IpAddr::V4(b)) => (u128::from(a.to_bits()), u128::from(b.to_bits()), 32),
        (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits(), b.to_bits(), 128),
        _ => return Some(false),
    };
    let shift = width - length.min(width);
    Some(a.checked_shr(shift).unwrap_or(0) == b.checked_shr(shift).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(server: &str, no_proxy: &str) -> bool {
        let environment = Environment {
            https_proxy: Some("proxy.example:3128".into()),
            no_proxy: Some(no_proxy.into()),
            ..Environment::default()
        };
        proxy_for(&server.parse().unwrap(), None, &environment).unwrap().is_some()
    }

    #[test]
    fn no_proxy_follows_gos_rules() {
        let cases = [
            ("https://api.example.com:6443", "", true),
            ("https://127.0.0.1:6443", "", false),
            ("https://localhost:6443", "", false),
            ("https://api.example.com", "*", false),
            ("https://api.example.com", "example.com", false),
            ("https://example.com", ".example.com", true),
            ("https://api.example.com", ".example.com", false),
            ("https://api.example.com", "*.example.com", false),
            ("https://notexample.com", "example.com", true),
            ("https://10.1.2.3:6443", "10.0.0.0/8", false),
            ("https://11.1.2.3:6443", "10.0.0.0/8, 11.1.2.3", false),
            ("https://11.1.2.3:6443", "10.0.0.0/8", true),
            ("https://api.example.com:6443", "api.example.com:443", true),
            ("https://api.example.com:6443", "api.example.com:6443", false),
            ("https://[fd00::1]:6443", "fd00::/8", false),
            ("http://api.example.com", "", false),
        ];
        for (server, no_proxy, expected) in cases {
            assert_eq!(through(server, no_proxy), expected, "{server} with {no_proxy:?}");
        }
    }

    #[test]
    fn proxy_url_wins_and_its_credentials_stay_out_of_errors() {
        let server = "https://127.0.0.1:6443".parse().unwrap();
        let none = Environment::default();
        let proxy = proxy_for(&server, Some("socks5://p:1080"), &none).unwrap().unwrap();
        assert_eq!(proxy.to_string(), "socks5://p:1080/");
        let error = proxy_for(&server, Some("me:hunter2 @p"), &none).unwrap_err();
        assert!(!error.contains("hunter2"), "{error}");
    }
}
