//! Production agents against this server, offline: each is installed, driven through whole turns against a scripted model on
//! loopback, and ended, and all are held to one contract.
//!
//! | module | |
//! |---|---|
//! | `table` | the agents, a row each |
//! | `model` | the model, in the formats that they ask for |
//! | `bench` | a server with one agent on it, and what is asked of it |
//! | `contract` | the steps, in order, and what each finds |
//!
//! What is found stands in `real/<id>.txt`. `.ci/agents` runs those that CI knows, `ALL_AGENTS=1 .ci/agents` all.

mod bench;
mod contract;
mod model;
mod table;

use crate::golden::Goldens;
use crate::server::Setup;
use bench::Bench;
use std::path::PathBuf;
use std::time::Instant;

/// Where agents are kept between runs: some take hundreds of megabytes.
fn folder() -> PathBuf {
    let server = PathBuf::from(env!("CARGO_BIN_EXE_agent-sandbox-server"));
    server.ancestors().nth(2).unwrap().join("agents")
}

/// The server's setup: a home that no person uses, and what the machine needs to reach a registry.
fn setup() -> Setup {
    let mut setup = Setup::new()
        .env("ABX_SERVER_ENABLED_GROUPS", "agents")
        .env("HOME", "{dir}/home")
        .arg("--state-dir")
        .arg(&folder().join("state").display().to_string());
    for name in ["NODE_EXTRA_CA_CERTS", "NPM_CONFIG_REGISTRY", "HTTP_PROXY", "HTTPS_PROXY"] {
        if let Ok(value) = std::env::var(name) {
            setup = setup.env(name, &value);
        }
    }
    // Nobody stands between an agent and the model.
    let direct = std::env::var("NO_PROXY").unwrap_or_default();
    setup.env("NO_PROXY", &format!("127.0.0.1,localhost,{direct}"))
}

#[test]
#[ignore = "needs production agents: run .ci/agents"]
fn each_agent_keeps_the_contract() {
    let all = std::env::var_os("ALL_AGENTS").is_some_and(|value| value == "1");
    let one = std::env::var("AGENT").ok();
    let asked = |row: &&table::Row| match &one {
        Some(one) => row.id == one,
        None => all || !row.by_flag,
    };
    let mut goldens = Goldens::new("ALL_AGENTS=1 .ci/agents", &[]);
    for row in table::ROWS.iter().filter(asked) {
        let began = Instant::now();
        let found = contract::run(&mut Bench::start(*row));
        println!("{}: {:.1} s", row.id, began.elapsed().as_secs_f64());
        goldens.compare(format!("tests/agents/real/{}.txt", row.id), &found);
    }
    goldens.finish();
}
