//! `allow_commands` and `deny_commands`: which programs may run, matched on `argv[0]` and the file behind it.
//!
//! A bare name in a list means the file that the server's own `PATH` finds for it when the policy is compiled; nothing in
//! a request can change which file that is. An absolute entry means that file. A request is judged by the file that would
//! be executed; where nobody looks at a file system (explain, `capabilities/check`), a bare `argv[0]` means what the same
//! bare name in the list means. A deny is wider: it also fits the base name of `argv[0]`, of the file and of what a link
//! leads to, without regard to case.

use super::{Allow, Deny, denied, not_allowed};
use crate::decide::CommandQuery;
use crate::paths::normal;
use crate::policy::ElementRef;

/// A file that a bare name finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its absolute path: links in the directory resolved, its own name as found.
    pub found: String,
    /// The same with every link resolved.
    pub target: String,
}

/// Finds programs as the server's own `PATH` does.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<Program>;

/// One entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// As written: a bare name or an absolute path in normal form.
    written: Box<str>,
    /// The file that it means, as far as it is known.
    found: Option<Box<str>>,
    /// What that file's links lead to.
    target: Option<Box<str>>,
}

impl Command {
    /// Reads an entry. None where it is neither a bare name nor an absolute path.
    #[must_use]
    pub fn parse(text: &str, lookup: Option<Lookup<'_>>) -> Option<Self> {
        let program = lookup.and_then(|lookup| lookup(text));
        let (found, target) = program.map(|program| (program.found.into(), program.target.into())).unzip();
        if !text.contains('/') {
            let name = !text.is_empty() && !text.contains('\0') && text != "." && text != "..";
            return name.then(|| Self { written: text.into(), found, target });
        }
        let path = text.starts_with('/').then(|| normal_text(text))??;
        let known = found.or_else(|| Some(path.as_str().into()));
        Some(Self { written: path.into(), found: known, target })
    }

    /// As written: a bare name or an absolute path in normal form.
    pub(crate) fn written(&self) -> &str {
        &self.written
    }

    /// Whether the program of `query` is exactly this file.
    fn is(&self, query: &CommandQuery<'_>) -> bool {
        match (query.found, &self.found) {
            (Some(found), Some(own)) => {
                found == &**own || (self.written.starts_with('/') && found == &*self.written)
            }
            (Some(_), None) => false,
            (None, _) if !query.argv0.contains('/') => query.argv0 == &*self.written,
            (None, Some(own)) => {
                normal_text(query.argv0).is_some_and(|path| path == **own || path == *self.written)
            }
            (None, None) => false,
        }
    }

    /// Whether this entry, as a denial, fits the program of `query`.
    fn touches(&self, query: &CommandQuery<'_>) -> bool {
        let given = [Some(query.argv0), query.found, query.target];
        let name = base_name(&self.written);
        given.into_iter().flatten().any(|given| {
            base_name(given).eq_ignore_ascii_case(name)
                || [&self.found, &self.target].into_iter().flatten().any(|own| **own == *given)
        })
    }
}

/// Command rules.
#[derive(Debug, Clone, Default)]
pub struct CommandRules {
    /// `allow_commands`
    pub allow: Option<Allow<Command>>,
    /// `deny_commands`
    pub deny: Deny<Command>,
}

impl CommandRules {
    /// What refuses the program; none where it may run.
    #[must_use]
    pub fn refuses(&self, query: &CommandQuery<'_>) -> Option<ElementRef> {
        denied(&self.deny, |entry| entry.touches(query))
            .or_else(|| not_allowed(self.allow.as_ref(), |entry| entry.is(query)))
    }
}

