//! Read a file as base64.
//!
//! # Request
//! Query: `path` (or `path_base64`), required.
//!
//! # Response
//! `{"path", "content_base64"}`. The content is encoded while it is read. A path that is no UTF-8 is also in `path_base64`.
//!
//! # Limits
//! `limits.max_bytes` bounds the file.
//!
//! # Errors
//! 400 `missing_parameter`, `invalid_parameter`, `not_a_regular_file`; 403 `path_not_allowed`, `path_denied`,
//! `symlink_denied`; 404 `not_found`; 413 `file_too_large`.
//!
//! # Policy
//! `paths`, judged as a read; `limits`.
//!
//! ```sh
//! curl -H "X-Access-Token: $TOKEN" "http://localhost:9000/download?path=/home/user/file.txt"
//! ```

use super::encoded::{self, quoted};
use super::intake::query_path;
use super::names::Name;
use super::scene::Scene;
use crate::endpoint::{Answer, Call};
use crate::files::{Stop, read};

pub(crate) async fn call(call: Call) -> Answer {
    let scene = Scene::of(&call);
    let asked = query_path(&call, &scene)?;
    let limit = scene.limit(|limits| limits.max_bytes);
    let stop = Stop::at(scene.stop().deadline());
    let reply = scene.blocking(move |scene| {
        let file = scene.run("path", |access| read::open(access, &asked, limit))?;
        let path = Name::of(&file.path);
        let exact = path.base64.map_or_else(String::new, |path| format!(r#""path_base64":"{path}","#));
        let prefix = format!(r#"{{"path":{},{exact}"content_base64":""#, quoted(&path.text)?);
        let size = file.size;
        encoded::reply(prefix, file, size, r#""}"#.to_owned(), &stop)
    });
    reply.await
}
