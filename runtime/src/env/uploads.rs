//! `ABX_MAX_UPLOAD_SIZE`: what it puts in the place of the catalogue's limits of uploads.

use super::{Env, MAX_UPLOAD_SIZE};
use policy_lang::endpoint::{self, ENDPOINTS, EndpointId, Key};
use policy_lang::rules::size;

/// The endpoints whose uploads it bounds where the policy says nothing.
const UPLOADS: [EndpointId; 2] = [EndpointId::Upload, EndpointId::FilesUploadStream];
/// What JSON and multipart framing may add to an upload.
pub(crate) const FRAMING_BYTES: u64 = 64 * 1024;

/// A limit of an endpoint that is not the catalogue's.
pub(crate) type BaseValue = (EndpointId, Key, u64);

/// What a request takes, in bytes, that holds an upload of so many: four characters of base64 for three bytes, and the framing.
pub(crate) const fn request_bytes(upload: u64) -> u64 {
    upload.div_ceil(3).saturating_mul(4).saturating_add(FRAMING_BYTES)
}

impl Env {
    /// The limits that it replaces: none where the variable is unset.
    ///
    /// # Errors
    /// It is no size, in words for whoever has set it.
    pub(crate) fn base_values(&self) -> Result<Vec<BaseValue>, String> {
        let Some(text) = self.max_upload_size.as_deref() else { return Ok(Vec::new()) };
        let size = text.parse().or_else(|_| size::parse(text)).ok().filter(|size| *size > 0);
        let size =
            size.ok_or_else(|| format!("`{MAX_UPLOAD_SIZE}` is no size: `{}`", text.escape_debug()))?;
        let upload = |id| (id, Key::LimitsMaxBytes, size);
        // The request has room for it. Where it has more, that stays, since a policy may allow larger uploads.
        let request = |id| (id, Key::LimitsMaxRequestBytes, request_bytes(size).max(request_limit(id)));
        Ok(UPLOADS.into_iter().flat_map(|id| [upload(id), request(id)]).collect())
    }
}

/// What the catalogue says of requests.
fn request_limit(id: EndpointId) -> u64 {
    let decl = ENDPOINTS.get(id as usize);
    let said = decl.and_then(|decl| decl.base.iter().find(|(key, _)| *key == Key::LimitsMaxRequestBytes));
    match said {
        Some((_, endpoint::BaseValue::Number(bytes))) => *bytes,
        _ => 0,
    }
}

/// What to do about a variable that holds no size.
pub(crate) const SIZE_HELP: &str = "write a number of bytes, or a size such as `100MB`";
