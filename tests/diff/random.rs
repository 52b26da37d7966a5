//! Random policies and calls from a seed, drawn from a small world so that rules meet often, with every key that a call
//! can be judged by.

use policy_lang::decide::{Op, VariableUse};
use policy_lang::endpoint::{ENDPOINTS, EndpointDecl, Key};
use serde_json::{Value, json};

#[path = "../generator.rs"]
mod generator;

pub(crate) use generator::Random;

impl Random {
    /// Some of them, at times none.
    fn some(&mut self, from: &[&str]) -> Value {
        let chosen: Vec<&str> = from.iter().copied().filter(|_| self.one_in(3)).collect();
        json!(chosen)
    }
}

/// Endpoints that rules and calls speak of: among them all that accept a key of their own.
pub(crate) const IDS: [&str; 14] = [
    "upload",
    "download",
    "files_list",
    "files_move",
    "files_delete",
    "shell",
    "pty_create",
    "process_signal",
    "code_run",
    "tunnel_connect",
    "env_set",
    "env_list",
    "browser_navigate",
    "commands_run",
];
const SCOPES: [&str; 7] =
    ["files:read", "files:write", "process:run", "commands:run", "commands:run:a", "core:read", "*"];
pub(crate) const ALLOW: [&str; 16] = [
    "/home/user",
    "/home/user/out",
    "in",
    "/srv/data",
    "/srv",
    "/home/user/*.txt",
    "**/x.txt",
    "/home/user/out/**",
    "in/**/b",
    "/home/user/{a,b}/**",
    "/srv/?",
    "/srv/[!a]*",
    "/srv/[A-c]/é",
    "/home/user/e\u{301}",
    "/srv/É*",
    "/proc/a",
];
pub(crate) const DENY: [&str; 16] = [
    ".env",
    "*.pem",
    "**/.git/**",
    "/home/user/out/secret",
    "in/a",
    "/home/user/OUT/b/**",
    "**/k?y",
    "/srv/**",
    "/",
    "a/[bc]",
    "é",
    "É*",
    "??",
    "*s*",
    "/srv/[!a]",
    "**/*.txt/**",
];
const EXTENSIONS: [&str; 6] = [".sh", ".TXT", ".so", ".pem", ".é", ".tar.gz"];
const COMMANDS: [&str; 6] = ["ls", "rm", "/bin/ls", "/bin/rm", "/opt/x/ls", "RM"];
const SHELLS: [&str; 3] = ["/bin/sh", "/bin/bash", "bash"];
const LANGUAGES: [&str; 3] = ["python", "node", "bash"];
const VARIABLES: [&str; 10] = ["APP_*", "*", "DB_URL", "db_*", "*_URL", "V?", "LD_*", "API_KEY", "É*", "??"];
const URLS: [&str; 14] = [
    "example.com",
    "*.example.com",
    "https://example.com",
    "http://example.com:8080",
    "example.com/api",
    "example.com/API",
    "example.com:443/api/v1",
    "a.example.com.",
    "127.0.0.1",
    "[::1]",
    "10.0.0.1:80",
    "169.254.169.254",
    "metadata.google.internal",
    "*.internal",
];
const SIZES: [u64; 3] = [10, 1000, 100_000];

/// A rule of some keys that the endpoint accepts.
pub(crate) fn rule(random: &mut Random, decl: &EndpointDecl) -> Value {
    let mut rule = json!({});
    let accepted: Vec<Key> = decl.accepts.iter().collect();
    for _ in 0..=random.below(5) {
        let key = *random.pick(&accepted);
        if key != Key::Enabled || random.one_in(4) {
            set(&mut rule, key, value(random, key));
        }
    }
    rule
}

fn set(rule: &mut Value, key: Key, value: Value) {
    match key.as_str().split_once('.') {
        Some((family, name)) => rule[family][name] = value,
        None => rule[key.as_str()] = value,
    }
}

