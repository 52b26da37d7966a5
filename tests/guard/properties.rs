//! Any path, any tree, any rules: what the guard opens is what the system would open there, and it lies inside.

use crate::services::unpack;
use crate::world::{CANARY, World};
use proptest::prelude::*;
use runtime::files::archive::{ArchiveOptions, Format, archive};
use runtime::files::{FilesError, read, stat};
use runtime::guard::{GuardError, NormalPath, Op, Resolver, Symlinks};
use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::sync::LazyLock;

/// Names that the tree below is made of, and such as try to leave it.
fn part() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => prop::sample::select(vec![
            &b"a"[..], b"b", b"c", b"la", b"lb", b"lc", b"l_up", b"l_root", b".", b"..", b"", b"base", b"outside",
            b"secret", b".env", b"tmp", b"etc", b"proc",
        ])
        .prop_map(<[u8]>::to_vec),
        1 => prop::collection::vec(1_u8.., 0..6),
    ]
}

fn asked() -> impl Strategy<Value = Vec<u8>> {
    (any::<bool>(), prop::collection::vec(part(), 0..8), any::<bool>()).prop_map(
        |(absolute, parts, slash)| {
            let mut path = if absolute { b"/".to_vec() } else { Vec::new() };
            path.extend(parts.join(&b'/'));
            path.extend(slash.then_some(b'/'));
            path
        },
    )
}

static WORLDS: LazyLock<Vec<World>> = LazyLock::new(|| {
    let worlds = [Resolver::Openat2, Resolver::Walk]
        .into_iter()
        .flat_map(|resolver| [Symlinks::Within, Symlinks::Deny].map(|links| World::new(resolver, links)));
    worlds
        .inspect(|world| {
            let (base, top) = (world.base(), world.top.path());
            fs::create_dir_all(base.join("a/b/c")).unwrap();
            fs::create_dir_all(base.join("b/a")).unwrap();
            for file in ["a/c", "c", "b/a/b"] {
                fs::write(base.join(file), "inside").unwrap();
            }
            for (link, target) in [
                ("la", "a".into()),
                ("lb", top.join("base/b")),
                ("lc", "la/../b/a".into()),
                ("a/la", "../lb".into()),
                ("a/b/lb", "../../../outside".into()),
                ("b/l_up", "..".into()),
                ("b/l_root", "/".into()),
            ] {
                symlink(target, base.join(link)).unwrap();
            }
        })
        .collect()
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_opened_is_what_lies_there_and_inside(asked in asked()) {
        let mut words = Vec::new();
        for world in WORLDS.iter() {
            let path = match world.path(&asked) {
                Ok(path) => path,
                Err(error) => {
                    prop_assert!(matches!(error, GuardError::InvalidPath(_)));
                    continue;
                }
            };
            let base = fs::canonicalize(world.base()).unwrap();
            // The oracle: the system's own resolution of the lexically normal path.
            let real = fs::canonicalize(OsStr::from_bytes(path.as_bytes()));
            let opened = read::open(world.access(), &path, None);
            if let Ok(file) = &opened {
                let real = real.as_ref().unwrap();
                prop_assert!(real.starts_with(&base));
                let meta = fs::metadata(real).unwrap();
                prop_assert_eq!(file.identity, (meta.dev(), meta.ino()));
                prop_assert_eq!(OsStr::from_bytes(&file.path), real.as_os_str());
            }
            if real.as_ref().is_ok_and(|real| !real.starts_with(&base)) {
                prop_assert!(matches!(opened, Err(FilesError::Guard(GuardError::Refused(_)))), "{:?}", opened);
            }
            if !runtime::guard::is_below(world.guard.base_dir(), path.as_bytes()) {
                prop_assert!(stat::stat(world.access(), &path).is_err());
            }
            words.push(crate::world::word(&opened.map(drop)));
        }
        if words.len() == 4 && !asked.windows(4).any(|window| window == b"guar") {
            prop_assert_eq!(&words[0], &words[2]);
            prop_assert_eq!(&words[1], &words[3]);
        }
    }

    #[test]
    fn an_archive_keeps_its_caps_and_holds_nothing_refused(
        asked in prop::collection::vec(asked(), 1..4),
        zip in any::<bool>(),
        max_bytes in prop_oneof![0_u64..2000, Just(1 << 20)],
        max_entries in prop_oneof![0_u64..8, Just(1000)],
        world in 0..4_usize,
    ) {
        let world = &WORLDS[world];
        let paths: Vec<_> = asked.iter().filter_map(|asked| world.path(asked).ok()).collect();
        let format = if zip { Format::Zip } else { Format::TarGz };
        let packed = match archive(world.access(), &paths, ArchiveOptions { format, max_bytes, max_entries }) {
            Ok(packed) => packed,
            Err(FilesError::ArchiveTooLarge { limit, unit }) => {
                prop_assert_eq!(limit, if unit == "bytes" { max_bytes } else { max_entries });
                return Ok(());
            }
            Err(error) => {
                prop_assert!(matches!(error, FilesError::Guard(_)) && error != FilesError::Guard(GuardError::IsRoot), "{error:?}");
                return Ok(());
            }
        };
        prop_assert!(packed.content.size() <= max_bytes && packed.entries <= max_entries);
        let mut bytes = Vec::new();
        packed.content.into_reader().unwrap().read_to_end(&mut bytes).unwrap();
        // A zip is refused whole by its readers where two members share a name, and a caller may name a path twice.
        let twice = paths.len() > 1 && zip;
        if twice {
            return Ok(());
        }
        for (name, content) in unpack(format, &bytes) {
            prop_assert!(!content.windows(CANARY.len()).any(|window| window == CANARY), "{name:?}");
            for part in name.split(|byte| *byte == b'/') {
                let part = part.to_ascii_lowercase();
                prop_assert!(!matches!(part.as_slice(), b".." | b".env" | b".git") && !part.ends_with(b".pem"), "{name:?}");
            }
            prop_assert!(name.first() != Some(&b'/') && !name.is_empty());
        }
    }

    #[test]
    fn a_normal_path_is_normal_and_stays_so(base in "(/[a-z]{1,3}){1,3}", asked in prop::collection::vec(any::<u8>(), 0..40)) {
        if let Ok(path) = NormalPath::new(base.as_bytes(), &asked) {
            let bytes = path.as_bytes();
            prop_assert_eq!(bytes.first(), Some(&b'/'));
            if bytes != b"/" {
                prop_assert!(bytes[1..].split(|byte| *byte == b'/').all(|part| !matches!(part, b"" | b"." | b"..")));
            }
            let again = NormalPath::new(b"/other", bytes).unwrap();
            prop_assert_eq!(again.as_bytes(), bytes);
            let same = policy_lang::paths::absolute(base.as_bytes(), &asked).unwrap();
            prop_assert_eq!(same.as_ref(), bytes, "the policy's normal form is the guard's");
        }
    }

    #[test]
    fn judging_never_panics_and_never_lets_the_kernel_in(path in prop::collection::vec(any::<u8>(), 0..40)) {
        let world = &WORLDS[0];
        let path = [b"/proc/".as_slice(), &path].concat();
        prop_assert!(world.guard.judge(&world.rules, &path, Op::Read).is_err());
    }
}
