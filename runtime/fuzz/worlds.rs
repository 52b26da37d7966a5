//! Trees, rules and paths made of any bytes: whatever they are, nothing outside the base is read, changed or packed, both
//! resolvers answer the same, and an archive keeps its caps. The fuzz targets and the property tests ask the same.

use runtime::files::archive::{ArchiveOptions, Format, archive};
use runtime::files::write::{WriteOptions, Writer};
use runtime::files::{Access, FilesError, Stop, delete, mkdir, read, stat};
use runtime::guard::{
    Guard, GuardOptions, NormalPath, Op, PathJudge, Refusal, RefusalKind, Resolver, Symlinks, is_below,
};
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::path::{Component, Path};

const CANARY: &[u8] = b"canary-of-the-outside";

/// Names that trees, rules and paths are made of, so that they meet.
const NAMES: [&str; 8] = ["a", "b", "A", ".env", "..", ".", "c.pem", "ro"];

/// Takes choices from bytes; an exhausted one always chooses the first.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn next(&mut self, among: usize) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*first) % among.max(1)
    }

    fn name(&mut self) -> &'static str {
        NAMES.get(self.next(NAMES.len())).copied().unwrap_or("a")
    }

    fn path(&mut self) -> String {
        let parts: Vec<&str> = (0..=self.next(3)).map(|_| self.name()).collect();
        let outside = ["", "", "", "../outside/", "/", "BASE/"];
        let slash = ["", "", "/", "/."];
        format!("{}{}{}", outside[self.next(6)], parts.join("/"), slash[self.next(4)])
    }
}

/// One denied name, one read-only directory, and whether links may be passed.
#[derive(Debug, Clone)]
struct Rules {
    base: Vec<u8>,
    denied: &'static str,
    symlinks: Symlinks,
}

impl PathJudge for Rules {
    fn judge(&self, path: &[u8], op: Op) -> Result<(), Refusal> {
        if !is_below(&self.base, path) {
            return Err(Refusal::own(RefusalKind::NotAllowed));
        }
        let rest = path.get(self.base.len()..).unwrap_or_default();
        let has = |name: &str| {
            rest.split(|byte| *byte == b'/').any(|part| part.eq_ignore_ascii_case(name.as_bytes()))
        };
        if has(self.denied) {
            return Err(Refusal::own(RefusalKind::Denied));
        }
        if op.changes() && has("ro") {
            return Err(Refusal::own(RefusalKind::ReadOnly));
        }
        Ok(())
    }

    fn symlinks(&self) -> Symlinks {
        self.symlinks
    }
}

/// Makes the tree that the choices say. What cannot be made is left out.
fn build(top: &Path, choices: &mut Choices<'_>) {
    let base = top.join("base");
    fs::create_dir_all(base.join("a")).unwrap();
    fs::create_dir(top.join("outside")).unwrap();
    fs::write(top.join("outside/a"), CANARY).unwrap();
    for _ in 0..choices.next(12) {
        let place = base.join("a").join(choices.name());
        let place = if choices.next(2) == 0 { base.join(choices.name()) } else { place };
        // The test itself must not leave the tree: not by a name, and not by a link that it has made.
        let climbs = place.components().any(|part| matches!(part, Component::ParentDir | Component::CurDir));
        if climbs || fs::symlink_metadata(&place).is_ok() {
            continue;
        }
        let _ = match choices.next(4) {
            0 => fs::create_dir(&place),
            1 => fs::write(&place, "inside"),
            2 => symlink(choices.path().replace("BASE", &base.display().to_string()), &place),
            _ => symlink("../outside", &place),
        };
    }
}

/// What a guard answered, in words that do not depend on where the tree lies.
fn word<T>(result: &Result<T, FilesError>) -> String {
    match result {
        Ok(_) => "ok".to_owned(),
        Err(error) => format!("{error:?}"),
    }
}

