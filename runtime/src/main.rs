//! The binary `agent-sandbox-server`: everything it can do is a command of [`runtime::cli`].

fn main() -> std::process::ExitCode {
    runtime::cli::main()
}
