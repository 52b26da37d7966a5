//! One decision function, and three who ask it: the pipeline, `POST /capabilities/check`, and `check-config --explain`.
//! Random questions about random policies get the same answer from each, and from the function itself.
//!
//! `FULL_COUNTS=1` asks 1,000,000 questions.

use crate::client::Client;
use crate::random::{Random, SCOPES, call, document};
use crate::raw::Answer;
use crate::server::{Server, Setup, fill};
use policy_lang::decide::{Decision, Op, PathQuery, Query, decide};
use policy_lang::diag::Levels;
use policy_lang::endpoint::{Catalogue, ENDPOINTS, EndpointDecl, Group, Key, Listener, Method};
use policy_lang::parse::Format;
use policy_lang::paths::absolute;
use policy_lang::policy::CompiledPolicy;
use policy_lang::scope::ScopeSet;
use policy_lang::{Document, Inputs, compile_document};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};

/// Questions that each policy is asked.
const CALLS: usize = 400;
/// Codes by which the policy refuses; every other answer comes from the work behind it.
const REFUSALS: [&str; 6] = [
    "endpoint_disabled",
    "missing_scope",
    "path_denied",
    "path_not_allowed",
    "read_only",
    "extension_not_allowed",
];

/// A policy, the server that runs by it, and the same policy compiled here.
struct World {
    policy: CompiledPolicy,
    server: Server,
    tokens: Vec<ScopeSet>,
}

/// A random document with tokens, in which `/home/user` is the base directory and `/srv` a directory beside it.
fn template(random: &mut Random) -> String {
    let mut document = document(random);
    document["base_dir"] = json!("/home/user");
    let tokens = (0..4).map(|at| {
        let scopes = if at == 0 { vec!["*"] } else { random.some(&SCOPES).into_iter().copied().collect() };
        json!({ "id": format!("t{at}"), "token_env": format!("T{at}"), "scopes": scopes })
    });
    document["auth"] = json!({ "tokens": tokens.collect::<Vec<_>>() });
    placed(&document.to_string())
}

fn placed(text: &str) -> String {
    text.replace("/home/user", "{base}").replace("/srv", "{dir}/srv")
}

/// `None` where globs of the document conflict.
fn world(random: &mut Random) -> Option<World> {
    let template = template(random);
    let compile = |text: &str| {
        let (catalogue, levels) = (Catalogue::builtin(), Levels::default());
        let document = Document { name: "policy.yaml", bytes: text.as_bytes(), format: Format::Auto };
        compile_document(Some(document), &Inputs::new(&catalogue, &levels)).policy
    };
    compile(&fill(&template, Path::new("/tmp/x/base")))?;
    let setup = Setup::new().no_base_dir().policy(&template);
    let setup = (0..4).fold(setup, |setup, at| setup.env(&format!("T{at}"), &format!("token-{at}")));
    let server =
        ["out/x", "in/x", "../srv/data/x"].iter().fold(setup, |setup, file| setup.file(file, "")).start();
    let policy = compile(&fill(&template, &server.base()))?;
    let tokens = policy.principals()?.iter().map(|principal| principal.scopes.clone()).collect();
    Some(World { policy, server, tokens })
}

