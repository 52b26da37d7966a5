//! What a question gives, held against what its endpoint takes: a fact that no gate looks at is named, and so is one of two
//! paths that was left out.

use super::Asked;
use crate::cli::report::Report;
use policy_lang::endpoint::{Catalogue, EndpointId, Key};
use policy_lang::policy::CompiledPolicy;
use policy_lang::resolved::EndpointIx;

/// The parameters of an endpoint that takes two paths.
const ENDS: [&str; 2] = ["source", "destination"];

fn takes_two(endpoint: EndpointIx) -> bool {
    endpoint == EndpointIx::from(EndpointId::FilesMove)
}

/// A path of the call with the parameter that it stands for, as `--path` names both.
pub(super) fn path<'a>(
    policy: &CompiledPolicy,
    endpoint: EndpointIx,
    written: &'a str,
) -> Result<(&'a str, &'a str), String> {
    let name = policy.decl(endpoint).map_or("the route", |decl| decl.name);
    match (takes_two(endpoint), written.split_once('=')) {
        (true, Some((role, path))) if ENDS.contains(&role) => Ok((role, path)),
        (true, _) => Err(format!(
            "`{name}` takes two paths: write --path source=… and --path destination=…, not `{written}`"
        )),
        (false, Some((role, _))) if ENDS.contains(&role) => {
            Err(format!("`{name}` takes no `{role}`: write --path P, or ./{role}=… for a file of that name"))
        }
        (false, Some((role @ ("path" | "cwd"), path))) => Ok((role, path)),
        (false, _) => Ok(("path", written)),
    }
}

/// Names what the answer leaves out.
pub(super) fn remark(report: &mut Report, catalogue: &Catalogue, asked: &Asked) {
    let name = catalogue.name(asked.endpoint);
    let accepts = catalogue.accepts(asked.endpoint);
    let facts = [
        (!asked.paths.is_empty(), "path", [Key::PathsAllow, Key::PathsDeny]),
        (asked.program.is_some(), "program", [Key::ParamsAllowCommands, Key::ParamsDenyCommands]),
        (asked.url.is_some(), "URL", [Key::ParamsUrlAllow, Key::ParamsUrlDeny]),
        (asked.port.is_some(), "port", [Key::ParamsAllowPorts, Key::ParamsDenyPorts]),
    ];
    for (given, what, keys) in facts {
        if given && !keys.into_iter().any(|key| accepts.contains(key)) {
            report.skip("explain", &format!("`{name}` takes no {what}: what was given is not judged"));
        }
    }
    let given = |role: &&str| asked.paths.iter().any(|(named, ..)| named == role);
    if let (true, [missing]) =
        (takes_two(asked.endpoint), ENDS.iter().filter(|role| !given(role)).collect::<Vec<_>>().as_slice())
    {
        report.skip("explain", &format!("`{missing}` was not given: only the other path is judged"));
    }
}
