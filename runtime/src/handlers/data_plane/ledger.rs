//! What the audit log learns of a command: which program runs where, in the line of the call; and how it ended, in a
//! line of its own, whether or not anybody was attached. Never arguments, variables, input or output.

use std::sync::Arc;
use std::time::SystemTime;

use policy_lang::endpoint::AuditLevel;

use crate::audit::{Entry, Event, Fact};
use crate::endpoint::Call;
use crate::process::{Exit, Job, Program, Reason, Stream};

/// The facts of a command that is about to start.
#[derive(Debug)]
pub(super) struct Started(Vec<(&'static str, Fact)>);

impl Started {
    /// Collects them.
    pub(super) fn of(program: &Program, directory: &str, id: Option<&str>) -> Self {
        let mut facts = vec![
            ("program", program.found().to_string_lossy().into_owned().into()),
            ("cwd", directory.into()),
        ];
        facts.extend(id.map(|id| ("command_id", id.into())));
        Self(facts)
    }

    /// Puts them into the line of the call, and writes another line when the command has ended.
    pub(super) fn watch(self, call: &Call, job: &Arc<Job>) {
        for (name, fact) in &self.0 {
            // The line of the call is told its command by whoever attaches.
            if *name != "command_id" {
                call.note().fact(name, fact.clone());
            }
        }
        if call.permit().audit() != AuditLevel::All {
            return;
        }
        let mut facts = self.0;
        if let Ok(sandbox) = call.param("sandbox_id") {
            facts.insert(0, ("sandbox", sandbox.into_owned().into()));
        }
        let (app, job) = (Arc::clone(call.app()), Arc::clone(job));
        let (request_id, peer) = (call.request_id(), call.peer());
        let (identity, endpoint) = (Arc::clone(call.principal()), call.declared().name);
        tokio::spawn(async move {
            let exit = job.ended().await;
            facts.extend(end(&job, exit));
            app.audit.write(&Entry {
                time: SystemTime::now(),
                event: Event::End,
                request_id,
                peer,
                identity: Some(&identity.id),
                method: "-",
                endpoint: Some(endpoint),
                allowed: true,
                code: None,
                rule: None,
                status: None,
                duration: job.started.elapsed(),
                bytes_in: 0,
                bytes_out: 0,
                subject: None,
                facts: &facts,
            });
        });
    }
}

/// How it ended and how much it printed.
fn end(job: &Job, exit: Exit) -> Vec<(&'static str, Fact)> {
    let state = match exit.reason {
        None if exit.signal.is_some() => "signal",
        None => "exit",
        Some(Reason::Timeout) => "timeout",
        Some(Reason::Idle) => "idle",
        Some(Reason::Disconnect) => "disconnect",
        Some(Reason::Delete) => "killed",
        Some(Reason::Shutdown) => "shutdown",
    };
    let micros = u64::try_from(job.started.elapsed().as_micros()).unwrap_or(u64::MAX);
    let log = job.log();
    let printed = |stream| log.end(stream) + log.dropped(stream);
    vec![
        ("pid", job.pid.into()),
        ("ran_us", micros.into()),
        ("state", state.into()),
        ("exit_code", exit.exit_code().into()),
        ("stdout_bytes", printed(Stream::Stdout).into()),
        ("stderr_bytes", printed(Stream::Stderr).into()),
    ]
}
