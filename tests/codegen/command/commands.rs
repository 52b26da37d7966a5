//! Functions that are commands: what their signatures say of them.

#[command]
fn nothing() {}

/// Say hello to somebody,
/// by name.
///
/// What follows is for readers of the code.
#[command(name = "say-hello", hidden, scopes = ["system:read", "files:read"])]
pub(crate) async fn hello(
    /// Whom to greet.
    #[arg(default = "World")]
    name: String,
    times: Option<i64>,
    r#loud: bool,
) -> Result<String, CommandError> {
    greet(name, times, loud).await
}