fn value(random: &mut Random, key: Key) -> Value {
    match key {
        Key::Enabled | Key::ParamsOverwrite | Key::ParamsBlockPrivateNetworks => json!(random.one_in(2)),
        Key::Scopes => {
            let mut scopes = random.some(&SCOPES[..6]);
            if scopes.as_array().is_some_and(Vec::is_empty) {
                scopes = json!([random.pick(&SCOPES)]);
            }
            scopes
        }
        Key::Audit => json!(random.pick(&["off", "deny", "all"])),
        Key::PathsAllow => {
            let mut allow = random.some(&ALLOW);
            if let Some(list) = allow.as_array_mut() {
                list.truncate(6);
            }
            allow
        }
        Key::PathsDeny => random.some(&DENY),
        Key::PathsReadOnly if random.one_in(3) => json!(true),
        Key::PathsReadOnly => random.some(&DENY),
        Key::PathsSymlinks => json!(random.pick(&["within", "deny"])),
        Key::ParamsAllowExtensions | Key::ParamsDenyExtensions => random.some(&EXTENSIONS),
        Key::ParamsAllowCommands | Key::ParamsDenyCommands => random.some(&COMMANDS),
        Key::ParamsLanguages => random.some(&LANGUAGES),
        Key::ParamsShells => random.some(&SHELLS),
        Key::ParamsAllowedSignals => json!((1..=31).filter(|_| random.one_in(3)).collect::<Vec<u8>>()),
        Key::ParamsUrlAllow | Key::ParamsUrlDeny => random.some(&URLS),
        Key::ParamsEnvDeny | Key::ParamsAllowVars | Key::ParamsDenyVars => random.some(&VARIABLES),
        Key::ParamsAllowPorts | Key::ParamsDenyPorts => {
            json!([80, 1023, 1024, 8080].iter().filter(|_| random.one_in(2)).collect::<Vec<_>>())
        }
        _ => json!(random.pick(&SIZES)),
    }
}

/// A policy, and one that came of it by a few edits.
pub(crate) fn pair(random: &mut Random) -> (Value, Value) {
    let mut old = json!({"endpoints": {"group:dev_tools": true, "group:browser": true}});
    let chosen: Vec<&str> = IDS.iter().copied().filter(|_| random.one_in(2)).collect();
    for id in &chosen {
        let decl = ENDPOINTS.iter().find(|decl| decl.name == *id).unwrap();
        old["endpoints"][id] = rule(random, decl);
    }
    if random.one_in(8) {
        old["preset"] = json!(random.pick(&["read-only", "hardened", "transfer-only"]));
    }
    let mut new = old.clone();
    for id in &IDS {
        if !random.one_in(3) {
            continue;
        }
        let decl = ENDPOINTS.iter().find(|decl| decl.name == *id).unwrap();
        let edit = rule(random, decl);
        if random.one_in(2) || new["endpoints"][id].is_null() {
            new["endpoints"][id] = edit;
        } else if let Value::Object(families) = edit {
            for (name, value) in families {
                match value {
                    Value::Object(members) => {
                        for (key, value) in members {
                            new["endpoints"][id][&name][key] = value;
                        }
                    }
                    value => new["endpoints"][id][&name] = value,
                }
            }
        }
    }
    if random.one_in(6) {
        new["base_dir"] = json!(random.pick(&["/home/user/out", "/srv", "/home"]));
    }
    (old, new)
}