/// A question: an endpoint, whose token, and the paths with the parameters that carry them.
#[derive(Debug)]
struct Ask {
    decl: &'static EndpointDecl,
    token: usize,
    paths: Vec<(&'static str, String)>,
    /// The request leaves them out: they are what the endpoint then takes.
    unsaid: bool,
}

/// Names of files end in something that no other question names, so that no work meets what another left.
fn ask(random: &mut Random, world: &World, turn: usize) -> Ask {
    let files = [
        "download",
        "files_list",
        "files_stat",
        "upload",
        "files_mkdir",
        "files_delete",
        "files_move",
        "shell",
    ];
    let wide = random.one_in(4);
    let name = if wide { random.pick(&ENDPOINTS).name } else { random.pick(&files) };
    let decl = ENDPOINTS.iter().find(|decl| decl.name == name).unwrap();
    let mut path = || {
        if random.one_in(2) {
            return fill(&format!("{{base}}/out/{turn}.txt"), &world.server.base());
        }
        let (_, path) = std::iter::repeat_with(|| call(random).path).flatten().next().unwrap();
        let (parent, leaf) = path.rsplit_once('/').unwrap();
        let path =
            if leaf.contains('.') { format!("{parent}/{turn}{leaf}") } else { format!("{path}/{turn}") };
        fill(&placed(&path), &world.server.base())
    };
    let base = || world.server.base().display().to_string();
    let paths = match name {
        "files_move" => vec![("source", path()), ("destination", format!("{}.to", path()))],
        "shell" => vec![("cwd", path())],
        "pty_create" => vec![("cwd", base())],
        "git_status" | "git_diff" => vec![("path", base())],
        _ if files.contains(&name) => vec![("path", path())],
        _ => Vec::new(),
    };
    let unsaid = matches!(name, "pty_create" | "git_status" | "git_diff");
    Ask { decl, token: if random.one_in(2) { 0 } else { random.below(4) }, paths, unsaid }
}

fn op(ask: &Ask, role: &str) -> Op {
    if ask.decl.name == "files_list" { Op::List } else { Op::usual(Some(ask.decl), role) }
}

/// The answer of the function: status, code and rule of the refusal.
fn decided(world: &World, ask: &Ask) -> Option<(u16, String, String)> {
    let base = world.policy.base_dir().as_bytes();
    let normal = ask.paths.iter().map(|(role, path)| (*role, absolute(base, path.as_bytes()).unwrap()));
    let normal: Vec<_> = normal.collect();
    let paths: Vec<_> =
        normal.iter().map(|(role, path)| PathQuery { role, path, op: op(ask, role) }).collect();
    let scopes = ask.decl.auth_required.then_some(&world.tokens[ask.token]);
    let endpoint = Catalogue::builtin().resolve(ask.decl.name).unwrap();
    match decide(&world.policy, &Query { scopes, paths: &paths, ..Query::of(endpoint) }) {
        Decision::Allow => None,
        Decision::Deny(denial) => {
            let rule = world.policy.rule_name(denial.rule()).to_owned();
            Some((denial.status, denial.code.to_owned(), rule))
        }
    }
}

fn refusal(answer: &Value, status: u16) -> Option<(u16, String, String)> {
    let text = |member: &str| answer[member].as_str().unwrap_or_default().to_owned();
    REFUSALS.contains(&text("code").as_str()).then(|| (status, text("code"), text("rule")))
}

/// The answer of the pipeline to the real request; `None` for a door of the terminal listener.
fn served(world: &World, client: &mut Client, ask: &Ask) -> Option<Answer> {
    let door = ask.decl.doors.first().filter(|door| door.listener == Listener::Http)?;
    let pieces = door.path.split('/').map(|piece| if piece.starts_with('{') { "1" } else { piece });
    let mut target = pieces.collect::<Vec<_>>().join("/");
    let (method, carries_body) = match door.method {
        Method::Get => ("GET", false),
        Method::Head => ("HEAD", false),
        Method::Post => ("POST", true),
        Method::Delete => ("DELETE", false),
    };
    let mut body = json!({});
    for (role, path) in ask.paths.iter().filter(|_| !ask.unsaid) {
        if carries_body {
            body[*role] = json!(path);
        } else {
            target.push_str(&format!("?{role}={path}"));
        }
    }
    match ask.decl.name {
        "upload" => body["content_base64"] = json!(""),
        "shell" if !ask.paths.is_empty() => body["command"] = json!("true"),
        "files_move" if !ask.paths.is_empty() => lay(Path::new(&ask.paths[0].1), &world.server),
        _ => {}
    }
    let body = carries_body.then(|| body.to_string());
    Some(client.ask(method, &target, Some(&format!("token-{}", ask.token)), body.as_deref()))
}

/// Whether the work behind takes long or never ends, and says nothing here: programs of the machine, a browser, a stream.
fn lasts(decl: &EndpointDecl) -> bool {
    decl.group == Group::Browser || matches!(decl.name, "packages" | "agents_events_stream_all")
}

/// Something to move, where the path is one of ours.
fn lay(path: &Path, server: &Server) {
    if path.starts_with(server.dir.path()) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
}

/// What came of all questions so far; shared by those who ask.
#[derive(Default)]
struct Tally {
    seeds: AtomicU64,
    asked: AtomicUsize,
    checked: AtomicUsize,
    refused: AtomicUsize,
    limited: AtomicUsize,
}

#[test]
fn the_pipeline_and_the_function_agree() {
    let questions = if crate::server::full() { 1_000_000 } else { 10_000 };
    // Other tests run beside the short one.
    let askers = if crate::server::full() { std::thread::available_parallelism().unwrap().get() } else { 1 };
    let tally = Tally::default();
    std::thread::scope(|scope| {
        for _ in 0..askers {
            scope.spawn(|| {
                while tally.asked.load(Relaxed) < questions {
                    let random = &mut Random::new(tally.seeds.fetch_add(1, Relaxed) + 1);
                    if let Some(world) = world(random) {
                        question(random, &world, &tally);
                    }
                }
            });
        }
    });
    let Tally { seeds, asked, checked, refused, limited } = tally;
    let [asked, checked, refused, limited] = [asked, checked, refused, limited].map(AtomicUsize::into_inner);
    let mixed = asked / 10..asked * 9 / 10;
    assert!(mixed.contains(&refused), "{refused} of {asked} were refused: the comparison says little");
    assert!(checked > asked / 5 && limited < asked / 20, "{checked} checked, {limited} over a rate");
    println!(
        "{asked} questions about {} policies, {checked} of them to the check endpoint too, {refused} refused, \
         0 disagreements",
        seeds.into_inner()
    );
}

/// Asks one server everything that one policy is asked.
fn question(random: &mut Random, world: &World, tally: &Tally) {
    let (mut client, mut other) = (Client::new(world.server.port), Client::new(world.server.port));
    for turn in 0..CALLS {
        let ask = ask(random, world, turn);
        let wanted = decided(world, &ask);
        if wanted.is_none() && lasts(ask.decl) {
            continue;
        }
        let Some(answer) = served(world, &mut client, &ask) else { continue };
        if answer.status == 429 {
            tally.limited.fetch_add(1, Relaxed);
            continue;
        }
        let got = refusal(&answer.json(), answer.status);
        assert_eq!(got, wanted, "{ask:?}\n{:?}\n{}", answer.json(), policy_of(world));
        tally.asked.fetch_add(1, Relaxed);
        tally.refused.fetch_add(usize::from(wanted.is_some()), Relaxed);
        if turn % 4 == 0 {
            let verdict = check(&mut other, &ask);
            assert_eq!(
                refusal(&verdict, verdict["status"].as_u64().unwrap_or_default().try_into().unwrap()),
                wanted,
                "{ask:?}\n{verdict}\n{}",
                policy_of(world)
            );
            assert_eq!(verdict["allowed"], wanted.is_none(), "{verdict}");
            tally.checked.fetch_add(1, Relaxed);
        }
    }
}

fn policy_of(world: &World) -> String {
    std::fs::read_to_string(world.server.dir.path().join("policy.yaml")).unwrap()
}

fn check(client: &mut Client, ask: &Ask) -> Value {
    let mut body = json!({ "endpoint": ask.decl.name });
    if let [("path", path)] = ask.paths.as_slice() {
        body["path"] = json!(path);
    } else if !ask.paths.is_empty() {
        body["paths"] = ask.paths.iter().map(|(role, path)| ((*role).to_owned(), json!(path))).collect();
    }
    if ask.decl.name == "files_list" {
        body["op"] = json!("list");
    }
    let token = format!("token-{}", ask.token);
    client.ask("POST", "/capabilities/check", Some(&token), Some(&body.to_string())).json()
}

/// Every endpoint, asked on the command line and of a running server.
#[test]
fn f11_explain_and_the_check_endpoint_agree_on_every_endpoint() {
    let random = &mut Random::new(11);
    let world = std::iter::repeat_with(|| world(random)).flatten().next().unwrap();
    let mut client = Client::new(world.server.port);
    let base = world.server.base().display().to_string();
    for (turn, decl) in ENDPOINTS.iter().enumerate() {
        let path = |name: &str| format!("{base}/{}/{name}", ["out", "in", "..", "a/.git"][turn % 4]);
        let paths = match decl.name {
            "files_move" => vec![("source", path("a.txt")), ("destination", path("b.sh"))],
            _ if decl.accepts.contains(Key::PathsAllow) => vec![("path", path("a.txt"))],
            _ => Vec::new(),
        };
        let ask = Ask { decl, token: turn / 4 % 4, paths, unsaid: false };
        let verdict = check(&mut client, &ask);
        let explained = explain(&world.server, &ask);
        let said =
            |answer: &Value| (answer["status"].clone(), answer["code"].clone(), answer["rule"].clone());
        assert_eq!(said(&explained), said(&verdict), "{ask:?}\n{}", policy_of(&world));
        assert_eq!(explained["verdict"] == "allow", verdict["allowed"] == true, "{ask:?}");
        if ask.decl.name != "files_list" {
            let wanted = decided(&world, &ask);
            assert_eq!(refusal(&verdict, verdict["status"].as_u64().unwrap().try_into().unwrap()), wanted);
        }
    }
}

fn explain(server: &Server, ask: &Ask) -> Value {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_agent-sandbox-server"));
    command.args([
        "check-config",
        "--json",
        "--explain",
        ask.decl.name,
        "--identity",
        &format!("t{}", ask.token),
    ]);
    command.arg("--policy").arg(server.dir.path().join("policy.yaml"));
    for (role, path) in &ask.paths {
        let path = if *role == "path" { path.clone() } else { format!("{role}={path}") };
        command.args(["--path", &path]);
    }
    if ask.decl.name == "files_list" {
        command.args(["--op", "list"]);
    }
    let output = command.env_clear().output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{ask:?}: {error}: {}", String::from_utf8_lossy(&output.stderr)));
    report["explain"].clone()
}
