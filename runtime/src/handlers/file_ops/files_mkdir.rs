//! Create a directory with its parents.
//!
//! # Request
//! JSON: `path` (or `path_base64`), required.
//!
//! # Response
//! `{"path", "created": true}`, also where the directory was there already. It survives a power cut.
//!
//! # Limits
//! `limits.rate_per_minute`, `limits.max_concurrency`.
//!
//! # Errors
//! 400 `missing_parameter`, `invalid_parameter`; 403 `path_not_allowed`, `path_denied`, `read_only`, `symlink_denied`,
//! `extension_not_allowed`; 409 `already_exists` where something else lies there; 507 `no_space`.
//!
//! # Policy
//! `paths`, judged as a write; `params.allow_extensions`, `params.deny_extensions`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $TOKEN" --json '{"path": "/home/user/a/b"}' http://localhost:9000/files/mkdir
//! ```

use super::intake::required_path;
use super::names::Name;
use super::scene::Scene;
use crate::endpoint::{Answer, Call, Reply};
use crate::files::mkdir::mkdir;
use serde::Serialize;

#[derive(Serialize)]
struct Response<'a> {
    path: &'a str,
    created: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_base64: Option<&'a str>,
}

pub(crate) async fn call(mut call: Call) -> Answer {
    let scene = Scene::of(&call);
    let path = required_path(&mut call.json(), &scene, "path")?;
    let reply = scene.blocking(move |scene| {
        let made = scene.run("path", |access| mkdir(access, &path))?;
        let path = Name::of(&made);
        Ok(Reply::ok(&Response { path: &path.text, created: true, path_base64: path.base64.as_deref() }))
    });
    reply.await
}