fn make(bytes: &[u8], resolver: Resolver) -> (tempfile::TempDir, Guard, Rules, Vec<String>) {
    let mut choices = Choices(bytes);
    let top = tempfile::tempdir_in(fs::canonicalize("/tmp").unwrap()).unwrap();
    let denied = choices.name();
    let symlinks = if choices.next(2) == 0 { Symlinks::Within } else { Symlinks::Deny };
    build(top.path(), &mut choices);
    let base = top.path().join("base").into_os_string().into_encoded_bytes();
    let options = GuardOptions { resolver, durable: false, ..GuardOptions::new(base.clone()) };
    let shown = String::from_utf8_lossy(&base).into_owned();
    let paths = (0..6).map(|_| choices.path().replace("BASE", &shown)).collect();
    (top, Guard::open(options, None).unwrap(), Rules { base, denied, symlinks }, paths)
}

fn outside_is_untouched(top: &Path) {
    let listed: Vec<_> =
        fs::read_dir(top.join("outside")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(listed, ["a"], "something was put outside");
    assert_eq!(fs::read(top.join("outside/a")).unwrap(), CANARY);
    assert_eq!(fs::read_dir(top).unwrap().count(), 2);
}

/// Every operation on some paths of some tree under some rules, by both resolvers.
pub(crate) fn guard(bytes: &[u8]) {
    let answers = [Resolver::detect(), Resolver::Walk].map(|resolver| {
        let (top, guard, rules, paths) = make(bytes, resolver);
        let stop = Stop::default();
        let access = Access { guard: &guard, judge: &rules, stop: &stop };
        let mut answers = Vec::new();
        for asked in paths {
            let path = match NormalPath::new(guard.base_dir(), asked.as_bytes()) {
                Ok(path) => path,
                Err(error) => {
                    answers.push(format!("{error:?}"));
                    continue;
                }
            };
            let mut file = read::open(access, &path, None);
            if let Ok(file) = &mut file {
                let mut content = Vec::new();
                file.read_to_end(&mut content).unwrap();
                assert_ne!(content, CANARY, "{asked} was read");
            }
            answers.push(word(&file));
            answers.push(word(&stat::stat(access, &path)));
            answers.push(word(&mkdir::mkdir(access, &path)));
            let written = Writer::begin(access, &path, WriteOptions::default()).and_then(|mut writer| {
                writer.write(b"new")?;
                writer.finish()
            });
            answers.push(word(&written));
            answers.push(word(&delete::delete(access, &path, 1000)));
            outside_is_untouched(top.path());
            assert!(top.path().join("base").is_dir(), "the base was removed");
        }
        let place = top.path().display().to_string();
        answers.into_iter().map(|answer| answer.replace(&place, "")).collect::<Vec<_>>()
    });
    assert_eq!(answers[0], answers[1], "the resolvers differ");
}

/// An archive of some paths, in some format, within some caps.
pub(crate) fn pack(bytes: &[u8]) {
    let (caps, bytes) = bytes.split_at_checked(4).unwrap_or((&[0; 4], bytes));
    let (top, guard, rules, paths) = make(bytes, Resolver::detect());
    let stop = Stop::default();
    let access = Access { guard: &guard, judge: &rules, stop: &stop };
    let normal = paths.iter().filter_map(|asked| NormalPath::new(guard.base_dir(), asked.as_bytes()).ok());
    let paths: Vec<_> = normal.take(usize::from(caps[0]) % 4).collect();
    let (max_bytes, max_entries) = (u64::from(caps[1]) * 16, u64::from(caps[2]) % 16);
    let format = if caps[3] % 2 == 0 { Format::TarGz } else { Format::Zip };
    match archive(access, &paths, ArchiveOptions { format, max_bytes, max_entries }) {
        Ok(packed) => {
            assert!(packed.content.size() <= max_bytes && packed.entries <= max_entries, "{packed:?}");
            let mut content = Vec::new();
            packed.content.into_reader().unwrap().read_to_end(&mut content).unwrap();
            let mut unpacked = Vec::new();
            if format == Format::TarGz {
                flate2::read::GzDecoder::new(&content[..]).read_to_end(&mut unpacked).unwrap();
            }
            for text in [&content, &unpacked] {
                assert!(!text.windows(CANARY.len()).any(|window| window == CANARY), "the outside was packed");
            }
        }
        Err(FilesError::ArchiveTooLarge { limit, unit }) => {
            assert_eq!(limit, if unit == "bytes" { max_bytes } else { max_entries });
        }
        Err(_) => {}
    }
    outside_is_untouched(top.path());
}
