//! A witness on one line, as a reviewer reads it.

use super::{Beyond, Witness};
use crate::decide::VariableUse;
use crate::diag::harmless;
use crate::endpoint::{ENDPOINTS, Key};
use crate::matchers::signal;
use std::fmt;

impl fmt::Display for Witness {
    /// `POST /upload path=/srv/a op=write`; bytes that are no text as U+FFFD, controls escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decl = ENDPOINTS.iter().find(|decl| decl.name == self.endpoint);
        match decl.and_then(|decl| decl.doors.first()) {
            Some(door) => write!(f, "{} {}", door.method.as_str(), door.path)?,
            None => f.write_str(&self.endpoint)?,
        }
        if let Some(identity) = &self.identity {
            write!(f, " identity={identity}")?;
        }
        if let Some(scopes) = &self.scopes {
            let scopes = if scopes.is_empty() { "(none)".to_owned() } else { scopes.join(",") };
            write!(f, " scopes={scopes}")?;
        }
        if let Some(name) = &self.command_name {
            write!(f, " name={name}")?;
        }
        if let Some(size) = self.request_bytes {
            write!(f, " request_bytes={size}")?;
        }
        if let Some(size) = self.bytes {
            write!(f, " bytes={size}")?;
        }
        if let Some((path, op)) = &self.path {
            write!(f, " path={} op={}", shown(&String::from_utf8_lossy(path)), op.as_str())?;
        }
        for (name, value) in [
            ("command", &self.command),
            ("shell", &self.shell),
            ("language", &self.language),
            ("url", &self.url),
        ] {
            if let Some(value) = value {
                write!(f, " {name}={}", shown(value))?;
            }
        }
        if let Some(number) = self.signal {
            write!(f, " signal={}", signal::name(number).unwrap_or_else(|| number.to_string()))?;
        }
        for address in &self.addresses {
            write!(f, " address={address}")?;
        }
        if let Some(port) = self.port {
            write!(f, " port={port}")?;
        }
        if let Some((name, usage)) = &self.variable {
            let usage = match usage {
                VariableUse::Set => "set",
                VariableUse::Show => "show",
                VariableUse::Carry => "env",
            };
            write!(f, " {usage}={}", shown(name))?;
        }
        self.beyond.as_ref().map_or(Ok(()), |beyond| write!(f, " {beyond}"))
    }
}

impl fmt::Display for Beyond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Amount(key, amount) => write!(f, "{}", counted(*key, *amount)),
            Self::Overwrite => f.write_str("onto an existing file"),
            Self::Link => f.write_str("through a symbolic link"),
            Self::Unrecorded => f.write_str("without a line in the audit log"),
            Self::Inherited(name) => write!(f, "with `{}` inherited by the child", shown(name)),
        }
    }
}

fn counted(key: Key, amount: u64) -> String {
    match key {
        Key::LimitsRatePerMinute => format!("rate={amount}/min"),
        Key::LimitsMaxConcurrency => format!("concurrent={amount}"),
        Key::LimitsMaxEntries => format!("entries={amount}"),
        Key::LimitsMaxOutputBytes => format!("output_bytes={amount}"),
        _ => format!("seconds={amount}"),
    }
}

/// Text without controls, on one line, quoted where it holds a space.
fn shown(text: &str) -> String {
    let plain = harmless(text).replace('\n', "\\n");
    if plain.contains(' ') { format!("`{plain}`") } else { plain }
}