/// A call, owned.
#[derive(Debug, Clone, Default)]
pub(crate) struct Call {
    pub(crate) endpoint: &'static str,
    pub(crate) scopes: Option<Vec<&'static str>>,
    pub(crate) command_name: Option<&'static str>,
    pub(crate) bytes: Option<u64>,
    pub(crate) request_bytes: Option<u64>,
    pub(crate) path: Option<(String, Op)>,
    pub(crate) command: Option<&'static str>,
    pub(crate) shell: Option<&'static str>,
    pub(crate) language: Option<&'static str>,
    pub(crate) signal: Option<u8>,
    pub(crate) url: Option<String>,
    pub(crate) address: Option<&'static str>,
    pub(crate) port: Option<u16>,
    pub(crate) variable: Option<(&'static str, VariableUse)>,
}

const DIRECTORIES: [&str; 8] =
    ["", "/home/user", "/home/user/out", "/home/user/in", "/srv/data", "/srv", "/home", "/proc"];
const PARTS: [&str; 21] = [
    "a",
    "b",
    "OUT",
    ".git",
    "secret",
    "KEY",
    "c",
    "x.txt",
    "X.TXT",
    ".env",
    "k.PEM",
    "run.SH",
    "lib.so ",
    "b.",
    "key",
    "é",
    "E\u{301}",
    "e\u{301}x",
    "ſ",
    "x.É",
    "aſ",
];
const NAMES: [&str; 12] =
    ["APP_MODE", "DB_URL", "db_x", "V1", "LD_PRELOAD", "API_KEY", "PATH", "É", "éa", "a", "A=B", "ABX_X"];
const HOSTS: [&str; 12] = [
    "example.com",
    "example.com.",
    "a.example.com",
    "a.example.com.",
    "b.a.example.com",
    "127.0.0.1",
    "[::1]",
    "[::ffff:10.0.0.1]",
    "10.0.0.1",
    "169.254.169.254",
    "metadata.google.internal",
    "localhost",
];

/// A call of an endpoint with some of what it can be asked about.
pub(crate) fn call(random: &mut Random) -> Call {
    let endpoint = *random.pick(&IDS);
    let decl = ENDPOINTS.iter().find(|decl| decl.name == endpoint).unwrap();
    let mut call = Call { endpoint, ..Call::default() };
    let accepts = |key: Key| decl.accepts.contains(key);
    if random.one_in(3) {
        call.scopes = Some(SCOPES[..5].iter().copied().filter(|_| random.one_in(2)).collect());
        call.command_name = random.one_in(2).then(|| *random.pick(&["a", "b"]));
    }
    if random.one_in(3) {
        call.bytes = random.one_in(2).then(|| *random.pick(&[5, 500, 50_000, 50_000_000]));
        call.request_bytes = random.one_in(2).then(|| *random.pick(&[5, 500, 50_000, 50_000_000]));
    }
    if accepts(Key::PathsAllow) && !random.one_in(4) {
        let mut path = (*random.pick(&DIRECTORIES)).to_owned();
        for _ in 0..random.below(4) {
            path = format!("{path}/{}", random.pick(&PARTS));
        }
        let reads = decl.scopes.iter().all(|scope| scope.ends_with(":read"));
        let ops: &[Op] = if reads { &[Op::Read, Op::List] } else { &Op::ALL };
        call.path = Some((if path.is_empty() { "/".to_owned() } else { path }, *random.pick(ops)));
    }
    if accepts(Key::ParamsAllowCommands) {
        call.command = random.one_in(2).then(|| {
            *random.pick(&[
                "ls",
                "rm",
                "RM",
                "Rm",
                "/bin/ls",
                "/bin/rm",
                "/x/rm",
                "//bin/./ls",
                "cat",
                "./ls",
            ])
        });
    }
    if accepts(Key::ParamsShells) {
        call.shell = random.one_in(2).then(|| *random.pick(&["/bin/sh", "/bin/bash", "bash", "/bin/zsh"]));
    }
    if accepts(Key::ParamsLanguages) {
        call.language = random.one_in(2).then(|| *random.pick(&["python", "node", "bash", "ruby"]));
    }
    if accepts(Key::ParamsAllowedSignals) {
        call.signal = Some(u8::try_from(random.below(34)).unwrap());
    }
    if accepts(Key::ParamsUrlAllow) {
        let (scheme, host) = (random.pick(&["http", "https"]), random.pick(&HOSTS));
        let port = random.pick(&["", "", ":80", ":443", ":8080", ":9"]);
        let path = random.pick(&["", "/api", "/API", "/%61pi/v1", "/api/v1/x", "/other", "/api//v1"]);
        call.url = Some(format!("{scheme}://{host}{port}{path}"));
        call.address =
            random.one_in(3).then(|| *random.pick(&["10.0.0.1", "169.254.169.254", "93.184.216.34"]));
    }
    if accepts(Key::ParamsAllowPorts) {
        call.port = Some(*random.pick(&[0, 1, 80, 81, 1023, 1024, 1025, 8080, 8081, 65535]));
    }
    let mut usages = Vec::new();
    match endpoint {
        "env_list" => usages.push(VariableUse::Show),
        "env_set" => usages.push(VariableUse::Set),
        _ => {}
    }
    if accepts(Key::ParamsEnvDeny) {
        usages.push(VariableUse::Carry);
    }
    if !usages.is_empty() && random.one_in(2) {
        call.variable = Some((*random.pick(&NAMES), *random.pick(&usages)));
    }
    call
}
