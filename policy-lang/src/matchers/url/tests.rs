//! URL rules: hosts as a browser reads them, wildcards, networks.

use super::*;

fn rules(allow: Option<&[&str]>, deny: &[&str], block_private: bool) -> UrlRules {
    let read = |text: &&str| UrlPattern::parse(text).unwrap();
    UrlRules {
        allow: allow.map(|list| Allow { entries: list.iter().map(read).collect(), origin: ElementRef::BASE }),
        deny: deny.iter().map(read).map(|entry| (entry, ElementRef::BASE)).collect(),
        block_private: block_private.then_some(ElementRef::BASE),
    }
}

fn passes(rules: &UrlRules, url: &str) -> bool {
    Target::parse(url).is_some_and(|target| rules.refuses(&target, &[]).is_none())
}

#[test]
fn a_wildcard_covers_names_below_and_nothing_else() {
    let rules = rules(Some(&["https://*.ok.com"]), &[], false);
    for url in ["https://a.ok.com/", "https://a.b.ok.com/x", "HTTPS://A.OK.COM", "https://a.ok.com:443/"] {
        assert!(passes(&rules, url), "{url}");
    }
    for url in [
        "https://ok.com/",
        "https://ok.com.evil.com/",
        "https://evil-ok.com/",
        "https://a.ok.com:8443/",
        "http://a.ok.com/",
        "https://.ok.com/",
        "https://a.ok.com./",
    ] {
        assert!(!passes(&rules, url), "{url}");
    }
}

#[test]
fn the_host_is_the_one_that_a_browser_connects_to() {
    let rules = rules(Some(&["ok.com"]), &[], false);
    assert!(
        passes(&rules, "http://ok.com/")
            && passes(&rules, "https://ok.com:8443/x")
            && passes(&rules, "http:ok.com")
    );
    for url in [
        "http://ok.com@127.0.0.1/",
        "http://ok.com\\@127.0.0.1/",
        "http://ok.com%2eevil.com/",
        "http:evil.com",
        "http://ok.com./",
        "http://xn--k-jmb.com/",
        "http://оk.com/",
        "ok.com",
        "//ok.com/",
        "http://",
    ] {
        // A backslash is a slash to a browser, so what follows it is path.
        let backslash = url.contains('\\');
        assert_eq!(passes(&rules, url), backslash, "{url}");
    }
}

#[test]
fn only_http_and_https_are_opened() {
    let open = UrlRules::open();
    for url in [
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        " file:///etc/passwd",
        "\tfile:///etc/passwd",
        "view-source:http://ok.com",
        "chrome://version",
        "data:text/html,x",
        "blob:http://ok.com/x",
        "javascript:alert(1)",
        "ftp://ok.com/",
        "ws://ok.com/",
        "about:blank",
        "",
    ] {
        assert!(!passes(&open, url), "{url}");
    }
    assert!(passes(&open, "http://ok.com") && passes(&open, "HTTPS://ok.com"));
}

#[test]
fn private_networks_are_blocked_in_every_spelling() {
    let (open, blocked) = (UrlRules::open(), rules(None, &[], true));
    for url in [
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://0177.0.0.1/",
        "http://0x7f.1/",
        "http://127.1/",
        "http://①②⑦.⓪.⓪.①/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[64:ff9b:1::1]/",
        "http://[2002:7f00:1::]/",
        "http://localhost/",
        "http://LOCALHOST./",
        "http://a.localhost:3000/",
        "http://10.0.0.1/",
    ] {
        assert!(passes(&open, url), "{url}");
        assert!(!passes(&blocked, url), "{url}");
    }
    let public = Target::parse("http://ok.com/").unwrap();
    assert!(blocked.refuses(&public, &["8.8.8.8".parse().unwrap()]).is_none());
    assert!(blocked.refuses(&public, &["8.8.8.8".parse().unwrap(), "10.0.0.1".parse().unwrap()]).is_some());
}

#[test]
fn metadata_is_refused_unless_it_is_named() {
    let open = UrlRules::open();
    let urls = [
        "http://169.254.169.254/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://[fe80::1]/",
        "http://metadata.google.internal/",
    ];
    for url in urls {
        assert!(!passes(&open, url), "{url}");
        assert!(!passes(&rules(Some(&["ok.com", "*.google.internal"]), &[], false), url), "{url}");
    }
    assert!(passes(&rules(Some(&["169.254.169.254"]), &[], false), "http://169.254.169.254/latest"));
    let named = rules(Some(&["metadata.google.internal"]), &[], false);
    let target = Target::parse("http://metadata.google.internal/").unwrap();
    assert!(named.refuses(&target, &["169.254.169.254".parse().unwrap()]).is_none());
    // Naming an ordinary host does not name what it resolves to.
    let ordinary = Target::parse("http://ok.com/").unwrap();
    assert!(
        rules(Some(&["ok.com"]), &[], false)
            .refuses(&ordinary, &["169.254.169.254".parse().unwrap()])
            .is_some()
    );
}

