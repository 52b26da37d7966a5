//! The numbered examples of `tests/policy/precedence.md`, for the tests that run them.
//!
//! An example is a heading `### N. title`, a fenced document, perhaps a line with `ABX_SERVER_ENABLED_GROUPS=…`, and a table
//! whose rows name an endpoint, a key, its value as JSON, and the rule.

use serde_json::Value;
use std::path::Path;

/// One example.
#[derive(Debug, Default)]
pub(crate) struct Example {
    pub(crate) title: String,
    pub(crate) document: String,
    pub(crate) enabled_groups: Option<String>,
    pub(crate) rows: Vec<Row>,
}

/// What holds. A key that accumulates has a row for each element.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) endpoint: String,
    pub(crate) key: String,
    pub(crate) value: Value,
    pub(crate) rule: String,
}

/// Every example of the page, in order.
pub(crate) fn examples() -> Vec<Example> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/policy/precedence.md");
    let page = std::fs::read_to_string(path).unwrap();
    let mut examples: Vec<Example> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("### ") {
            let number = examples.len() + 1;
            assert!(title.starts_with(&format!("{number}. ")), "the examples are numbered: {title}");
            examples.push(Example { title: title.to_owned(), ..Example::default() });
        }
        let Some(example) = examples.last_mut() else { continue };
        match line {
            "```yaml" => inside = true,
            "```" => inside = false,
            line if inside => example.document.push_str(&format!("{line}\n")),
            line if line.starts_with("| `") => example.rows.push(row(line)),
            line => {
                let named =
                    line.split_once("`ABX_SERVER_ENABLED_GROUPS=").and_then(|(_, rest)| rest.split_once('`'));
                if let Some((groups, _)) = named {
                    example.enabled_groups = Some(groups.to_owned());
                }
            }
        }
    }
    assert!(examples.len() >= 10 && examples.iter().all(|example| !example.rows.is_empty()), "{examples:#?}");
    examples
}

fn row(line: &str) -> Row {
    let cells: Vec<_> = line.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
    let [_, endpoint, key, value, rule, _] = *cells else { panic!("five bars are wanted: {line}") };
    let value = serde_json::from_str(value).unwrap_or_else(|error| panic!("{line}: {error}"));
    Row { endpoint: endpoint.to_owned(), key: key.to_owned(), value, rule: rule.to_owned() }
}
