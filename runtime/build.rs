//! How the server is linked, where that is known to work: on Linux with the GNU C library, for the machine that builds.
//!
//! What a start costs is finding libraries and touching pages, so there is one library fewer to find (the unwinder is linked in),
//! and what a start runs lies together (`link/start.ld`) rather than strewn over 17 MB: the idle server holds half the memory.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=link/start.ld");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let gnu = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if !gnu || env::var_os("HOST") != env::var_os("TARGET") {
        return;
    }
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    if !features.split(',').any(|feature| feature == "crt-static") && compiler_has("libgcc_eh.a") {
        println!("cargo:rustc-link-lib=static:-bundle=gcc_eh");
    }
    if is("PROFILE", "release") && !orders_otherwise() {
        let here = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        // An option of the compiler that links: in `-Wl,…` a comma of the path would end it.
        println!("cargo:rustc-link-arg-bin=agent-sandbox-server=-T{here}/link/start.ld");
    }
}

/// Whether the C compiler that links knows this file: it prints the path, or the bare name where it does not.
fn compiler_has(file: &str) -> bool {
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let asked = Command::new(compiler).arg(format!("-print-file-name={file}")).output();
    asked.is_ok_and(|told| Path::new(String::from_utf8_lossy(&told.stdout).trim()).is_absolute())
}

/// Whether a linker was chosen that takes no script that inserts: only LLVM's and the GNU one do.
fn orders_otherwise() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    ["mold", "gold", "wild"].iter().any(|linker| flags.contains(linker))
}
