//! An archive into files, none of which can lie elsewhere: tar with gzip, zip, or a single program.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// Most bytes and entries that an archive may unpack to.
const MOST: (u64, usize) = (4 << 30, 100_000);

/// Unpacks `archive` into `into`; one that is neither tar nor zip becomes the program `cmd` itself.
pub(super) fn unpack(archive: &Path, into: &Path, cmd: &str) -> io::Result<()> {
    let mut file = File::open(archive)?;
    let mut magic = [0; 4];
    let read = file.read(&mut magic)?;
    file.rewind()?;
    match magic.get(..read).unwrap_or_default() {
        [0x1f, 0x8b, ..] => tar(file, into),
        [b'P', b'K', 3, 4] => zip(file, into),
        _ => single(file, &into.join(cmd)),
    }
}

fn tar(file: File, into: &Path) -> io::Result<()> {
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    archive.set_preserve_permissions(false);
    archive.set_preserve_mtime(false);
    let (mut bytes, mut entries) = (0, 0);
    for entry in archive.entries()? {
        let mut entry = entry?;
        use tar::EntryType::{Directory, Link, Regular, Symlink, XGlobalHeader};
        match entry.header().entry_type() {
            XGlobalHeader => continue,
            Directory | Regular | Symlink | Link => {}
            _ => return Err(refused("the archive holds what is neither file nor folder")),
        }
        bytes += entry.size();
        entries += 1;
        bounded(bytes, entries)?;
        if !entry.unpack_in(into)? {
            return Err(refused("the archive names a path outside itself"));
        }
    }
    Ok(())
}

fn zip(file: File, into: &Path) -> io::Result<()> {
    let mut archive = zip::ZipArchive::new(file).map_err(io::Error::other)?;
    let mut bytes = 0;
    for number in 0..archive.len() {
        let mut entry = archive.by_index(number).map_err(io::Error::other)?;
        bytes += entry.size();
        bounded(bytes, number)?;
        let name = entry.enclosed_name().ok_or_else(|| refused("the archive names a path outside itself"))?;
        if entry.is_symlink() {
            return Err(refused("the archive holds a link"));
        }
        let path = into.join(name);
        if entry.is_dir() {
            fs::create_dir_all(&path)?;
            continue;
        }
        let mode = entry.unix_mode().unwrap_or(0o644) & 0o755;
        // What it says of its size is not believed.
        let size = entry.size();
        write(&mut (&mut entry).take(size), &path, mode)?;
    }
    Ok(())
}

fn single(mut file: File, path: &Path) -> io::Result<()> {
    write(&mut file, path, 0o755)
}

fn write(from: &mut impl Read, path: &Path, mode: u32) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut to = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    io::copy(from, &mut to)?;
    to.set_permissions(fs::Permissions::from_mode(mode))
}

fn bounded(bytes: u64, entries: usize) -> io::Result<()> {
    if bytes > MOST.0 || entries > MOST.1 { Err(refused("the archive is too large")) } else { Ok(()) }
}

fn refused(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::unpack;
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    fn tar(entries: &[(&str, tar::EntryType, &str)]) -> Vec<u8> {
        let mut builder =
            tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
        for (name, kind, text) in entries {
            let mut header = tar::Header::new_gnu();
            // As an attacker would: past the checks of the builder.
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_entry_type(*kind);
            header.set_mode(0o4755);
            if kind.is_symlink() {
                header.set_link_name(text).unwrap();
            }
            let data = if kind.is_file() { text.as_bytes() } else { &[] };
            header.set_size(data.len() as u64);
            header.set_cksum();
            builder.append(&header, data).unwrap();
        }
        builder.into_inner().unwrap().finish().unwrap()
    }

    fn zip(name: &str) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default().unix_permissions(0o755);
        writer.start_file(name, options).unwrap();
        writer.write_all(b"text").unwrap();
        writer.finish().unwrap().into_inner()
    }

    fn into(folder: &Path, archive: &[u8]) -> Result<u32, String> {
        let (file, inside) = (folder.join("archive"), folder.join("in"));
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::write(&file, archive).unwrap();
        unpack(&file, &inside, "bin/agent").map_err(|error| error.to_string())?;
        Ok(std::fs::metadata(inside.join("bin/agent"))
            .map_err(|error| error.to_string())?
            .permissions()
            .mode())
    }

    #[test]
    fn each_kind_gives_the_program() {
        use tar::EntryType::Regular;
        for archive in [tar(&[("bin/agent", Regular, "text")]), zip("bin/agent"), b"\x7fELF".to_vec()] {
            let folder = tempfile::tempdir().unwrap();
            assert_eq!(into(folder.path(), &archive).unwrap() & 0o7777, 0o755);
        }
    }

    #[test]
    fn nothing_is_written_outside() {
        use tar::EntryType::{Regular, Symlink};
        for archive in [
            tar(&[("../evil", Regular, "x")]),
            tar(&[("a/../../evil", Regular, "x")]),
            tar(&[("out", Symlink, ".."), ("out/evil", Regular, "x")]),
            tar(&[("dev", tar::EntryType::Char, "")]),
            zip("../evil"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            assert!(into(folder.path(), &archive).is_err());
            assert!(!folder.path().join("evil").exists());
        }
    }
}
