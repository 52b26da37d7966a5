//! The server as a library: commands and routes written in Rust, served like declared ones.
//!
//! ```no_run
//! use policy_lang::endpoint::{Group, Method};
//! use runtime::endpoint::Reply;
//! use runtime::extend::{Options, RouteTable, SandboxServer};
//!
//! let mut table = RouteTable::default();
//! table.enable_group(Group::DevTools);
//! table.route(Method::Get, "/hello/{name}", Group::Commands, |call| async move {
//!     let greeting = format!("Hello, {}!", call.param("name")?);
//!     Ok(Reply::ok(&serde_json::json!({ "greeting": greeting })))
//! });
//! SandboxServer::new(Options::default()).routes(table).serve().unwrap();
//! ```
//!
//! A function becomes a command by [`macro@command`]; a whole program stands in `examples/rust-hello/main.rs`.

mod command;

use crate::boot::commands::Declared;
use crate::boot::{self, Fault};
use crate::commands::{
    Action, Argument, Arguments, Command, CommandError, Function, Limits, Registry, RegistryError,
    RouteEntry, RouteFunction,
};
use crate::custom::CustomRoutes;
use crate::endpoint::{Answer, Call};
use policy_lang::endpoint::{Group, Method};
use policy_lang::layers::code::{CoreDisabledError, GroupSwitch};
use policy_lang::scope::ScopeNeed;
use serde::Serialize;
use std::future::Future;
use std::sync::Arc;

pub use crate::boot::Options;
pub use codegen::command;
pub use command::{ArgumentValue, DeclaredCommand, blocking, declare, take, written};
pub use serde_json::Value;

/// A server with commands and routes of its own.
#[derive(Debug)]
pub struct SandboxServer {
    options: Options,
    registry: CommandRegistry,
    table: RouteTable,
}

impl SandboxServer {
    /// A server that is started with these flags. `commands` of the flags is not read: the code brings them.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self { options, registry: CommandRegistry::default(), table: RouteTable::default() }
    }

    /// Serves these commands.
    #[must_use]
    pub fn commands(mut self, registry: CommandRegistry) -> Self {
        self.registry = registry;
        self
    }

    /// Serves these routes, and takes the switches of groups from the same table.
    #[must_use]
    pub fn routes(mut self, table: RouteTable) -> Self {
        self.table = table;
        self
    }

    /// Serves until the process is told to stop. What was registered is frozen from here on.
    ///
    /// # Errors
    /// What kept it from starting: a route that clashes among it.
    pub fn serve(self) -> Result<(), Fault> {
        let routes = CustomRoutes::new(&self.table.entries)
            .map_err(|error| Fault::failed(format!("the routes are refused: {error}")))?;
        let declared = Declared {
            registry: self.registry.0,
            routes,
            switches: self.table.switches,
            functions: self.table.functions,
            ..Declared::default()
        };
        boot::run_with(self.options, declared)
    }
}

/// Routes in the order of their registration, and the switches of groups.
#[derive(Debug, Default)]
pub struct RouteTable {
    entries: Vec<RouteEntry>,
    functions: Vec<RouteFunction>,
    switches: Vec<GroupSwitch>,
}

impl RouteTable {
    /// Adds a route. `{param}` in the path is one segment, read with [`Call::param`]. What it is called in a policy, who
    /// may call it and the like is said to what comes back.
    pub fn route<F, Fut>(&mut self, method: Method, path: &str, group: Group, function: F) -> Route<'_>
    where
        F: Fn(Call) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Answer> + Send + 'static,
    {
        let at = self.entries.len();
        self.functions.push(RouteFunction(Arc::new(move |call| Box::pin(function(call)))));
        self.entries.push(RouteEntry {
            method: method.as_str().to_owned(),
            path: path.to_owned(),
            group: group.as_str().to_owned(),
            auth_required: true,
            streaming: false,
            name: usual_name(method, path),
            scopes: None,
            summary: String::new(),
        });
        Route(self.entries.get_mut(at))
    }

    /// Opens a group, unless a preset or a policy says otherwise.
    pub fn enable_group(&mut self, group: Group) {
        self.switches.push(GroupSwitch { group, enabled: true });
    }

    /// Closes a group, unless a preset or a policy says otherwise.
    ///
    /// # Errors
    /// For the core group: liveness and discovery stay open.
    pub fn disable_group(&mut self, group: Group) -> Result<(), CoreDisabledError> {
        if group == Group::Core {
            return Err(CoreDisabledError);
        }
        self.switches.push(GroupSwitch { group, enabled: false });
        Ok(())
    }
}

