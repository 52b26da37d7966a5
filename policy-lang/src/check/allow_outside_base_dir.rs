//! `allow-outside-base-dir`: an allowed path that is not beneath `base_dir`.

use super::Context;
use super::context::beside;
use crate::diag::{Code, Diagnostic};
use crate::endpoint::Key;
use crate::layer::Value;
use crate::source::Spanned;

pub(super) fn run(context: &Context<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for authored in context.authored_key(Key::PathsAllow) {
        let Value::List(entries) = &authored.written.value else { continue };
        let outside: Vec<&Spanned<String>> =
            entries.iter().filter(|entry| is_outside(&entry.value, context.base_dir)).collect();
        let Some(first) = outside.first() else { continue };
        let more = match outside.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let verb = if outside.len() == 1 { "lies" } else { "lie" };
        let base_dir = context.base_dir;
        let message = format!("`{}`{more} {verb} outside of `base_dir`, which is `{base_dir}`", first.value);
        let finding = Diagnostic::new(Code::AllowOutsideBaseDir, message)
            .help("allow a path beneath `base_dir`, or set `base_dir` to a directory that holds both");
        let finding = authored.mark(finding, Some(first.span), "outside of `base_dir`");
        let dir = context.layers.iter().find_map(|layer| layer.base_dir.as_ref()).map(|dir| dir.span);
        let takers = context.takers(&authored.block.selector, Key::PathsAllow);
        found.push(context.affecting(
            beside(finding, dir, "`base_dir` is set here"),
            &authored.block.selector,
            &takers,
        ));
    }
    found
}

/// Relative entries are taken from `base_dir`; one that begins with `**/` reaches everywhere.
fn is_outside(entry: &str, base_dir: &str) -> bool {
    if !entry.starts_with('/') {
        return entry.starts_with("**/");
    }
    let base = base_dir.trim_end_matches('/');
    !entry.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::is_outside;

    #[test]
    fn a_sibling_with_the_same_beginning_is_outside() {
        for (entry, outside) in [
            ("/home/user", false),
            ("/home/user/", false),
            ("/home/user/out/**", false),
            ("out/**", false),
            ("*.txt", false),
            ("/home/username", true),
            ("/home", true),
            ("/srv", true),
            ("**/x", true),
            ("/home/*", true),
        ] {
            assert_eq!(is_outside(entry, "/home/user"), outside, "{entry}");
        }
        assert!(!is_outside("/data/x", "/data/"));
    }
}
