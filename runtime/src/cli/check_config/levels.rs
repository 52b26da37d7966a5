//! `--allow`, `--warn` and `--deny`: what findings of a code are worth in this run.

use clap::Args;
use policy_lang::diag::{CODES, Code, Diagnostic, Level, Levels, suggest};

/// The levels asked for on the command line.
#[derive(Debug, Args)]
pub(super) struct LevelArgs {
    /// Leave findings of this code out
    #[arg(long, value_name = "CODE")]
    allow: Vec<String>,
    /// Make findings of this code warnings, which fail under --strict
    #[arg(long, value_name = "CODE")]
    warn: Vec<String>,
    /// Make findings of this code errors
    #[arg(long, value_name = "CODE")]
    deny: Vec<String>,
}

impl LevelArgs {
    /// The levels, or what is wrong with them. `--deny` is read last and so the strictest wins.
    pub(super) fn read(&self, strict: bool) -> Result<Levels, String> {
        let mut levels = Levels::new(strict);
        let asked = [(&self.allow, Level::Allow), (&self.warn, Level::Warn), (&self.deny, Level::Deny)];
        for (names, level) in asked {
            for name in names {
                let code = code(name)?;
                if !levels.set(code, level) {
                    return Err(format!("`{name}` is an error of the language and cannot be lowered"));
                }
            }
        }
        Ok(levels)
    }
}

impl LevelArgs {
    /// A finding for every `--allow` that left nothing out.
    pub(super) fn unused(&self, left_out: &[Code]) -> Vec<Diagnostic> {
        let codes = self.allow.iter().filter_map(|name| Code::from_name(name));
        let unused = codes.filter(|code| !left_out.contains(code) && !self.raised(*code));
        unused
            .map(|code| {
                let message = format!("`--allow {}` leaves nothing out", code.as_str());
                Diagnostic::new(Code::UnusedLintLevel, message).help("take the flag out of the call")
            })
            .collect()
    }

    /// Whether a flag that counts more speaks of the code as well.
    fn raised(&self, code: Code) -> bool {
        self.warn.iter().chain(&self.deny).any(|name| Code::from_name(name) == Some(code))
    }
}

/// The code of that name, or a sentence with the nearest.
pub(in crate::cli) fn code(name: &str) -> Result<Code, String> {
    Code::from_name(name).ok_or_else(|| {
        let near = suggest::closest(name, CODES.iter().map(|code| code.as_str()));
        match near.first() {
            Some(near) => format!("unknown code `{name}`; did you mean `{near}`?"),
            None => format!("unknown code `{name}`; `rule --all` lists every code"),
        }
    })
}
