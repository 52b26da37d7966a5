//! URL patterns: `[scheme://]host[:port][/path-prefix]`.

use super::{Kind, list, word::WORD};
use crate::diag::{Code, Diagnostic, quoted};
use crate::endpoint::{Key, KeyKind};
use crate::lower::Context;
use crate::matchers::url::UrlPattern;
use crate::parse::Node;
use crate::source::Spanned;

pub(crate) const KIND: Kind = Kind {
    kind: KeyKind::Urls,
    takes: "a list of URL patterns",
    doc: "A list of `[scheme://]host[:port][/path-prefix]`. The host may begin with `*.`; there is no other wildcard. \
          Without a scheme both `http` and `https` are meant.",
    read: |cx, key, node| list::read(cx, key, KIND.takes, node, element),
    schema,
};

fn schema(_: Key) -> serde_json::Value {
    let label = format!("{WORD}+");
    let host = format!(r"((\*\.)?{label}(\.{label})*\.?|\[[0-9A-Fa-f:.]+\])");
    let pattern = format!(r"^([Hh][Tt][Tt][Pp][Ss]?://)?{host}(:[1-9][0-9]{{0,4}})?(/[^*?#\s\u0000]*)?$");
    list::schema(serde_json::json!({ "type": "string", "pattern": pattern }))
}

/// Why a text is no URL pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Scheme,
    Host,
    Port,
    Wildcard,
    UserInfo,
    Query,
    Network,
    Space,
}

impl Fault {
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Scheme => ("has no usable scheme", "the schemes are `http` and `https`"),
            Self::Host => {
                ("has no usable host", "write a host name or an address, such as `example.com` or `[::1]`")
            }
            Self::Port => ("has no usable port", "a port is a number from 1 to 65535"),
            Self::Wildcard => {
                ("has a `*` that is no wildcard", "a host may begin with `*.`, and nothing else may vary")
            }
            Self::UserInfo => ("names a user", "write the host without `user@`"),
            Self::Query => ("has a query or a fragment", "only a prefix of the path is compared"),
            Self::Network => {
                ("looks like a network", "patterns name hosts: see `block_private_networks` for networks")
            }
            Self::Space => ("contains a space", "write it as it stands in a URL"),
        }
    }
}

fn element(cx: &mut Context<'_>, key: Key, node: Node<'_>) -> Option<Spanned<String>> {
    let text = list::text(cx, key, node)?;
    // The reader of the compiler has the last word, so that nothing that passes here fails there.
    let read = check(&text.value).and_then(|()| UrlPattern::parse(&text.value).map_err(|_| Fault::Host));
    let Err(fault) = read else { return Some(text.spanned()) };
    let (why, help) = fault.words();
    let report = match fault {
        Fault::Wildcard => {
            let message = format!("{} in `{}` {why}", quoted(&text.value), key.as_str());
            Diagnostic::new(Code::InvalidGlob, message).at(text.span)
        }
        _ => list::refused(key, &text, why),
    };
    cx.emit(report.help(help));
    None
}

fn check(pattern: &str) -> Result<(), Fault> {
    if pattern.contains(|c: char| c.is_whitespace() || c == '\0') {
        return Err(Fault::Space);
    }
    let rest = match pattern.split_once("://") {
        Some((scheme, rest))
            if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https") =>
        {
            rest
        }
        Some(_) => return Err(Fault::Scheme),
        None => pattern,
    };
    let (authority, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
    if pattern.contains(['?', '#']) {
        return Err(Fault::Query);
    }
    if authority.contains('@') {
        return Err(Fault::UserInfo);
    }
    let host = without_port(authority)?;
    let exact = host.strip_prefix("*.").unwrap_or(host);
    if exact.contains('*') || path.is_some_and(|path| path.contains('*')) {
        return Err(Fault::Wildcard);
    }
    if !is_host(exact) {
        return Err(Fault::Host);
    }
    let digits = |path: &str| !path.is_empty() && path.bytes().all(|byte| byte.is_ascii_digit());
    let address = exact.parse::<std::net::Ipv4Addr>().is_ok() || exact.starts_with('[');
    if address && path.is_some_and(digits) {
        return Err(Fault::Network);
    }
    Ok(())
}

fn without_port(authority: &str) -> Result<&str, Fault> {
    let (host, port) = match authority.strip_prefix('[').and_then(|_| authority.split_once(']')) {
        Some((inner, after)) => {
            let host = authority.get(..=inner.len()).ok_or(Fault::Host)?;
            match after.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None if after.is_empty() => (host, None),
                None => return Err(Fault::Host),
            }
        }
        None => authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port))),
    };
    let valid = |port: &str| {
        let digits = !port.starts_with('0') && port.bytes().all(|byte| byte.is_ascii_digit());
        digits && port.parse::<u16>().is_ok()
    };
    if port.is_none_or(valid) { Ok(host) } else { Err(Fault::Port) }
}

fn is_host(host: &str) -> bool {
    if let Some(inner) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return inner.parse::<std::net::Ipv6Addr>().is_ok();
    }
    let label = |label: &str| {
        !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
    };
    host.strip_suffix('.').unwrap_or(host).split('.').all(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, wanted) in [
            ("example.com", Ok(())),
            ("*.example.com", Ok(())),
            ("https://example.com:8443/docs/", Ok(())),
            ("HTTP://localhost", Ok(())),
            ("127.0.0.1:8080", Ok(())),
            ("[::1]:80/x", Ok(())),
            ("bücher.example", Ok(())),
            ("example.com.", Ok(())),
            ("10.0.0.1/8a", Ok(())),
            ("ftp://example.com", Err(Fault::Scheme)),
            ("://x", Err(Fault::Scheme)),
            ("", Err(Fault::Host)),
            ("/path", Err(Fault::Host)),
            ("https://", Err(Fault::Host)),
            ("a..b", Err(Fault::Host)),
            ("[::g]", Err(Fault::Host)),
            ("*.[::1]", Err(Fault::Port)),
            ("::1", Err(Fault::Port)),
            ("example.com:0", Err(Fault::Port)),
            ("example.com:99999", Err(Fault::Port)),
            ("example.com:", Err(Fault::Port)),
            ("*", Err(Fault::Wildcard)),
            ("api.*.com", Err(Fault::Wildcard)),
            ("*example.com", Err(Fault::Wildcard)),
            ("*.*.com", Err(Fault::Wildcard)),
            ("example.com/*", Err(Fault::Wildcard)),
            ("user@example.com", Err(Fault::UserInfo)),
            ("example.com/?q", Err(Fault::Query)),
            ("10.0.0.0/8", Err(Fault::Network)),
            ("exa mple.com", Err(Fault::Space)),
        ] {
            assert_eq!(check(pattern), wanted, "{pattern:?}");
        }
    }
}
