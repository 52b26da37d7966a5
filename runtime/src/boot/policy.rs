//! From a source to a policy in force, at start and on reload.

mod findings;
mod guard;
mod lookup;

use super::commands::Declared;
use super::read::Policy;
use super::source::{self, Source, When};
use super::{Fault, Options, flags};
use crate::app::{PolicyState, Settings};
use crate::auth::Tokens;
use crate::env::Env;
use crate::env::uploads::{self, BaseValue};
use crate::guard::Seals;
use crate::log;
use policy_lang::check::Facts;
use policy_lang::diag::Levels;
use policy_lang::endpoint::Catalogue;
use policy_lang::form::{self, SetText};
use policy_lang::layers::code::GroupSwitch;
use policy_lang::policy::CompiledPolicy;
use policy_lang::stages::{Document, Inputs, Outcome, compile_document, load_compiled};
use std::path::PathBuf;
use std::sync::Arc;

/// Loads the policy, as often as it is asked.
#[derive(Debug)]
pub(super) struct Loader {
    options: Options,
    /// The endpoints, those of the template among them.
    catalogue: Catalogue,
    /// `enable_group` and `disable_group` of the template.
    switches: Vec<GroupSwitch>,
    /// What no endpoint may reach, beside the audit log.
    state_dir: PathBuf,
    /// The same by what it is.
    seals: Arc<Seals>,
    base_values: Vec<BaseValue>,
}

/// A policy that may go into force.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) state: PolicyState,
    /// What was found about it, as people read it; empty where nothing was.
    findings: String,
    /// That it asks nobody who they are.
    exposure: Option<String>,
}

impl Loaded {
    /// Says in the log what whoever runs the server should know of it.
    pub(super) fn tell(&self) {
        log::show(&self.findings);
        if let Some(warning) = &self.exposure {
            log::say(format_args!("warning: {warning}"));
        }
    }
}

impl Loader {
    /// # Errors
    /// A variable of the environment that holds no value of its kind.
    pub(super) fn new(
        options: &Options,
        settings: &Settings,
        declared: &Declared,
        env: &Env,
        seals: Arc<Seals>,
    ) -> Result<Self, Fault> {
        let base_values = env.base_values().map_err(|error| Fault::failed(error).help(uploads::SIZE_HELP))?;
        let catalogue = declared.routes.catalogue().clone();
        Ok(Self {
            options: options.clone(),
            catalogue,
            switches: declared.switches.clone(),
            state_dir: settings.state_dir.clone(),
            seals,
            base_values,
        })
    }

    /// Reads the source anew. What `earlier` counted goes on being counted. What comes of it is still to be prepared.
    pub(super) fn load(&self, env: &Env, earlier: Option<&PolicyState>) -> Result<Loaded, Fault> {
        let when = if earlier.is_some() { When::Again } else { When::Start };
        let source = source::find(self.options.policy.as_deref(), env, when)?;
        let name = source.name.clone();
        let (policy, mut warnings, mut findings) = self.compile(source, env)?;
        // What is held is served whatever has become of its name: nobody who can rename it keeps a later policy out.
        if !earlier.is_some_and(|earlier| earlier.guard.holds(policy.base_dir().as_bytes())) {
            check_base_dir(policy.base_dir())?;
        }
        let legacy = env.server_token();
        let declared = policy.resolved().tokens.as_deref();
        if legacy.is_some() && declared.is_some() {
            let warning = "ABX_SERVER_TOKEN works beside `auth.tokens`, as `legacy` with every scope";
            findings.push_str(&format!("warning: {warning}\n"));
            warnings.push(warning.to_owned());
        }
        let tokens = Tokens::read(declared, legacy, |variable| env.secret(variable))
            .map_err(|error| Fault::failed(format!("{name}: {error}")))?;
        let sealing = guard::Sealing { state_dir: &self.state_dir, seals: &self.seals };
        let guard = guard::begin(&policy, env, sealing, earlier.map(|earlier| &earlier.guard))?;
        let exposure = flags::exposure(&self.options, &tokens)?;
        let state = PolicyState::new(policy, tokens, guard, warnings, earlier);
        Ok(Loaded { state: PolicyState { source: name, ..state }, findings, exposure })
    }

    fn compile(&self, source: Source, env: &Env) -> Result<(CompiledPolicy, Vec<String>, String), Fault> {
        let levels = Levels::new(false);
        let base_dir = self.options.base_dir.as_ref().map(|dir| dir.display().to_string());
        let lookup = lookup::in_path(env.path());
        let is_set = |variable: &str| env.secret(variable).is_some();
        let inputs = Inputs {
            preset: self.options.preset.as_deref(),
            enabled_groups: env.enabled_groups.as_deref(),
            base_dir: base_dir.as_deref(),
            default_base_dir: env.base_dir.as_deref(),
            lookup: Some(&lookup),
            base_values: &self.base_values,
            facts: Facts { variable_is_set: Some(&is_set), server_token: env.server_token().is_some() },
            switches: &self.switches,
            leave_paths: true,
            ..Inputs::new(&self.catalogue, &levels)
        };
        let Source { name, file, format, policy } = source;
        let named = policy.is_some();
        let outcome = match policy {
            Some(Policy::Head(head, again)) => {
                self.load_compiled(&name, SetText::Head(head, again), &inputs)?
            }
            Some(Policy::Text(text)) if form::is_compiled(&text) => {
                self.load_compiled(&name, text.into(), &inputs)?
            }
            Some(Policy::Text(text)) => {
                let document = Document { name: &file, bytes: text.as_bytes(), format };
                compile_document(Some(document), &inputs)
            }
            None => compile_document(None, &inputs),
        };
        if named && findings::is_no_policy(&outcome) {
            return Err(Fault::failed(format!("{name} holds no policy"))
                .help("write the policy under `server:`, or alone in a file; `{}` is the empty policy"));
        }
        let (warnings, rendered) = findings::of(&outcome);
        match outcome.policy {
            Some(policy) => Ok((policy, warnings, rendered)),
            None => {
                let message = match named {
                    true => format!("the policy is refused: {name}"),
                    false => "the policy is refused".to_owned(),
                };
                Err(Fault::failed(message).with_findings(rendered))
            }
        }
    }

    fn load_compiled(&self, name: &str, set: SetText, inputs: &Inputs<'_>) -> Result<Outcome, Fault> {
        if self.options.preset.is_some() {
            return Err(Fault::usage(format!("{name} is a compiled set: --preset cannot change it"))
                .help("compile the policy again with --preset"));
        }
        load_compiled(set, inputs)
            .map_err(|error| Fault::failed(format!("{name}: {error}")).help(error.help()))
    }
}

fn check_base_dir(base_dir: &str) -> Result<(), Fault> {
    let why = match std::fs::metadata(base_dir) {
        Ok(found) if found.is_dir() => return Ok(()),
        Ok(_) => "it is not a directory".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(Fault::failed(format!("cannot use the base directory `{base_dir}`: {why}"))
        .help("make it, or name another with --base-dir, `base_dir` in the policy, or ABX_SERVER_BASE_DIR"))
}
