//! How the server is linked, where that is known to work: on Linux with the GNU C library, for the machine that builds.
//!
//! What a start costs is finding libraries and touching pages, so there is one library fewer to find (the unwinder is linked in),
//! what a start runs lies together (`link/start.ld`) rather than strewn over 17 MB, and of the pointers that every start sets it
//! reads a map of bits rather than a table of 600 KB: the idle server holds half the memory.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How that map is asked for, of the compiler that links.
const PACKED: &str = "-Wl,-z,pack-relative-relocs";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=link/start.ld");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let gnu = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if !gnu || env::var_os("HOST") != env::var_os("TARGET") {
        return;
    }
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    let all_static = features.split(',').any(|feature| feature == "crt-static");
    if !all_static && compiler_has("libgcc_eh.a") {
        println!("cargo:rustc-link-lib=static:-bundle=gcc_eh");
    }
    if !is("PROFILE", "release") {
        return;
    }
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let for_server = |flag: &str| println!("cargo:rustc-link-arg-bin=agent-sandbox-server={flag}");
    // Only LLVM's linker and the GNU one take a script that inserts.
    if !["mold", "gold", "wild"].iter().any(|linker| flags.contains(linker)) {
        let here = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        // An option of the compiler that links: in `-Wl,…` a comma of the path would end it.
        for_server(&format!("-T{here}/link/start.ld"));
    }
    // Whoever names it in the flags has decided.
    if !all_static && !flags.contains("pack-relative-relocs") && packed_starts(&flags) {
        for_server(PACKED);
    }
}

/// Whether the C compiler that links knows this file: it prints the path, or the bare name where it does not.
fn compiler_has(file: &str) -> bool {
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let asked = Command::new(compiler).arg(format!("-print-file-name={file}")).output();
    asked.is_ok_and(|told| Path::new(String::from_utf8_lossy(&told.stdout).trim()).is_absolute())
}

/// Whether the linker knows [`PACKED`], and the C library what comes of it (the GNU one since 2.36): an empty program is linked as
/// the server will be, and run.
fn packed_starts(flags: &str) -> bool {
    let folder = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let (source, program) = (folder.join("packed.rs"), folder.join("packed"));
    if fs::write(&source, "fn main() {}").is_err() {
        return false;
    }
    let mut compiler = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    compiler.arg(source).arg("-o").arg(&program).arg(format!("-Clink-arg={PACKED}"));
    compiler.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        compiler.arg(format!("-Clinker={linker}"));
    }
    let succeeds = |mut command: Command| command.output().is_ok_and(|ended| ended.status.success());
    succeeds(compiler) && succeeds(Command::new(program))
}
