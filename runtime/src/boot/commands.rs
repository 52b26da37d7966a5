//! From `--commands` to the commands and routes of a server. Whatever is wrong in it stops the start.

use super::read::Policy;
use super::{Fault, Options, children, read, source};
use crate::commands::{Commands, Manifest, Registry, RouteFunction, Target, Workers, describe, document};
use crate::custom::CustomRoutes;
use crate::env::Env;
use crate::process::User;
use policy_lang::diag::Severity;
use policy_lang::layers::code::GroupSwitch;
use policy_lang::parse::{Format, Node, NodeKind, parse};
use policy_lang::render::{RenderOptions, human};
use policy_lang::source::SourceMap;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

/// What a template declares, and how its functions are called.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    pub(crate) registry: Registry,
    pub(crate) routes: CustomRoutes,
    /// `enable_group` and `disable_group`, in order.
    pub(crate) switches: Vec<GroupSwitch>,
    pub(crate) worker: Option<(Target, Manifest)>,
    /// The routes' functions, where the program that embeds the server brings them.
    pub(crate) functions: Vec<RouteFunction>,
}

impl Declared {
    /// What a server keeps of it.
    pub(super) fn commands(self) -> Commands {
        let worker = self.worker.map(|(target, manifest)| Arc::new(Workers::new(target, manifest)));
        Commands { registry: self.registry, routes: self.routes, functions: self.functions, worker }
    }
}

/// Reads what the command line names; nothing where it names none.
pub(super) fn find(options: &Options, env: &Env, user: Option<&User>) -> Result<Declared, Fault> {
    let Some(name) = &options.commands else { return Ok(Declared::default()) };
    let policy = source::find(options.policy.as_deref(), env, source::When::Start)?;
    let policy: Vec<&str> = policy.policy.iter().map(Policy::text).collect();
    load(name, env, &policy, user)
}

/// Whether a name is that of a declarative file.
pub(crate) fn is_document(name: &str) -> bool {
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("yaml" | "yml" | "json"))
}

/// Reads what `--commands` names. The variables that the tokens of `policies` name are kept from the
/// template; these are their texts. `user` is whom children run as.
pub(crate) fn load(name: &str, env: &Env, policies: &[&str], user: Option<&User>) -> Result<Declared, Fault> {
    if is_document(name) { declarative(Path::new(name)) } else { template(name, env, policies, user) }
}

fn declarative(file: &Path) -> Result<Declared, Fault> {
    let shown = file.display();
    let bytes = read::file(file).map_err(|error| {
        Fault::failed(format!("cannot read the commands `{shown}`: {error}")).help("--commands names them")
    })?;
    let name = file.file_name().map_or_else(|| shown.to_string(), |name| name.to_string_lossy().into_owned());
    let read = document::read(&name, bytes);
    if read.diagnostics.iter().any(|found| found.severity == Severity::Error) {
        let options = RenderOptions { color: std::io::stderr().is_terminal(), ..RenderOptions::default() };
        let findings = human(&read.sources, &read.diagnostics, options);
        return Err(Fault::failed(format!("the commands are refused: {shown}")).with_findings(findings));
    }
    Ok(Declared { registry: read.registry, ..Declared::default() })
}

fn template(name: &str, env: &Env, policies: &[&str], user: Option<&User>) -> Result<Declared, Fault> {
    let target = Target::of(name).map_err(|error| {
        Fault::failed(error.to_string())
            .help("name a file that ends in `.yaml`, `.json` or `.py`, or a module that Python can import")
    })?;
    let refused = |error: &dyn std::fmt::Display| {
        Fault::failed(format!("the commands are refused: {}: {error}", target.name()))
    };
    let python = children::programs(env).locate("python3");
    let python = python.ok_or_else(|| refused(&"python3 is not in PATH"))?;
    let hidden = policies.iter().flat_map(|text| secret_variables(text)).collect();
    let variables = children::environment(env, hidden, user).variables();
    let told = describe(&target, &python, variables, children::identity(user));
    let manifest = told.map_err(|error| refused(&error))?;
    let mut registry = Registry::default();
    manifest.register(&mut registry).map_err(|error| refused(&error))?;
    let routes = CustomRoutes::new(&manifest.routes).map_err(|error| refused(&error))?;
    let switches = manifest.switches().map_err(|error| refused(&error))?;
    Ok(Declared { registry, routes, switches, worker: Some((target, manifest)), functions: Vec::new() })
}

/// Every variable that a policy's tokens name, however broken the policy is otherwise: what a template registers must be
/// known before its policy can be compiled.
fn secret_variables(policy: &str) -> Vec<String> {
    let mut sources = SourceMap::default();
    let source = sources.add("policy", policy);
    let (root, _) = parse(&sources, source, Format::Auto);
    let mut names = Vec::new();
    if let Some(root) = root {
        gather(&root, &mut names);
    }
    names
}

/// The depth of a tree is bounded by the parser.
fn gather(node: &Node<'_>, names: &mut Vec<String>) {
    match &node.kind {
        NodeKind::Seq(items) => items.iter().for_each(|item| gather(item, names)),
        NodeKind::Map(entries) => {
            for entry in entries {
                match &entry.value.kind {
                    NodeKind::Text { text, .. } if entry.key == "token_env" => {
                        names.push(text.clone().into_owned())
                    }
                    _ => gather(&entry.value, names),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::secret_variables;

    #[test]
    fn the_variables_of_tokens_are_found_in_every_form() {
        let yaml = "server:\n  auth:\n    tokens:\n    - &t {id: a, token_env: \"CI\\x5fTOKEN\", scopes: []}\n    - *t\n  shel: 1\n";
        assert_eq!(secret_variables(yaml), ["CI_TOKEN", "CI_TOKEN"]);
        let compiled = "{\"tokens\":[{\"id\":\"a\",\"token_env\":\"A\"},{\"token_env\":null}]}";
        assert_eq!(secret_variables(compiled), ["A"]);
        assert_eq!(secret_variables("{"), [""; 0]);
    }
}
