//! The guard of a policy, with its base directory open; what its path rules name is opened by [`PolicyState::prepare`].
//!
//! [`PolicyState::prepare`]: crate::app::PolicyState::prepare

use crate::boot::Fault;
use crate::env::Env;
use crate::guard::{Guard, GuardOptions, NormalPath, Resolver, Seals};
use crate::log;
use policy_lang::policy::CompiledPolicy;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

/// What no endpoint may reach beside the audit file, and where that and the file are known by what they are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sealing<'l> {
    pub(super) state_dir: &'l Path,
    pub(super) seals: &'l Arc<Seals>,
}

/// Opens the base directory. What `earlier` holds is kept: a reload follows nothing that was put in the place of a root. Nor
/// does a start follow what could have been put below a directory that the policy opens.
pub(super) fn begin(
    policy: &CompiledPolicy,
    env: &Env,
    sealing: Sealing<'_>,
    earlier: Option<&Guard>,
) -> Result<Guard, Fault> {
    let resolver = earlier.map_or_else(Resolver::detect, Guard::resolver);
    if earlier.is_none() && resolver == Resolver::Walk {
        log::say(format_args!("openat2 does not work here: paths are opened part by part"));
    }
    let base_dir = policy.base_dir().as_bytes().to_vec();
    let audit_file = env.audit_file.as_deref().map(Path::new);
    // It may be yet to come; whoever makes it seals it then.
    sealing.seals.hold_state(sealing.state_dir);
    let sealed_dirs = spellings(sealing.state_dir);
    let sealed = audit_file.into_iter().flat_map(spellings).chain(sealed_dirs.iter().cloned()).collect();
    let seals = Arc::clone(sealing.seals);
    let options =
        GuardOptions { base_dir, roots: Vec::new(), sealed, sealed_dirs, seals, resolver, durable: true };
    let guard = Guard::begin(options, earlier).map_err(|error| {
        Fault::failed(format!("cannot open the base directory `{}`: {error}", policy.base_dir()))
    })?;
    // Asked for only where there was a link.
    let rules = std::iter::once_with(|| policy.path_rules()).flatten();
    let mut roots = rules.flat_map(|rules| rules.roots());
    if let Some((link, dir)) = guard.base_link_within(&mut roots) {
        let (link, dir) = (String::from_utf8_lossy(link), String::from_utf8_lossy(dir));
        let message = format!(
            "cannot use the base directory `{}`: the link `{link}` lies in the allowed directory `{dir}`",
            policy.base_dir()
        );
        return Err(Fault::failed(message)
            .help("whoever writes there can turn it elsewhere: name the directory that it leads to"));
    }
    Ok(guard)
}

/// The file as it was named, where it really is, and where it leads if it is a link.
fn spellings(file: &Path) -> Vec<Vec<u8>> {
    let here = std::env::current_dir().unwrap_or_default();
    let named = NormalPath::new(here.as_os_str().as_bytes(), file.as_os_str().as_bytes());
    let named = named.ok().map(|path| path.as_bytes().to_vec());
    // The file itself may be yet to come.
    let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(&here);
    let real = std::fs::canonicalize(dir).ok().zip(file.file_name()).map(|(dir, name)| dir.join(name));
    let real = real.map(|real| real.as_os_str().as_bytes().to_vec());
    let led = std::fs::canonicalize(file).ok().map(|led| led.as_os_str().as_bytes().to_vec());
    named.into_iter().chain(real).chain(led).collect()
}
