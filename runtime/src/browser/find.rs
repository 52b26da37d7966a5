//! Finds the browser: the one that `ABX_BROWSER` names, or the first of a few names in the server's `PATH`.

use crate::process::{FindError, Program, Programs};
use std::os::fd::AsFd as _;

/// Names that Chromium goes by, in the order in which they are tried.
const NAMES: [&str; 6] = [
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "chrome",
    "chrome-headless-shell",
];

/// The browser, and the name it was found under.
pub(super) fn find(programs: &Programs, named: Option<&str>) -> Result<(Program, String), String> {
    let Ok(root) = rustix::fs::open("/", rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC, 0.into())
    else {
        return Err("The browser cannot be looked for now".to_owned());
    };
    let find = |name: &str| match programs.find(name, root.as_fd()) {
        Ok(program) => Ok(Some((program, name.to_owned()))),
        Err(FindError::Unavailable) => Err("The browser cannot be opened now".to_owned()),
        Err(FindError::NotFound(_) | FindError::NotExecutable(_)) => Ok(None),
    };
    if let Some(name) = named {
        let missing =
            || format!("The browser is not installed: ABX_BROWSER names `{name}`, which is no program here");
        return find(name)?.ok_or_else(missing);
    }
    for name in NAMES {
        if let Some(found) = find(name)? {
            return Ok(found);
        }
    }
    Err(format!(
        "The browser is not installed: none of {} is in PATH; install Chromium or set ABX_BROWSER",
        NAMES.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::find;
    use crate::process::Programs;

    #[test]
    fn what_was_looked_for_is_named() {
        let nothing = Programs::from_path("/nowhere".as_ref());
        assert_eq!(
            find(&nothing, None).unwrap_err(),
            "The browser is not installed: none of chromium, chromium-browser, google-chrome-stable, google-chrome, \
             chrome, chrome-headless-shell is in PATH; install Chromium or set ABX_BROWSER"
        );
        assert_eq!(
            find(&nothing, Some("/no/browser")).unwrap_err(),
            "The browser is not installed: ABX_BROWSER names `/no/browser`, which is no program here"
        );
    }
}
