//! Templates in Python as a server starts: mistakes that keep it from starting, switches in code, compiled sets, modules and
//! scripts.

use crate::raw::get;
use crate::server::{Refusal, Server, Setup, ports};
use crate::templates::{HEAD, example, result, template};
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

fn refused(text: &str) -> Refusal {
    template(text).try_start().unwrap_err()
}

#[test]
fn a_template_with_a_mistake_keeps_the_server_from_starting() {
    for (text, wanted) in [
        ("raise RuntimeError('no')", "importing it failed: RuntimeError: no"),
        ("sys.exit(0)", "importing it failed: SystemExit: 0"),
        ("os._exit(0)", "its process ended without saying what it declares"),
        ("def (", "importing it failed: SyntaxError"),
        ("import no_such_module_here", "importing it failed: ModuleNotFoundError: No module named"),
        ("table.disable_group(CapabilityGroup.CORE)", "the group 'core' cannot be disabled"),
        (
            "table.route('GET', '/health', group='commands')(print)",
            "the route `GET /health` clashes with the endpoint `health`",
        ),
        (
            "table.route('POST', '/commands/x', group='commands')(print)",
            "clashes with the endpoint `commands_run`",
        ),
        ("table.route('PUT', '/x', group='commands')(print)", "only GET, POST and DELETE"),
        ("table.route('GET', '/x', group='comands')(print)", "'comands' is not a valid CapabilityGroup"),
        (
            "table.route('GET', '/x', group='commands', scopes=('filez:read',))(print)",
            "unknown scope `filez:read`",
        ),
        (
            "[table.route('GET', path, group='commands', name='n')(print) for path in ('/x', '/y')]",
            "the route id `custom:n` is registered twice",
        ),
        ("command('a b')(lambda: 1)", "`a b` is no name for a command"),
        ("command('a')(lambda: 1); command('a')(lambda: 1)", "command 'a' is registered twice"),
        ("command()(lambda: 1)", "`<lambda>` is no name"),
        ("command('a', scopes='filez:read')(lambda: 1)", "unknown scope `filez:read`"),
        ("CommandArg('a', 'int')", "type of argument 'a' must be one of string, integer, float, boolean"),
    ] {
        let refusal = refused(text);
        assert_eq!(refusal.status, 1, "{text}");
        assert!(refusal.stderr.contains(wanted), "{text}\n{}", refusal.stderr);
    }
    let late = "start(9000)\ncommand('late')(lambda: 1)";
    assert!(refused(late).stderr.contains("the registry is frozen"));
    let missing = Setup::new().arg("--commands").arg("no_such.py").try_start().unwrap_err();
    assert!(missing.stderr.contains("cannot read the commands `no_such.py`"), "{}", missing.stderr);
}

