//! Options that there are none of, and values that they do not take.

#[command(names = "a")]
fn misspelt() {}

#[command(name = "a b")]
fn spaced() {}

#[command(scopes = "files:read")]
fn no_list() {}

#[command]
fn argument(#[arg(defalt = 1)] a: i64, #[arg(default)] b: i64) {}
