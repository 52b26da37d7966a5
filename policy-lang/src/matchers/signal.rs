//! `allowed_signals`: signals by number, and the names that stand for them.

use crate::policy::ElementRef;

/// Names of the signals that exist on Linux, without `SIG`, by number from 1.
pub const NAMES: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE",
    "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ",
    "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

/// The number of a signal name: `SIGTERM` or `TERM`, written exactly so.
#[must_use]
pub fn number(name: &str) -> Option<u8> {
    let short = name.strip_prefix("SIG").unwrap_or(name);
    let at = NAMES.iter().position(|known| *known == short)?;
    u8::try_from(at + 1).ok()
}

/// The full name of a signal: `SIGTERM`.
#[must_use]
pub fn name(number: u8) -> Option<String> {
    let short = NAMES.get(usize::from(number).checked_sub(1)?)?;
    Some(format!("SIG{short}"))
}

/// A set of signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignalList {
    bits: u64,
    origin: ElementRef,
}

impl SignalList {
    /// Reads numbers as text, and names.
    ///
    /// # Errors
    /// The first word that is no signal between 1 and 31.
    pub fn parse<'a>(words: impl IntoIterator<Item = &'a str>, origin: ElementRef) -> Result<Self, &'a str> {
        let mut bits = 0;
        for word in words {
            let signal =
                word.parse::<u8>().ok().or_else(|| number(word)).filter(|signal| (1..=31).contains(signal));
            bits |= 1 << signal.ok_or(word)?;
        }
        Ok(Self { bits, origin })
    }

    /// What refuses `signal`; none where it may be sent.
    #[must_use]
    pub fn refuses(self, signal: u8) -> Option<ElementRef> {
        let listed = signal < 64 && self.bits & (1 << signal) != 0;
        (!listed).then_some(self.origin)
    }

    /// The signals, ascending.
    pub fn numbers(self) -> impl Iterator<Item = u8> {
        (1..=31).filter(move |signal| self.bits & (1 << signal) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_the_same_signals() {
        assert_eq!(number("SIGTERM"), Some(15));
        assert_eq!(number("TERM"), Some(15));
        assert_eq!(number("SIGSYS"), Some(31));
        for no_name in ["sigterm", "SIG", "", "15", "SIGSIGTERM", "SIGTERM "] {
            assert_eq!(number(no_name), None, "{no_name}");
        }
        for signal in 1..=31 {
            assert_eq!(number(&name(signal).unwrap()), Some(signal));
        }
        assert_eq!((name(0), name(32)), (None, None));
    }

    #[test]
    fn what_is_not_listed_is_refused() {
        let list = SignalList::parse(["15", "SIGINT"], ElementRef::BASE).unwrap();
        assert_eq!(list.numbers().collect::<Vec<_>>(), [2, 15]);
        for signal in 0..=u8::MAX {
            assert_eq!(list.refuses(signal).is_none(), matches!(signal, 2 | 15), "{signal}");
        }
        assert_eq!(SignalList::parse(["0"], ElementRef::BASE), Err("0"));
        assert_eq!(SignalList::parse(["32"], ElementRef::BASE), Err("32"));
        assert_eq!(SignalList::parse([], ElementRef::BASE).unwrap().refuses(15), Some(ElementRef::BASE));
    }
}
