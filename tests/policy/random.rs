//! Random policies and calls from a seed, drawn from a small world so that rules meet often.

use policy_lang::endpoint::{ENDPOINTS, Key};
use serde_json::{Map, Value, json};

#[path = "../generator.rs"]
mod generator;

pub(crate) use generator::Random;

impl Random {
    /// Some of them, at least one, none twice.
    pub(crate) fn some<'a, T>(&mut self, from: &'a [T]) -> Vec<&'a T> {
        let mut chosen: Vec<&T> = from.iter().filter(|_| self.one_in(3)).collect();
        if chosen.is_empty() {
            chosen.push(self.pick(from));
        }
        chosen
    }
}

/// Endpoints that rules and calls speak of.
pub(crate) const IDS: [&str; 12] = [
    "health",
    "capabilities",
    "upload",
    "download",
    "files_list",
    "files_upload_stream",
    "files_move",
    "shell",
    "process_signal",
    "code_run",
    "tunnel_connect",
    "agents_list",
];
pub(crate) const GLOBS: [&str; 7] =
    ["*", "files_*", "*_stream", "{upload,download}", "*l*", "?hell", "[a-d]*"];
pub(crate) const GROUPS: [&str; 6] = ["file_ops", "process", "terminal", "dev_tools", "agents", "browser"];
pub(crate) const PRESETS: [&str; 5] = ["default", "transfer-only", "read-only", "hardened", "locked"];
pub(crate) const SCOPES: [&str; 8] = [
    "files:read",
    "files:write",
    "files:delete",
    "process:run",
    "process:manage",
    "terminal:use",
    "devtools:run",
    "agents:read",
];
const ALLOW: [&str; 9] = [
    "/home/user",
    "/home/user/out",
    "in",
    "/srv/data",
    "/home/user/*.txt",
    "**/x.txt",
    "/home/user/out/**",
    "in/**/b",
    "/home/user/{a,b}/**",
];
const DENY: [&str; 9] = [
    ".env",
    "*.pem",
    "**/.git/**",
    "/home/user/out/secret",
    "in/a",
    "/home/user/OUT/b/**",
    "**/k?y",
    "/srv/**",
    "a/[bc]",
];
const READ_ONLY: [&str; 3] = ["/home/user/out", "in/b", "/srv/data/x.txt"];
const EXTENSIONS: [&str; 4] = [".sh", ".TXT", ".so", ".pem"];
const LANGUAGES: [&str; 3] = ["python", "node", "bash"];
const SIGNALS: [u64; 3] = [9, 15, 18];
const PORTS: [u64; 3] = [80, 5432, 8080];
const SIZES: [u64; 3] = [10, 1000, 100_000];

/// A document as JSON. It may say conflicting things, which the compiler refuses.
pub(crate) fn document(random: &mut Random) -> Value {
    let mut document = Map::new();
    if random.one_in(2) {
        document.insert("preset".to_owned(), json!(random.pick(&PRESETS)));
    }
    if random.one_in(3) {
        document.insert("defaults".to_owned(), rule(random, None));
    }
    if random.one_in(2) {
        let groups: Map<String, Value> =
            random.some(&GROUPS).into_iter().map(|group| ((*group).to_owned(), Value::Null)).collect();
        document.insert("groups".to_owned(), filled(random, groups));
    }
    let mut endpoints = Map::new();
    for id in random.some(&IDS) {
        endpoints.insert((*id).to_owned(), Value::Null);
    }
    if random.one_in(2) {
        for glob in random.some(&GLOBS) {
            endpoints.insert((*glob).to_owned(), Value::Null);
        }
    }
    document.insert("endpoints".to_owned(), filled(random, endpoints));
    Value::Object(document)
}

fn filled(random: &mut Random, rules: Map<String, Value>) -> Value {
    let rules = rules.into_iter().map(|(selector, _)| {
        let core = matches!(&*selector, "health" | "capabilities");
        let short = random.one_in(4).then(|| json!(core || random.one_in(2)));
        let rule = short.unwrap_or_else(|| rule(random, Some(&selector)));
        (selector, rule)
    });
    Value::Object(rules.collect())
}