#[test]
fn paths_and_ports_narrow_an_entry() {
    let rules = rules(Some(&["ok.com:8080/api/", "http://other.com:80"]), &[], false);
    for (url, wanted) in [
        ("http://ok.com:8080/api", true),
        ("http://ok.com:8080/api/x?y", true),
        ("http://ok.com:8080/apix", false),
        ("http://ok.com:8080/api/../x", false),
        ("http://ok.com/api", false),
        ("http://other.com/", true),
        ("https://other.com/", false),
    ] {
        assert_eq!(passes(&rules, url), wanted, "{url}");
    }
}

#[test]
fn a_deny_is_wide() {
    let rules = rules(None, &["*.evil.com", "evil.com", "ok.com/admin"], false);
    for url in [
        "http://evil.com./",
        "http://a.EVIL.com.",
        "http://ok.com/admin",
        "http://ok.com/%61dmin/x",
        "http://ok.com//Admin",
        "https://ok.com:9/x/../admin",
    ] {
        assert!(!passes(&rules, url), "{url}");
    }
    assert!(passes(&rules, "http://ok.com/administrator") && passes(&rules, "http://notevil.com/"));
}

#[test]
fn entries_that_mean_nothing_clear_are_refused() {
    use UrlPatternError as E;
    for (entry, wanted) in [
        ("https://a.*.com", E::Wildcard),
        ("*ok.com", E::Wildcard),
        ("*.*.com", E::Wildcard),
        ("ok.com/*", E::Wildcard),
        ("*.127.0.0.1", E::Wildcard),
        ("ftp://ok.com", E::Scheme),
        ("file:///x", E::Scheme),
        ("user@ok.com", E::User),
        ("ok.com:0", E::Port),
        ("ok.com:99999", E::Port),
        ("ok.com:x", E::Port),
        ("ok.com?x", E::Query),
        ("", E::Host),
        ("/x", E::Host),
        ("https://", E::Host),
        ("a b.com", E::Host),
    ] {
        assert_eq!(UrlPattern::parse(entry), Err(wanted), "{entry}");
    }
    assert!(UrlPattern::parse("[::1]:3000/x").is_ok());
}

#[test]
fn of_an_origin_only_host_port_and_scheme_are_judged() {
    let rules = rules(Some(&["https://ok.com/a", "other.com"]), &["other.com/b", "bad.ok.com"], false);
    for (url, wanted) in [
        ("https://ok.com/", true),
        ("https://ok.com:444/", false),
        ("http://ok.com/", false),
        ("https://other.com/", true),
        ("https://bad.ok.com/", false),
        ("https://third.com/", false),
    ] {
        let target = Target::parse(url).unwrap().origin();
        assert_eq!(rules.refuses(&target, &[]).is_none(), wanted, "{url}");
    }
    assert!(rules.name_paths() && !UrlRules::open().name_paths());
}

#[test]
fn of_a_path_that_is_never_seen_entries_with_paths_allow_nothing_and_deny_all() {
    let listed = rules(Some(&["https://ok.com/a", "other.com", "third.com"]), &["other.com/b"], false);
    let unlisted = rules(None, &["*.ok.com/secret", "https://tls.com/x", "port.com:8443/x"], false);
    for (rules, url, wanted) in [
        (&listed, "https://ok.com/a", false),
        (&listed, "https://other.com/", false),
        (&listed, "https://OTHER.com./c", false),
        (&listed, "https://third.com/b", true),
        (&listed, "https://fourth.com/", false),
        (&unlisted, "https://ok.com/secret", true),
        (&unlisted, "https://a.ok.com/", false),
        (&unlisted, "https://tls.com/", false),
        (&unlisted, "https://tls.com:444/", true),
        (&unlisted, "https://port.com/", true),
        (&unlisted, "https://port.com:8443/", false),
    ] {
        let target = Target::parse(url).unwrap().unseen();
        assert_eq!(rules.refuses(&target, &[]).is_none(), wanted, "{url}");
    }
}
