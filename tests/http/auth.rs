//! Who may call: credentials, tokens, guessing.

use crate::raw::{Answer, get, request};
use crate::server::{Server, Setup};

const TWO_TOKENS: &str = r#"{"base_dir":"{base}","auth":{"tokens":[
    {"id":"reader","token_env":"READER","scopes":["files:read"]},
    {"id":"writer","token_env":"WRITER","scopes":["files:write"]}]}}"#;

fn server() -> Server {
    Setup::new().policy(TWO_TOKENS).env("READER", "token-r").env("WRITER", "token-w").start()
}

fn ask(server: &Server, headers: &[(&str, &str)]) -> Answer {
    request(server.port, "GET", "/capabilities", headers, None)
}

fn identity(answer: &Answer) -> String {
    answer.json()["identity"]["id"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn three_spellings_of_one_token() {
    let server = server();
    for headers in [
        vec![("X-Access-Token", "token-r")],
        vec![("Authorization", "Bearer token-r")],
        vec![("Authorization", "bEaReR token-r")],
        vec![("X-Api-Key", "token-r")],
        vec![("X-Access-Token", "token-r"), ("Authorization", "Bearer token-r"), ("X-Api-Key", "token-r")],
        // Blanks around a value are not part of it.
        vec![("X-Access-Token", "token-r ")],
    ] {
        assert_eq!(identity(&ask(&server, &headers)), "reader", "{headers:?}");
    }
    assert_eq!(identity(&ask(&server, &[("X-Api-Key", "token-w")])), "writer");
}

#[test]
fn row_89_credentials_that_differ() {
    let server = server();
    for headers in [
        vec![("X-Access-Token", "token-r"), ("Authorization", "Bearer token-w")],
        vec![("X-Access-Token", "token-r"), ("X-Access-Token", "token-w")],
        vec![("X-Access-Token", "token-r"), ("X-Access-Token", "token-r")],
        vec![("X-Access-Token", "token-r, token-w")],
        vec![("X-Access-Token", "token-r"), ("X-Api-Key", "wrong")],
        vec![("X-Access-Token", "wrong"), ("X-Api-Key", "token-r")],
        vec![("Authorization", "Bearer token-r"), ("Authorization", "Bearer token-r")],
        vec![("X-Access-Token", "token-r"), ("Authorization", "Basic dG9rZW4tcg==")],
    ] {
        let answer = ask(&server, &headers);
        assert_eq!((answer.status, answer.code().as_str()), (400, "ambiguous_credentials"), "{headers:?}");
    }
}

#[test]
fn row_91_an_empty_list_of_tokens_is_not_local_mode() {
    let server = Setup::new().policy(r#"{"base_dir":"{base}","auth":{"tokens":[]}}"#).start();
    assert_eq!(get(server.port, "/health").status, 200);
    assert_eq!(get(server.port, "/capabilities").status, 401);
    assert_eq!(request(server.port, "GET", "/capabilities", &[("X-Access-Token", "x")], None).status, 401);
}

#[test]
fn row_92_no_token_on_all_interfaces() {
    let server = Setup::new().host("0.0.0.0").start();
    assert!(server.wait_for("no token is configured").contains("warning"));
    let local = Setup::new().start();
    assert!(local.stderr().iter().all(|line| !line.contains("no token is configured")));
    for host in ["0.0.0.0", "127.0.0.1"] {
        let refusal = Setup::new().host(host).arg("--require-auth").try_start().unwrap_err();
        assert_eq!(refusal.status, 1);
        assert!(
            refusal.stderr.contains("--require-auth") && refusal.stderr.contains("ABX_SERVER_TOKEN"),
            "{}",
            refusal.stderr
        );
    }
    Setup::new().env("ABX_SERVER_TOKEN", "t").arg("--require-auth").start();
}

#[test]
fn a_reload_is_held_to_what_a_start_is() {
    let with_token =
        r#"{"base_dir":"{base}","auth":{"tokens":[{"id":"ci","scopes":["files:read"],"token_env":"CI"}]}}"#;
    let setup = || Setup::new().policy(with_token).env("CI", "secret").host("0.0.0.0");
    let reload = |server: &Server| {
        let path = server.dir.path().join("policy.yaml");
        std::fs::write(path, r#"{"endpoints":{"download":false}}"#).unwrap();
        server.signal("HUP");
    };
    let open = "no token is configured";

    let strict = setup().arg("--require-auth").start();
    reload(&strict);
    let line = strict.wait_for("the policy was not reloaded, the old one stays");
    assert!(line.contains(open) && line.contains("--require-auth"), "{line}");
    assert_eq!(get(strict.port, "/env").status, 401);

    let lenient = setup().start();
    assert!(!lenient.stderr().iter().any(|line| line.contains(open)));
    reload(&lenient);
    lenient.wait_for("policy reloaded");
    let line = lenient.wait_for(open);
    assert!(line.contains("warning: ") && line.contains("from other machines too (0.0.0.0)"), "{line}");
    assert_eq!(get(lenient.port, "/env").status, 200);
}

#[test]
fn row_94_other_places_for_a_token() {
    let server = Setup::new().env("ABX_SERVER_TOKEN", "canary-94").start();
    let right = r#"{"error":"unauthorized","type":"AuthError","code":"unauthorized"}"#;
    for (target, headers) in [
        ("/capabilities?token=canary-94", vec![]),
        ("/capabilities?access_token=canary-94", vec![]),
        ("/capabilities", vec![("Cookie", "token=canary-94")]),
        ("/capabilities", vec![("Authorization", "Basic Y2FuYXJ5LTk0")]),
        ("/capabilities", vec![("Authorization", "canary-94")]),
        ("/capabilities", vec![("Authorization", "Bearer\tcanary-94")]),
        ("/capabilities", vec![("Authorization", "Bearer  canary-94")]),
        ("/capabilities", vec![("Authorization", "Token canary-94")]),
        ("/capabilities", vec![("X-Access-Token", "")]),
    ] {
        let answer = request(server.port, "GET", target, &headers, None);
        assert_eq!(
            (answer.status, String::from_utf8_lossy(&answer.body).as_ref()),
            (401, right),
            "{target} {headers:?}"
        );
    }
    let long = "x".repeat(1 << 20);
    let exchange = crate::raw::exchange(
        server.port,
        format!("GET /capabilities HTTP/1.1\r\nHost: localhost\r\nX-Access-Token: {long}\r\n\r\n").as_bytes(),
    );
    assert!(exchange.closed && exchange.answers.iter().all(|answer| answer.status == 431), "{exchange:?}");
    let (_, stderr) = server.stop();
    assert!(
        stderr.iter().all(|line| !line.contains("canary-94") && !line.contains("Y2FuYXJ5LTk0")),
        "{stderr:#?}"
    );
}

#[test]
fn row_95_scope_by_prefix() {
    let policy = r#"{"base_dir":"{base}","auth":{"tokens":[{"id":"a","token_env":"A","scopes":["commands:run:hello"]}]}}"#;
    let server = Setup::new().policy(policy).env("A", "t").start();
    for name in ["hello2", "HELLO", "hell"] {
        let answer = request(server.port, "POST", &format!("/commands/{name}"), &[("X-Api-Key", "t")], None);
        assert_eq!((answer.status, answer.code().as_str()), (403, "missing_scope"), "{name}");
        assert_eq!(answer.json()["scope"], format!("commands:run:{name}"));
    }
    let malformed = request(server.port, "POST", "/commands/hello%00", &[("X-Api-Key", "t")], None);
    assert_eq!((malformed.status, malformed.code().as_str()), (400, "invalid_path"));
    for scope in ["files:*", "filez:read", "commands:run:*"] {
        let policy = policy.replace("commands:run:hello", scope);
        let refusal = Setup::new().policy(&policy).env("A", "t").try_start().unwrap_err();
        assert!(refusal.status == 1 && refusal.stderr.contains(scope), "{}", refusal.stderr);
    }
}

#[test]
fn row_100_tokens_that_cannot_be_used_do_not_start() {
    let digest = "ed2c50ac2b3ce5d0c3e0f6c3d3a2e9a9d1a5e6b7c8d9e0f1a2b3c4d5e6f7a8b9";
    let with = |tokens: &str| {
        Setup::new()
            .policy(&format!(r#"{{"base_dir":"{{base}}","auth":{{"tokens":[{tokens}]}}}}"#))
            .env("A", "same")
            .env("B", "same")
    };
    let by_digest = |digest: &str| format!(r#"{{"id":"a","token_sha256":"{digest}","scopes":["*"]}}"#);
    let by_name = |id: &str, name: &str| format!(r#"{{"id":"{id}","token_env":"{name}","scopes":["*"]}}"#);
    with(&by_digest(digest)).start();
    for tokens in [
        by_digest(&digest.to_uppercase()),
        by_digest(&digest[1..]),
        by_digest(&format!("sha256:{digest}")),
        by_digest(""),
        by_name("a", "UNSET"),
        format!("{},{}", by_name("a", "A"), by_name("b", "B")),
        format!("{},{}", by_name("a", "A"), by_name("a", "B")),
        // SHA-256 of `same`.
        format!(
            "{},{}",
            by_name("a", "A"),
            r#"{"id":"b","token_sha256":"0967115f2813a3541eaef77de9d9d5773f1c0c04314b0bbfe4ff3b3b1c55b5d5","scopes":["*"]}"#
        ),
    ] {
        let refusal = with(&tokens).try_start().expect_err(&tokens);
        assert_eq!(refusal.status, 1, "{tokens}: {}", refusal.stderr);
        assert!(
            !refusal.stderr.contains("listening") && !refusal.stderr.contains("same\""),
            "{}",
            refusal.stderr
        );
    }
}

#[test]
fn row_101_the_old_token_beside_new_ones() {
    let server = Setup::new()
        .policy(TWO_TOKENS)
        .env("READER", "token-r")
        .env("WRITER", "w")
        .env("ABX_SERVER_TOKEN", "old")
        .start();
    server.wait_for("as `legacy` with every scope");
    let legacy = ask(&server, &[("X-Access-Token", "old")]);
    assert_eq!(
        (identity(&legacy).as_str(), &legacy.json()["identity"]["scopes"]),
        ("legacy", &serde_json::json!(["*"]))
    );
    assert_eq!(identity(&ask(&server, &[("X-Access-Token", "token-r")])), "reader");
}

#[test]
fn row_103_guessing() {
    let server = Setup::new().env("ABX_SERVER_TOKEN", "right").start();
    let guess =
        |token: &str| request(server.port, "GET", "/capabilities", &[("X-Access-Token", token)], None);
    let first: Vec<_> = (0..60).map(|turn| guess(&format!("wrong-{turn}")).status).collect();
    assert_eq!(first, [401; 60]);
    // One is forgotten every second: on a slow machine some more are answered.
    let refused = (0..1000).map(|_| guess("wrong")).find(|answer| answer.status != 401).unwrap();
    assert_eq!((refused.status, refused.code().as_str()), (429, "auth_rate_limited"));
    assert!(
        refused
            .header("retry-after")
            .is_some_and(|wait| wait.parse::<u64>().is_ok_and(|wait| (1..=60).contains(&wait)))
    );
    // Another peer is not concerned, and nobody's own rate was used.
    let other = crate::raw::from_address(
        "127.0.0.2",
        server.port,
        "GET",
        "/capabilities",
        &[("X-Access-Token", "right")],
    );
    assert_eq!(other.status, 200);
    assert_eq!(get(server.port, "/health").status, 200);
}

#[test]
fn secrets_leave_the_environment_of_the_process() {
    let server = Setup::new()
        .policy(TWO_TOKENS)
        .env("READER", "canary-r")
        .env("WRITER", "canary-w")
        .env("ABX_SERVER_TOKEN", "canary-s")
        .start();
    // Readable for root only: the process is not dumpable.
    if let Ok(block) = std::fs::read(format!("/proc/{}/environ", server.pid())) {
        let block = String::from_utf8_lossy(&block);
        assert!(!block.contains("canary"), "{block}");
        assert!(block.contains("PATH="));
    }
    assert_eq!(identity(&ask(&server, &[("X-Access-Token", "canary-s")])), "legacy");
}
