//! Parameters that no call could bring, every one told.

#[command]
fn many<T>(self, (a, b): (i64, i64), text: &str, any: impl Display, größe: i64, #[arg(default = 1)] c: Option<i64>) {}
