//! A server with commands and a route of its own. `cargo run -p runtime --example rust-hello -- PORT DIR`, then
//! `curl localhost:PORT/hello/Ann` and `curl --json '{"name": "Ann"}' localhost:PORT/commands/hello`.

use policy_lang::endpoint::{Group, Method};
use runtime::commands::CommandError;
use runtime::endpoint::Reply;
use runtime::extend::{CommandRegistry, Options, RouteTable, SandboxServer, command};
use serde::Serialize;
use serde_json::json;

/// Say hello.
#[command]
async fn hello(
    /// Whom to greet
    #[arg(default = "World")]
    name: String,
) -> Result<String, CommandError> {
    match name.as_str() {
        "nobody" => Err(CommandError::new("ValueError", "there is nobody")),
        name => Ok(format!("Hello, {name}!")),
    }
}

/// Add two numbers.
#[command(scopes = ["system:read"])]
fn add(a: i64, #[arg(default = 0.5)] b: f64, negate: Option<bool>) -> f64 {
    let sum = a as f64 + b;
    if negate == Some(true) { -sum } else { sum }
}

/// What this program is.
#[derive(Debug, Serialize)]
struct About {
    name: &'static str,
    version: &'static str,
}

/// Tell what is running.
#[command(name = "_debug-info", hidden)]
fn debug_info() -> About {
    About { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") }
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().map_or(Ok(9000), |port| port.parse())?;
    let base_dir = arguments.next().map(Into::into);

    let mut registry = CommandRegistry::default();
    registry.add::<hello>()?;
    registry.add::<add>()?;
    registry.add::<debug_info>()?;

    let mut table = RouteTable::default();
    table.enable_group(Group::DevTools);
    table
        .route(Method::Get, "/hello/{name}", Group::Commands, |call| async move {
            let greeting =
                hello(call.param("name")?.into_owned()).await.unwrap_or_else(|error| error.message);
            Ok(Reply::ok(&json!({ "greeting": greeting })))
        })
        .summary("Greet by path.");

    let options =
        Options { host: [127, 0, 0, 1].into(), port, base_dir, pty_port: Some(0), ..Options::default() };
    let server = SandboxServer::new(options).commands(registry).routes(table);
    server.serve().map_err(|fault| fault.to_string().into())
}
