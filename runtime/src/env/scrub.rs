//! Overwrites values in the process's own environment block, which `/proc/<pid>/environ` shows to whoever may read it.
#![expect(unsafe_code, reason = "no safe interface reaches the block that the kernel made at exec")]

use std::ffi::{CStr, c_char};

unsafe extern "C" {
    static environ: *const *mut c_char;
}

/// Blanks the value of every variable whose name is `chosen`. Only for the time before a second thread exists.
pub(super) fn blank(chosen: impl Fn(&[u8]) -> bool) {
    // SAFETY: `environ` is the C library's list of NUL-terminated strings, ended by a null pointer. The strings lie in
    // the writable block that the kernel made at exec. The caller promises that no other thread runs, so nobody reads
    // them meanwhile; only bytes before each string's own NUL are written, and no reference to them is kept.
    unsafe {
        let mut entry = environ;
        while !entry.is_null() && !(*entry).is_null() {
            let text = CStr::from_ptr(*entry).to_bytes();
            let equals = text.iter().position(|byte| *byte == b'=');
            if let Some(at) = equals.filter(|at| chosen(text.get(..*at).unwrap_or_default())) {
                let length = text.len() - at - 1;
                std::ptr::write_bytes((*entry).add(at + 1), 0, length);
            }
            entry = entry.add(1);
        }
    }
}