/// `GET /hello/{name}` is `get_hello_name`.
fn usual_name(method: Method, path: &str) -> String {
    let text = format!("{} {path}", method.as_str()).to_ascii_lowercase();
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}

/// What more can be said of a route that was added.
#[derive(Debug)]
pub struct Route<'a>(Option<&'a mut RouteEntry>);

impl Route<'_> {
    fn with(mut self, change: impl FnOnce(&mut RouteEntry)) -> Self {
        if let Some(entry) = &mut self.0 {
            change(entry);
        }
        self
    }

    /// Its name: the id in a policy is `custom:` and this.
    pub fn named(self, name: &str) -> Self {
        self.with(|entry| name.clone_into(&mut entry.name))
    }

    /// Asks for no token.
    pub fn public(self) -> Self {
        self.with(|entry| entry.auth_required = false)
    }

    /// Asks for these scopes instead of `commands:run`.
    pub fn scopes(self, scopes: &[&str]) -> Self {
        self.with(|entry| entry.scopes = Some(scopes.iter().map(|scope| (*scope).to_owned()).collect()))
    }

    /// Says that it answers with events.
    pub fn streaming(self) -> Self {
        self.with(|entry| entry.streaming = true)
    }

    /// One line that says what it does, for `GET /capabilities`.
    pub fn summary(self, summary: &str) -> Self {
        self.with(|entry| summary.clone_into(&mut entry.summary))
    }
}

/// Commands that are functions.
#[derive(Debug, Default)]
pub struct CommandRegistry(Registry);

impl CommandRegistry {
    /// Adds a command. The function gets its arguments converted to the declared types, defaults put in.
    ///
    /// # Errors
    /// Its name is none or taken.
    pub fn register<F, Fut, T>(
        &mut self,
        name: &str,
        about: About,
        arguments: Vec<Argument>,
        function: F,
    ) -> Result<(), RegistryError>
    where
        F: Fn(Arguments) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, CommandError>> + Send + 'static,
        T: Serialize,
    {
        let function = move |arguments| {
            let result = function(arguments);
            let written = async move {
                let result = result.await?;
                serde_json::to_value(result)
                    .map_err(|error| CommandError::new("TypeError", error.to_string()))
            };
            Box::pin(written) as crate::commands::FunctionFuture
        };
        self.0.register(Command {
            name: name.to_owned(),
            description: about.description,
            arguments,
            scopes: about.scopes,
            hidden: about.hidden,
            limits: Limits::default(),
            action: Action::Function(Function(Arc::new(function))),
        })
    }

    /// Adds a command that its function declares: `registry.add::<hello>()` where `hello` is marked with
    /// [`macro@command`].
    ///
    /// # Errors
    /// Its name is none or taken, or it asks for what is no scope.
    pub fn add<C: DeclaredCommand>(&mut self) -> Result<(), RegistryError> {
        let scopes = ScopeNeed::parse(C::SCOPES.iter().copied())
            .map_err(|scope| RegistryError::Scope { command: C::NAME.to_owned(), scope: scope.to_owned() })?;
        let about = About { description: C::DESCRIPTION.to_owned(), hidden: C::HIDDEN, scopes };
        self.register(C::NAME, about, C::arguments(), C::call)
    }
}

/// What is said of a command beside its name and arguments.
#[derive(Debug, Clone, Default)]
pub struct About {
    /// What it does.
    pub description: String,
    /// Whether it is left out of the list.
    pub hidden: bool,
    /// What a caller needs beside the scope of the command.
    pub scopes: ScopeNeed,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::Reply;

    #[test]
    fn the_usual_name_is_that_of_python_templates() {
        for (path, name) in [("/hello/{name}", "get_hello_name"), ("/", "get"), ("/A-b//c_d/", "get_a_b_c_d")]
        {
            assert_eq!(usual_name(Method::Get, path), name);
        }
    }

    #[test]
    fn core_stays_open_and_routes_say_what_they_are() {
        let mut table = RouteTable::default();
        assert_eq!(table.disable_group(Group::Core), Err(CoreDisabledError));
        table
            .route(Method::Get, "/a", Group::System, |_| async { Ok(Reply::json_text("{}")) })
            .public()
            .named("own");
        let routes = CustomRoutes::new(&table.entries).unwrap();
        let custom = routes.catalogue().custom();
        assert_eq!(
            (custom[0].id.as_str(), custom[0].scopes.len(), custom[0].group),
            ("custom:own", 0, Group::System)
        );
    }
}
