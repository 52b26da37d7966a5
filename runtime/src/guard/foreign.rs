//! Kernel file systems, known by their magic number: nothing on them is ever served, wherever they are mounted.

use super::GuardError;
use rustix::fd::AsFd;
use rustix::io::Errno;

/// Magic numbers of `linux/magic.h`, by the name of the file system.
const FOREIGN: &[(u64, &str)] = &[
    (0x9fa0, "proc"),
    (0x6265_6572, "sysfs"),
    (0x1cd1, "devpts"),
    (0x0027_e0eb, "cgroup"),
    (0x6367_7270, "cgroup2"),
    (0x6462_6720, "debugfs"),
    (0x7472_6163, "tracefs"),
    (0x7363_6673, "securityfs"),
    (0xcafe_4a11, "bpf"),
    (0x6165_676c, "pstore"),
    (0xde5e_81e4, "efivarfs"),
    (0x6265_6570, "configfs"),
    (0x1980_0202, "mqueue"),
    (0xf97c_ff8c, "selinuxfs"),
    (0x4341_5d53, "smackfs"),
    (0x4249_4e4d, "binfmt_misc"),
    (0x6e73_6673, "nsfs"),
    (0x5049_5045, "pipefs"),
    (0x534f_434b, "sockfs"),
    (0x0904_1934, "anon_inode"),
    (0x6573_5543, "fusectl"),
    (0x0765_5821, "resctrl"),
];

/// Whether what `fd` refers to lives on a kernel file system.
pub(crate) fn is_foreign(fd: impl AsFd) -> Result<bool, Errno> {
    let magic = rustix::fs::fstatfs(fd)?.f_type;
    // The kernel's number is 32 bits wide; some ABIs hand it out sign-extended.
    let magic = u64::from_le_bytes(i64::to_le_bytes(magic)) & 0xffff_ffff;
    Ok(FOREIGN.iter().any(|(number, _)| *number == magic))
}

/// Refuses what lives on a kernel file system. `above` is the device of something that was looked at before: the
/// common case, the same device, costs nothing.
pub(crate) fn check_device(above: u64, dev: u64, fd: impl AsFd) -> Result<(), GuardError> {
    if dev != above && is_foreign(fd).map_err(GuardError::Io)? {
        return Err(GuardError::OUTSIDE);
    }
    Ok(())
}