#[test]
fn switches_in_code_are_a_layer_that_a_policy_beats() {
    let text = "table.enable_group(CapabilityGroup.DEV_TOOLS)\ntable.disable_group('process')";
    let state = |server: &Server, id: &str| {
        let shown = get(server.port, "/capabilities").json();
        let endpoint = &shown["endpoints"][id];
        (endpoint["enabled"].as_bool().unwrap(), endpoint["rule"].as_str().unwrap().to_owned())
    };
    let server = template(text).start();
    assert_eq!(state(&server, "code_run"), (true, "code:enable_group:dev_tools".to_owned()));
    assert_eq!(state(&server, "shell"), (false, "code:disable_group:process".to_owned()));
    let server = template(text).policy(r#"{"groups": {"dev_tools": false, "process": true}}"#).start();
    assert_eq!(state(&server, "code_run"), (false, "policy:groups.dev_tools".to_owned()));
    assert_eq!(state(&server, "shell"), (true, "policy:groups.process".to_owned()));
}

#[test]
fn a_compiled_set_fits_only_the_template_that_it_was_made_with() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    let routes = format!(
        "{HEAD}@table.route('GET', '/own', group='commands')\ndef own(r): return ServerResponse.ok({{}})\n"
    );
    std::fs::write(at("routes.py"), &routes).unwrap();
    std::fs::write(at("switch.py"), format!("{HEAD}table.enable_group('dev_tools')\n")).unwrap();
    std::fs::write(at("plain.py"), format!("{HEAD}command('a')(lambda: 1)\n")).unwrap();
    std::fs::write(at("policy.yaml"), "auth: {tokens: [{id: a, token_env: OWN, scopes: ['*']}]}").unwrap();
    let compile = |output: &str, commands: Option<&str>| {
        let mut call = Command::new(env!("CARGO_BIN_EXE_agent-sandbox-server"));
        call.args(["compile", "--policy", &at("policy.yaml"), "-o", &at(output)]);
        call.args(commands.map(|name| ["--commands".to_owned(), at(name)]).into_iter().flatten());
        assert!(call.stderr(Stdio::null()).status().unwrap().success());
    };
    compile("none.json", None);
    compile("routes.json", Some("routes.py"));
    compile("switch.json", Some("switch.py"));
    let start = |set: &str, commands: Option<&str>| {
        let setup = Setup::new().env("OWN", "secret").arg("--policy").arg(&at(set));
        let setup = commands.map_or(setup.clone(), |name| setup.arg("--commands").arg(&at(name)));
        setup.try_start().map(|_| ()).map_err(|refusal| refusal.stderr)
    };
    for (set, commands) in [
        ("none.json", None),
        ("none.json", Some("plain.py")),
        ("routes.json", Some("routes.py")),
        ("switch.json", Some("switch.py")),
    ] {
        assert_eq!(start(set, commands), Ok(()), "{set} {commands:?}");
    }
    for (set, commands, why) in [
        ("none.json", Some("routes.py"), "other custom routes"),
        ("routes.json", None, "other custom routes"),
        ("none.json", Some("switch.py"), "other calls of `enable_group`"),
        ("switch.json", None, "other calls of `enable_group`"),
    ] {
        let refusal = start(set, commands).unwrap_err();
        assert!(refusal.contains(why), "{set} {commands:?}\n{refusal}");
    }
}

#[test]
fn a_module_is_found_where_the_server_was_started() {
    let dir = tempfile::tempdir().unwrap();
    let package = dir.path().join("own");
    std::fs::create_dir(&package).unwrap();
    std::fs::write(package.join("words.py"), "GREETING = 'hello'\n").unwrap();
    let text = "from .words import GREETING\n@command\ndef greets(): return GREETING\nstart(9000)\n";
    std::fs::write(package.join("__init__.py"), format!("{HEAD}{text}")).unwrap();
    let there = ["env", "-C", dir.path().to_str().unwrap()];
    let server = Setup::new().under(&there).arg("--commands").arg("own").start();
    assert_eq!(result(&server, "greets", &json!({})), json!("hello"));
}

#[test]
fn the_example_run_as_a_script_becomes_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("python");
    let script = dir.path().join("commands.py");
    let text = std::fs::read_to_string(example().join("commands.py")).unwrap();
    std::fs::write(&script, text.replace("start(9000)", "start(0, host='127.0.0.1')")).unwrap();
    let mut child = Command::new("python3")
        .arg(&script)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("PYTHONPATH", &package)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("AGENT_SANDBOX_SERVER", env!("CARGO_BIN_EXE_agent-sandbox-server"))
        .env("ABX_SERVER_BASE_DIR", dir.path())
        .env("ABX_PTY_PORT", "0")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let port = log.find_map(|line| ports(&line)).expect("it says where it listens").0;
    // Read on, so that it can write on.
    std::thread::spawn(move || log.count());
    let greeting = get(port, "/hello/Ann").json();
    let killed = Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(killed.success());
    assert!(child.wait().unwrap().success());
    assert_eq!(greeting, json!({"greeting": "Hello, Ann!"}));
}
