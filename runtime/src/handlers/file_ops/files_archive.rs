//! Pack paths into tar.gz or zip.
//!
//! # Request
//! JSON: `paths`, required: a list of paths, not empty; `paths_base64` may name more, exactly; `format` (`tar.gz` or
//! `zip`, default `tar.gz`).
//!
//! # Response
//! `{"content_base64", "format", "bytes", "entries", "skipped"}`. A path below the base directory is named from there,
//! another by its last part. No link is followed: links, what is neither file nor directory, what the rules refuse, and
//! what would take the name of another entry are left out and counted in `skipped`. What several paths reach is packed
//! once. Owners and set-id bits are not kept; in a zip bytes of a name that are no UTF-8 are written as `%FF`.
//!
//! # Limits
//! `limits.max_entries`, `limits.max_bytes` (of the archive), `limits.timeout_seconds`. Packing ends as soon as one is
//! passed, and when the client leaves.
//!
//! # Errors
//! 400 `missing_parameter`, `invalid_parameter`, `not_a_regular_file`; 403 `path_not_allowed`, `path_denied`,
//! `symlink_denied`; 404 `not_found`; 408 `timeout`; 413 `archive_too_large`; 507 `no_space`.
//!
//! # Policy
//! `paths`, judged as a read, for each path and each entry below it; `limits`.
//!
//! ```sh
//! curl -X POST -H "X-Access-Token: $TOKEN" --json '{"paths": ["src"], "format": "zip"}' http://localhost:9000/files/archive
//! ```

use super::encoded;
use super::intake::decode;
use super::scene::Scene;
use crate::endpoint::{Answer, Call, JsonBody};
use crate::error::ApiError;
use crate::files::Stop;
use crate::files::archive::{ArchiveOptions, Format, archive};
use crate::guard::NormalPath;

/// Most paths of one call; a directory is one.
const MAX_PATHS: usize = 1000;
/// Where the rules say nothing: entries, bytes and seconds of the source document.
const MAX_ENTRIES: u64 = 10_000;
const MAX_BYTES: u64 = 100_000_000;
const TIMEOUT: u64 = 120;

pub(crate) async fn call(mut call: Call) -> Answer {
    let scene = Scene::timed(&call, |limits| limits.timeout_seconds, TIMEOUT);
    let mut body = call.json();
    let paths = paths(&mut body, &scene)?;
    let name = body.text("format")?;
    let format = Format::from_name(name.as_deref().unwrap_or("tar.gz"))
        .ok_or_else(|| ApiError::invalid("format", "format must be tar.gz or zip"))?;
    let options = ArchiveOptions {
        format,
        max_bytes: scene.limit(|limits| limits.max_bytes).unwrap_or(MAX_BYTES),
        max_entries: scene.limit(|limits| limits.max_entries).unwrap_or(MAX_ENTRIES),
    };
    let reply = scene.blocking(move |scene| {
        let (content, entries, skipped) = scene.run("paths", |access| {
            let packed = archive(access, &paths, options)?;
            Ok::<_, crate::files::FilesError>((packed.content.into_reader()?, packed.entries, packed.skipped))
        })?;
        let size = content.size();
        let suffix = format!(
            r#"","format":"{}","bytes":{size},"entries":{entries},"skipped":{skipped}}}"#,
            format.as_str()
        );
        encoded::reply(r#"{"content_base64":""#.to_owned(), content, size, suffix, &Stop::default())
    });
    reply.await
}

fn paths(body: &mut JsonBody, scene: &Scene) -> Result<Vec<NormalPath>, ApiError> {
    let plain = body.texts("paths")?;
    let exact = body.texts("paths_base64")?;
    if plain.is_none() && exact.is_none() {
        return Err(ApiError::missing("paths"));
    }
    let plain = plain.unwrap_or_default().into_iter().map(|path| scene.path("paths", path.as_bytes()));
    let exact = exact.unwrap_or_default();
    let exact = exact.iter().map(|path| scene.path("paths", &decode("paths", path.as_bytes())?));
    let paths = plain.chain(exact).collect::<Result<Vec<_>, _>>()?;
    if paths.is_empty() || paths.len() > MAX_PATHS {
        return Err(ApiError::invalid("paths", format!("paths must name 1 to {MAX_PATHS} paths")));
    }
    Ok(paths)
}
