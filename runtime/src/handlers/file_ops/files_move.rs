//! Move or rename.
//!
//! # Request
//! JSON: `source` and `destination` (or `source_base64`, `destination_base64`), required; `overwrite` (true). A link at
//! either end stands for itself. Missing parents of the destination are made.
//!
//! # Response
//! `{"source", "destination"}`, absolute.
//!
//! # Limits
//! `limits.rate_per_minute`, `limits.max_concurrency`.
//!
//! # Errors
//! 400 `missing_parameter`, `invalid_parameter`; 403 `path_not_allowed`, `path_denied`, `read_only` (also where an entry
//! of a tree is refused at either end), `symlink_denied`, `extension_not_allowed`; 404 `not_found`; 409 `already_exists`,
//! `conflict` where the two do not fit together; 507 `no_space`. The message begins with `source:` or `destination:`.
//!
//! # Policy
//! `paths`: the source judged as a deletion, the destination as a write; `params.overwrite`,
//! `params.allow_extensions`, `params.deny_extensions` on the destination.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $TOKEN" --json '{"source": "a.txt", "destination": "b.txt"}' http://localhost:9000/files/move
//! ```

use super::intake::required_path;
use super::names::Name;
use super::scene::Scene;
use crate::endpoint::{Answer, Call, Reply};
use crate::files::relocate::{End, relocate};
use serde::Serialize;

#[derive(Serialize)]
struct Response<'a> {
    source: &'a str,
    destination: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_base64: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    destination_base64: Option<&'a str>,
}

pub(crate) async fn call(mut call: Call) -> Answer {
    let scene = Scene::of(&call);
    let mut body = call.json();
    let source = required_path(&mut body, &scene, "source")?;
    let destination = required_path(&mut body, &scene, "destination")?;
    let overwrite = body.flag("overwrite", true)? && scene.may_overwrite();
    let reply = scene.blocking(move |scene| {
        let moved = scene.access(|access| relocate(access, &source, &destination, overwrite))?;
        let moved = moved.map_err(|(error, end)| {
            let name = match end {
                End::Source => "source",
                End::Destination => "destination",
            };
            scene.fault(name, &error).prefixed(name)
        })?;
        let (source, destination) = (Name::of(&moved.source), Name::of(&moved.destination));
        Ok(Reply::ok(&Response {
            source: &source.text,
            destination: &destination.text,
            source_base64: source.base64.as_deref(),
            destination_base64: destination.base64.as_deref(),
        }))
    });
    reply.await
}