pub(crate) fn base_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// An absolute path in normal form; none for a relative one, whose directory only the caller knows.
fn normal_text(path: &str) -> Option<String> {
    let path = path.starts_with('/').then(|| normal::absolute(b"/", path.as_bytes()))?.ok()?;
    String::from_utf8(path.into_owned()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(name: &str) -> Option<Program> {
        let (found, target) = match name {
            "ls" | "/usr/bin/ls" | "/bin/ls" => ("/usr/bin/ls", "/usr/bin/busybox"),
            "rm" | "/bin/rm" => ("/usr/bin/rm", "/usr/bin/busybox"),
            "python" => ("/usr/bin/python", "/usr/bin/python3.11"),
            _ => return None,
        };
        Some(Program { found: found.to_owned(), target: target.to_owned() })
    }

    fn rules(allow: Option<&[&str]>, deny: &[&str]) -> CommandRules {
        let read = |text: &&str| Command::parse(text, Some(&lookup)).unwrap();
        CommandRules {
            allow: allow
                .map(|list| Allow { entries: list.iter().map(read).collect(), origin: ElementRef::BASE }),
            deny: deny.iter().map(read).map(|entry| (entry, ElementRef::BASE)).collect(),
        }
    }

    /// A request as the server asks it: the file was looked up.
    fn run<'a>(argv0: &'a str, found: &'a str, target: &'a str) -> CommandQuery<'a> {
        CommandQuery { argv0, found: Some(found), target: Some(target) }
    }

    /// A request as explain asks it.
    fn text(argv0: &str) -> CommandQuery<'_> {
        CommandQuery { argv0, found: None, target: None }
    }

    #[test]
    fn a_bare_name_allows_the_file_that_path_finds_and_no_other() {
        let rules = rules(Some(&["ls"]), &[]);
        let passes = |query| rules.refuses(&query).is_none();
        assert!(passes(run("ls", "/usr/bin/ls", "/usr/bin/busybox")));
        assert!(passes(run("/bin/ls", "/usr/bin/ls", "/usr/bin/busybox")));
        assert!(!passes(run("./ls", "/home/user/ls", "/home/user/ls")));
        assert!(!passes(run("ls", "/home/user/ls", "/home/user/ls")));
        // The same file behind another name does something else.
        assert!(!passes(run("rm", "/usr/bin/rm", "/usr/bin/busybox")));
        assert!(passes(text("ls")) && passes(text("/usr/bin/ls")) && passes(text("//usr/bin/./ls")));
        for other in ["LS", "ls2", "FOO=1", "./ls", "/home/user/ls", ""] {
            assert!(!passes(text(other)), "{other}");
        }
    }

    #[test]
    fn an_absolute_entry_means_that_file() {
        let rules = rules(Some(&["/bin/ls", "/opt/tool"]), &[]);
        assert!(rules.refuses(&run("ls", "/usr/bin/ls", "/usr/bin/busybox")).is_none());
        assert!(rules.refuses(&run("/opt//tool", "/opt/tool", "/opt/tool-2")).is_none());
        assert!(rules.refuses(&run("tool", "/usr/bin/tool", "/usr/bin/tool")).is_some());
        assert!(rules.refuses(&text("tool")).is_some());
        assert!(rules.refuses(&text("/opt/tool")).is_none());
    }

    #[test]
    fn a_deny_fits_names_files_and_the_ends_of_links() {
        let rules = rules(None, &["rm"]);
        for query in [
            run("rm", "/usr/bin/rm", "/usr/bin/busybox"),
            run("/bin/rm", "/usr/bin/rm", "/usr/bin/busybox"),
            run("//bin/rm", "/usr/bin/rm", "/usr/bin/busybox"),
            run("./remove", "/home/user/remove", "/bin/rm"),
            run("RM", "/usr/bin/RM", "/usr/bin/RM"),
            text("rm"),
            text("/x/rm"),
        ] {
            assert!(rules.refuses(&query).is_some(), "{query:?}");
        }
        assert!(rules.refuses(&text("rmdir")).is_none());
    }

    #[test]
    fn an_empty_list_allows_nothing_and_deny_beats_allow() {
        assert!(rules(Some(&[]), &[]).refuses(&text("ls")).is_some());
        assert!(rules(Some(&["rm"]), &["rm"]).refuses(&text("rm")).is_some());
        assert!(rules(None, &[]).refuses(&text("anything")).is_none());
    }

    #[test]
    fn relative_entries_mean_nothing() {
        for entry in ["", "./ls", "bin/ls", "..", "\0"] {
            assert_eq!(Command::parse(entry, None), None, "{entry:?}");
        }
    }
}
