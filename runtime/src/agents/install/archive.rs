//! From an archive at a URL, whose checksum is known beforehand.

use super::{InstallError, Report, Step, Wanted, failed, program, unpack};
use crate::agents::catalogue::ArchiveSource;
use crate::egress::{Answer, EgressError, Request, send};
use crate::error::{ApiError, ErrorCode};
use axum::http::header::{CONTENT_LENGTH, LOCATION};
use axum::http::{HeaderMap, Method};
use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt as _;

/// Largest archive, in bytes.
const LARGEST: u64 = 1 << 30;

/// How many redirects are followed; each is judged like the first.
const REDIRECTS: usize = 5;

/// How often progress is told.
const EVERY: Duration = Duration::from_millis(500);

/// Fetches, checks and unpacks it; yields checksum and program.
pub(super) async fn install(
    wanted: &Wanted,
    archive: &ArchiveSource,
    folder: &Path,
    report: &Report,
) -> Result<(String, PathBuf), InstallError> {
    let at = folder.join(".archive");
    let sum = fetch(wanted, &archive.url, &at, report).await?;
    if !sum.eq_ignore_ascii_case(&archive.sha256) {
        return Err(InstallError::Checksum(sum));
    }
    let (into, cmd) = (folder.to_owned(), archive.cmd.clone());
    let unpacked = tokio::task::spawn_blocking(move || {
        unpack::unpack(&at, &into, &cmd)?;
        std::fs::remove_file(&at)
    });
    unpacked.await.map_err(failed)?.map_err(failed)?;
    Ok((sum, program(folder.join(&archive.cmd))?))
}

/// Fetches a URL into a file; yields its checksum.
async fn fetch(wanted: &Wanted, url: &str, at: &Path, report: &Report) -> Result<String, InstallError> {
    let mut answer = open(wanted, url).await?;
    let total = answer.headers.get(CONTENT_LENGTH).and_then(|text| text.to_str().ok()?.parse().ok());
    let (mut file, mut sum) = (tokio::fs::File::create(at).await.map_err(failed)?, Sha256::new());
    let (mut bytes, mut told) = (0, Instant::now());
    while let Some(chunk) = answer.chunk().await.map_err(failed)? {
        bytes += chunk.len() as u64;
        if bytes > LARGEST {
            return Err(failed(EgressError::TooLarge(LARGEST)));
        }
        sum.update(&chunk);
        file.write_all(&chunk).await.map_err(failed)?;
        if told.elapsed() >= EVERY {
            told = Instant::now();
            report.step(Step::Progress { bytes, total });
        }
    }
    file.flush().await.map_err(failed)?;
    report.step(Step::Progress { bytes, total });
    let mut digits = String::new();
    for byte in sum.finalize() {
        let _ = write!(digits, "{byte:02x}");
    }
    Ok(digits)
}

async fn open(wanted: &Wanted, url: &str) -> Result<Answer, InstallError> {
    let mut url = url.to_owned();
    for _ in 0..=REDIRECTS {
        let request = Request {
            method: Method::GET,
            url: &url,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            time: wanted.time,
        };
        let answer = send(&wanted.egress, request).await.map_err(|error| match error {
            EgressError::Refused(_) => InstallError::Refused(ApiError::new(
                ErrorCode::UrlNotAllowed,
                "the archive's URL is not allowed",
            )),
            error => failed(error),
        })?;
        if !answer.status.is_redirection() {
            return if answer.status.is_success() {
                Ok(answer)
            } else {
                Err(failed(format!("the archive was answered {}", answer.status.as_u16())))
            };
        }
        let next = answer.headers.get(LOCATION).and_then(|text| text.to_str().ok());
        let base = url::Url::parse(&url).map_err(failed)?;
        url = base.join(next.unwrap_or_default()).map_err(failed)?.to_string();
    }
    Err(failed("the archive's URL leads in circles"))
}
