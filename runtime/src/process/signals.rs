//! Signal names and numbers, as requests spell them.

/// Name without `SIG`, and number, of every signal that a request may name. Numbers are Linux's on x86 and ARM.
const NAMES: &[(&str, u8)] = &[
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("ILL", 4),
    ("TRAP", 5),
    ("ABRT", 6),
    ("BUS", 7),
    ("FPE", 8),
    ("KILL", 9),
    ("USR1", 10),
    ("SEGV", 11),
    ("USR2", 12),
    ("PIPE", 13),
    ("ALRM", 14),
    ("TERM", 15),
    ("STKFLT", 16),
    ("CHLD", 17),
    ("CONT", 18),
    ("STOP", 19),
    ("TSTP", 20),
    ("TTIN", 21),
    ("TTOU", 22),
    ("URG", 23),
    ("XCPU", 24),
    ("XFSZ", 25),
    ("VTALRM", 26),
    ("PROF", 27),
    ("WINCH", 28),
    ("IO", 29),
    ("PWR", 30),
    ("SYS", 31),
];

/// The number of a signal named `SIGTERM` or `TERM`; exact, in capitals.
#[must_use]
pub fn by_name(name: &str) -> Option<u8> {
    let short = name.strip_prefix("SIG").unwrap_or(name);
    NAMES.iter().find(|(known, _)| *known == short).map(|(_, number)| *number)
}

/// The name of a signal, with `SIG`.
#[must_use]
pub fn name(number: u8) -> Option<String> {
    NAMES.iter().find(|(_, known)| *known == number).map(|(short, _)| format!("SIG{short}"))
}

/// The signal as the system takes it.
pub(super) fn system(number: u8) -> Option<rustix::process::Signal> {
    rustix::process::Signal::from_named_raw(i32::from(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_agree_both_ways() {
        for number in 1..32 {
            let text = name(number).unwrap();
            assert_eq!(by_name(&text), Some(number));
            assert!(system(number).is_some());
        }
        assert_eq!(
            (by_name("TERM"), by_name("SIGKILL"), by_name("sigterm"), by_name("")),
            (Some(15), Some(9), None, None)
        );
    }
}
