//! What holds of a request target whatever it is: its normal form, the door that it leads to, its query, and the path of
//! a file that it names. The fuzz target and the property tests ask the same.

use axum::http::Uri;
use policy_lang::endpoint::{Door, Listener, Method};
use policy_lang::paths;
use runtime::endpoint::Query;
use runtime::guard::{NormalPath, is_below};
use runtime::pipeline::normalize;
use runtime::routes::ROUTES;

const BASE: &[u8] = b"/home/user";

/// Takes some bytes for a target and asserts everything; panics where something does not hold.
pub(crate) fn check(bytes: &[u8]) {
    file(bytes);
    let Ok(uri) = Uri::try_from(bytes) else { return };
    let Ok(target) = normalize::target(&uri) else { return };
    let path = target.path();
    assert!(path.starts_with('/') && uri.path().starts_with(path), "{path:?} is no beginning of the target");
    assert!(path == "/" || !path.ends_with('/'), "{path:?} ends in a slash");
    assert!(!path.contains("//") && !path.contains(['\\', ';']), "{path:?} can be spelled otherwise");
    let lower = path.to_ascii_lowercase();
    assert!(
        !["%2f", "%2e", "%5c", "%00"].iter().any(|escape| lower.contains(escape)),
        "{path:?} hides a separator"
    );
    let again = path.parse::<Uri>().ok().and_then(|uri| normalize::target(&uri).ok());
    assert_eq!(again.as_ref().map(normalize::Target::path), Some(path), "a normal form is normal");
    doors(path);
    query(target.query());
}

/// A door is found for exactly the paths that its template spells, byte for byte.
fn doors(path: &str) {
    let Some(found) = ROUTES.find(path) else { return };
    assert!(found.methods().next().is_some(), "{path:?} leads nowhere");
    for listener in [Listener::Http, Listener::Pty] {
        for method in [Method::Get, Method::Head, Method::Post, Method::Delete] {
            let Some((leaf, parameters)) = found.door(listener, method) else { continue };
            assert_eq!((leaf.door.method, leaf.door.listener), (method, listener));
            assert!(fits(leaf.door, path), "{path:?} does not spell {}", leaf.door.path);
            let ranges: Vec<_> = parameters.iter().collect();
            assert_eq!(ranges.len(), leaf.parameters.len());
            for range in ranges {
                let value = path.get(range).expect("a parameter is a part of the path");
                assert!(!value.is_empty() && !value.contains('/'), "{value:?} is no segment");
            }
        }
    }
}

fn fits(door: &Door, path: &str) -> bool {
    let (mut wanted, mut given) = (door.path.split('/'), path.split('/'));
    let pairs =
        wanted.by_ref().zip(given.by_ref()).all(|(wanted, given)| wanted.starts_with('{') || wanted == given);
    pairs && door.path.split('/').count() == path.split('/').count()
}

/// Values are decoded once: what they were encoded from gives them again.
fn query(raw: &str) {
    let Ok(query) = Query::parse(raw) else { return };
    for piece in raw.split('&').filter(|piece| !piece.is_empty()) {
        let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
        if name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            let decoded = query.bytes(name).expect("a name that is spelled plainly is there");
            assert!(decoded.len() <= value.len(), "decoding makes nothing longer");
            let encoded: String = decoded.iter().map(|byte| format!("%{byte:02X}")).collect();
            let again = Query::parse(&format!("{name}={encoded}")).expect("one parameter is no duplicate");
            assert_eq!(again.bytes(name), Some(decoded), "{piece:?} is decoded once");
        }
    }
}

/// The path of a file has one normal form, the same for the guard and for the policy.
fn file(asked: &[u8]) {
    let Ok(normal) = NormalPath::new(BASE, asked) else {
        assert!(asked.is_empty() || asked.contains(&0), "only an empty path and a NUL are refused");
        return;
    };
    let path = normal.as_bytes();
    assert_eq!(path.first(), Some(&b'/'));
    let odd = |part: &[u8]| matches!(part, b"" | b"." | b"..");
    assert!(path == b"/" || !path.split(|byte| *byte == b'/').skip(1).any(odd), "{path:?} is not normal");
    assert_eq!(NormalPath::new(BASE, path).expect("a normal path is a path").as_bytes(), path);
    let other = paths::absolute(BASE, asked).expect("the policy takes what the guard takes");
    assert_eq!(other.as_ref(), path, "guard and policy mean the same file");
    let inside = path == BASE || path.strip_prefix(BASE).is_some_and(|rest| rest.first() == Some(&b'/'));
    assert_eq!(is_below(BASE, path), inside);
}
