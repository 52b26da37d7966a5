//! A real client: Neovim without a screen attaches the server to a template, reads the findings, asks for hover and
//! completion, and formats. Where Neovim is not installed the test says so and passes; the gate installs it.

use std::fs;
use std::process::Command;

#[test]
fn neovim_reads_findings_and_asks() {
    if Command::new("nvim").arg("--version").output().is_err() {
        eprintln!("nvim is not installed: no real client was tried");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let template = folder.path().join("template.yaml");
    fs::write(&template, "server:\n  preset: lokced\n  endpoints:\n    shell:   false\n")
        .expect("it can be written");
    let script = folder.path().join("client.lua");
    fs::write(&script, include_str!("client.lua")).expect("it can be written");
    let ran = Command::new("nvim")
        .args(["--headless", "--clean", "-c"])
        .arg(format!("luafile {}", script.display()))
        .env("SERVER", env!("CARGO_BIN_EXE_agent-sandbox-server"))
        .env("TEMPLATE", &template)
        .env("HOME", folder.path())
        .output()
        .expect("nvim runs");
    let said = fs::read_to_string(folder.path().join("said.txt")).unwrap_or_default();
    assert_eq!(
        said,
        concat!(
            "finding unknown-preset at 1:10\n",
            "hover **`shell`**\n",
            "offers transfer-only\n",
            "formatted     shell: false\n",
        ),
        "{}{}",
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr)
    );
}
