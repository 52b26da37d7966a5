//! A server with a command and a route of its own. `cargo run -p runtime --example hello -- PORT DIR`, then
//! `curl localhost:PORT/hello/Ann` and `curl -d '{"name": "Ann"}' localhost:PORT/commands/hello`.

use policy_lang::endpoint::{Group, Method};
use runtime::commands::{Argument, ArgumentKind, CommandError};
use runtime::endpoint::Reply;
use runtime::extend::{About, CommandRegistry, Options, RouteTable, SandboxServer};
use serde_json::{Value, json};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().map_or(Ok(9000), |port| port.parse())?;
    let base_dir = arguments.next().map(Into::into);

    let mut registry = CommandRegistry::default();
    let name = Argument {
        name: "name".to_owned(),
        kind: ArgumentKind::String,
        required: false,
        default: Some(json!("World")),
        description: "Whom to greet".to_owned(),
    };
    let about = About { description: "Say hello.".to_owned(), ..About::default() };
    registry.register("hello", about, vec![name], |arguments| async move {
        match arguments.get("name").and_then(Value::as_str) {
            Some("nobody") => Err(CommandError::new("ValueError", "there is nobody")),
            name => Ok(format!("Hello, {}!", name.unwrap_or_default())),
        }
    })?;

    let mut table = RouteTable::default();
    table.enable_group(Group::DevTools);
    table
        .route(Method::Get, "/hello/{name}", Group::Commands, |call| async move {
            let greeting = format!("Hello, {}!", call.param("name")?);
            Ok(Reply::ok(&json!({ "greeting": greeting })))
        })
        .summary("Greet by path.");

    let options =
        Options { host: [127, 0, 0, 1].into(), port, base_dir, pty_port: Some(0), ..Options::default() };
    let server = SandboxServer::new(options).commands(registry).routes(table);
    server.serve().map_err(|fault| fault.to_string().into())
}
