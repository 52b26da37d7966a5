//! The examples of `tests/policy/precedence.md`, served.

use crate::examples::{Row, examples};
use crate::raw::get;
use crate::server::Setup;
use serde_json::Value;

/// What a running server shows for the key; `None` for keys that it does not show.
fn shown<'a>(endpoint: &'a Value, key: &str) -> Option<&'a Value> {
    match key.split_once('.') {
        None => endpoint.get(key),
        Some((section, key)) => endpoint.get(section)?.get(key),
    }
}

#[test]
fn b6_every_example_of_the_precedence_page_holds_when_served() {
    for example in examples() {
        let mut setup = Setup::new().policy(&example.document);
        if let Some(groups) = &example.enabled_groups {
            setup = setup.env("ABX_SERVER_ENABLED_GROUPS", groups);
        }
        let server = setup.start();
        let document = get(server.port, "/capabilities").json();
        for row in &example.rows {
            let endpoint = &document["endpoints"][&row.endpoint];
            let said = |other: &&Row| (&other.endpoint, &other.key) == (&row.endpoint, &row.key);
            let wanted: Vec<&Value> = example.rows.iter().filter(said).map(|row| &row.value).collect();
            let shown = shown(endpoint, &row.key);
            let got: Vec<&Value> = match shown {
                Some(Value::Array(elements)) if wanted.iter().all(|value| !value.is_array()) => {
                    elements.iter().collect()
                }
                value => value.into_iter().collect(),
            };
            assert_eq!(got, wanted, "{}: {} of {}", example.title, row.key, row.endpoint);
            if row.key == "enabled" {
                assert_eq!(endpoint["rule"], *row.rule, "{}: {}", example.title, row.endpoint);
            }
        }
    }
}