/// A rule that no reader has a word against: core is not closed by its id.
fn rule(random: &mut Random, selector: Option<&str>) -> Value {
    let core = matches!(selector, Some("health" | "capabilities"));
    let mut rule = json!({});
    let strings = |values: Vec<&&str>| values.into_iter().map(|value| json!(value)).collect::<Vec<_>>();
    let numbers = |values: Vec<&u64>| values.into_iter().map(|value| json!(value)).collect::<Vec<_>>();
    for _ in 0..=random.below(3) {
        match random.below(12) {
            0 | 1 => rule["enabled"] = json!(core || random.one_in(2)),
            2 => rule["scopes"] = json!(strings(random.some(&SCOPES))),
            3 => rule["paths"]["allow"] = json!(strings(random.some(&ALLOW))),
            4 | 5 => rule["paths"]["deny"] = json!(strings(random.some(&DENY))),
            6 if random.one_in(2) => rule["paths"]["read_only"] = json!(true),
            6 => rule["paths"]["read_only"] = json!(strings(random.some(&READ_ONLY))),
            7 => rule["limits"]["max_bytes"] = json!(random.pick(&SIZES)),
            8 if random.one_in(2) => {
                rule["params"]["allow_extensions"] = json!(strings(random.some(&EXTENSIONS)))
            }
            8 => rule["params"]["deny_extensions"] = json!(strings(random.some(&EXTENSIONS))),
            9 => rule["params"]["languages"] = json!(strings(random.some(&LANGUAGES))),
            10 => rule["params"]["allowed_signals"] = json!(numbers(random.some(&SIGNALS))),
            _ if random.one_in(2) => rule["params"]["allow_ports"] = json!(numbers(random.some(&PORTS))),
            _ => rule["params"]["deny_ports"] = json!(numbers(random.some(&PORTS))),
        }
    }
    rule
}

/// A call, in plain values that both evaluators read.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) endpoint: &'static str,
    pub(crate) scopes: Option<Vec<&'static str>>,
    /// Operation and path.
    pub(crate) path: Option<(&'static str, String)>,
    pub(crate) language: Option<&'static str>,
    pub(crate) signal: Option<u8>,
    pub(crate) port: Option<u16>,
    pub(crate) bytes: Option<u64>,
}

const DIRECTORIES: [&str; 6] =
    ["/home/user", "/home/user/out", "/home/user/in", "/srv/data", "/etc", "/home"];
const PARTS: [&str; 7] = ["a", "b", "OUT", ".git", "secret", "KEY", "c"];
const NAMES: [&str; 8] = ["x.txt", "X.TXT", ".env", "k.PEM", "run.SH", "lib.so", "b", "key"];

pub(crate) fn call(random: &mut Random) -> Call {
    let endpoint = *random.pick(&IDS);
    let decl = ENDPOINTS.iter().find(|decl| decl.name == endpoint).unwrap();
    let takes = |key: Key| decl.accepts.contains(key);
    let path = takes(Key::PathsAllow).then(|| {
        let mut path = (*random.pick(&DIRECTORIES)).to_owned();
        for _ in 0..random.below(3) {
            path = format!("{path}/{}", random.pick(&PARTS));
        }
        if random.one_in(2) {
            path = format!("{path}/{}", random.pick(&NAMES));
        }
        (*random.pick(&["read", "write", "delete", "list", "run"]), path)
    });
    Call {
        endpoint,
        scopes: random.one_in(2).then(|| random.some(&SCOPES).into_iter().copied().collect()),
        path,
        language: takes(Key::ParamsLanguages).then(|| *random.pick(&LANGUAGES)),
        signal: takes(Key::ParamsAllowedSignals).then(|| u8::try_from(*random.pick(&SIGNALS)).unwrap()),
        port: takes(Key::ParamsAllowPorts).then(|| u16::try_from(*random.pick(&PORTS)).unwrap()),
        bytes: (takes(Key::LimitsMaxBytes) && random.one_in(2))
            .then(|| *random.pick(&[5, 500, 50_000, 5_000_000])),
    }
}
