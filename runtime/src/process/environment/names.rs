//! Which names of variables may pass, which nobody may set, and which speak of a secret.

/// Names that a child inherits from the server. Everything else stays behind: what a template's author did not mean
/// for children is most likely a credential.
const INHERITED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "HOSTNAME",
    "TMPDIR",
    "PWD",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "DEBIAN_FRONTEND",
    "CI",
    "DISPLAY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "CONDA_DEFAULT_ENV",
    "PYENV_ROOT",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONIOENCODING",
    "PYTHONUTF8",
    "PIP_INDEX_URL",
    "NODE_ENV",
    "NVM_DIR",
    "NVM_BIN",
    "NPM_CONFIG_PREFIX",
    "NPM_CONFIG_REGISTRY",
    "JAVA_HOME",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GEM_HOME",
    "RBENV_ROOT",
    "PLAYWRIGHT_BROWSERS_PATH",
];

/// Beginnings of further names that a child inherits.
const INHERITED_BEGINNINGS: &[&str] = &["LC_", "XDG_"];

/// Variables that make a loader, a shell, an interpreter or git run code of the setter's choice.
const LOADERS: &[&str] = &[
    "BASH_ENV",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PS4",
    "PROMPT_COMMAND",
    "IFS",
    "ZDOTDIR",
    "GCONV_PATH",
    "LOCPATH",
    "NLSPATH",
    "GLIBC_TUNABLES",
    "HOSTALIASES",
    "RESOLV_HOST_CONF",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONBREAKPOINT",
    "PYTHONWARNINGS",
    "PYTHONUSERBASE",
    "PYTHONEXECUTABLE",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NODE_REPL_EXTERNAL_MODULE",
    "PERL5LIB",
    "PERL5OPT",
    "PERL5DB",
    "PERLLIB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
    "LUA_INIT",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "R_PROFILE",
    "R_ENVIRON",
    "GUILE_LOAD_PATH",
    "ERL_FLAGS",
    "LESSOPEN",
    "LESSCLOSE",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "GIT_EXEC_PATH",
    "GIT_TEMPLATE_DIR",
    "GIT_PROXY_COMMAND",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "RUSTC_WRAPPER",
    "CARGO_BUILD_RUSTC_WRAPPER",
];

/// Beginnings of more of them.
const LOADER_BEGINNINGS: &[&str] = &["LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG", "LUA_INIT_"];

/// Variables that decide who a child is; a request may bring its own, but nobody sets them for all later children.
const PROTECTED: &[&str] = &["PATH", "HOME", "USER", "SHELL", "LOGNAME", "PWD"];

/// Variables that send the traffic of later children elsewhere.
const PROXIES: &[&str] = &["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "FTP_PROXY"];

/// Parts of a name that speak of a secret.
const SECRET_WORDS: &[&str] = &["TOKEN", "SECRET", "KEY", "PASSWORD", "CREDENTIAL"];

/// Which kind of name was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// It belongs to the server, or holds one of its secrets.
    Secret,
    /// It makes a loader or an interpreter run other code.
    Loader,
    /// It decides who a child is.
    Protected,
    /// It redirects the traffic of later children.
    Proxy,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Secret => "it belongs to the server",
            Self::Loader => "it changes what a loader or interpreter runs",
            Self::Protected => "it is protected",
            Self::Proxy => "it redirects traffic",
        })
    }
}

/// Whether `name` is one of `list`, whatever its case.
fn is_one(name: &str, list: &[&str]) -> bool {
    list.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether `name` begins with one of `list`, whatever its case.
fn begins_with_one(name: &str, list: &[&str]) -> bool {
    list.iter().any(|known| name.get(..known.len()).is_some_and(|start| start.eq_ignore_ascii_case(known)))
}

/// Whether a child inherits the name.
pub(crate) fn inheritable(name: &str) -> bool {
    (INHERITED.contains(&name) || begins_with_one(name, INHERITED_BEGINNINGS)) && refused(name).is_none()
}

/// Whether the name is the server's own.
pub(super) fn server_secret(name: &str) -> bool {
    name == "ABX_SERVER_TOKEN"
}

/// Why not even a request may bring the name for its own child.
pub(super) fn refused(name: &str) -> Option<Refused> {
    if begins_with_one(name, &["ABX_"]) {
        Some(Refused::Secret)
    } else if is_one(name, LOADERS) || begins_with_one(name, LOADER_BEGINNINGS) {
        Some(Refused::Loader)
    } else {
        None
    }
}

/// Why nobody may set the name for all later children.
pub(super) fn refused_for_everyone(name: &str) -> Option<Refused> {
    if is_one(name, PROTECTED) {
        Some(Refused::Protected)
    } else if is_one(name, PROXIES) {
        Some(Refused::Proxy)
    } else {
        None
    }
}

/// Whether the name says that its value is a secret.
pub(crate) fn speaks_of_a_secret(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    SECRET_WORDS.iter().any(|word| upper.contains(word))
}

/// The value with the password of a URL (`scheme://user:password@host`) replaced.
pub(in crate::process) fn without_password(value: &str) -> String {
    let Some((scheme, rest)) = value.split_once("://") else { return value.to_owned() };
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(authority_end).unwrap_or((rest, ""));
    match authority.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split_once(':').map_or("***".to_owned(), |(name, _)| format!("{name}:***"));
            format!("{scheme}://{user}@{host}{path}")
        }
        None => value.to_owned(),
    }
}
