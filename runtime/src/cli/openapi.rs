//! `openapi`: the HTTP interface as an OpenAPI 3.1 document, made from the endpoint table.

use super::Exit;
use super::endpoints::entry;
use super::output::Output;
use clap::Args;
use policy_lang::endpoint::{BodyKind, Door, ENDPOINTS, EndpointDecl, ErrorStyle, GROUPS, Listener};
use serde_json::{Map, Value, json};

/// Print the HTTP interface as an OpenAPI 3.1 document
///
/// The same text stands in `schemas/openapi.json`.
#[derive(Debug, Args)]
pub(super) struct Openapi {}

impl Openapi {
    pub(super) fn run(self, output: &mut Output) -> Exit {
        output.print(&text());
        Exit::Success
    }
}

/// The document, indented, with a final newline.
pub(super) fn text() -> String {
    let mut text = serde_json::to_string_pretty(&document()).unwrap_or_default();
    text.push('\n');
    text
}

fn document() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for row in &ENDPOINTS {
        for (index, door) in row.doors.iter().enumerate() {
            let methods = paths.entry(door.path).or_insert_with(|| json!({}));
            if let Some(methods) = methods.as_object_mut() {
                let operation = operation(row, door, index);
                methods.entry(door.method.as_str().to_ascii_lowercase()).or_insert(operation);
            }
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "agent-sandbox-server",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The HTTP interface of a sandbox container. Every operation is governed by the policy rule of \
                            its endpoint id (`x-endpoint.id`).",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "http://localhost:9000"}],
        "tags": GROUPS.iter().map(|group| json!({"name": group.name, "description": group.summary})).collect::<Vec<_>>(),
        "security": [{"accessToken": []}, {"bearer": []}, {"apiKey": []}],
        "paths": paths,
        "components": components(),
    })
}

fn operation(row: &EndpointDecl, door: &Door, index: usize) -> Value {
    let mut operation = json!({
        "operationId": if index == 0 { row.name.to_owned() } else { format!("{}_{}", row.name, index + 1) },
        "summary": row.summary,
        "tags": [row.group.as_str()],
        "parameters": parameters(door.path),
        "responses": responses(row, door),
        "x-endpoint": entry(row),
    });
    let Some(members) = operation.as_object_mut() else { return operation };
    match door.body {
        BodyKind::None => {}
        BodyKind::Json => {
            let object = json!({"schema": {"type": "object"}});
            members.insert("requestBody".to_owned(), json!({"content": {"application/json": object}}));
        }
        BodyKind::Raw => {
            members.insert("requestBody".to_owned(), json!({"content": {"application/octet-stream": {}}}));
        }
        BodyKind::Multipart => {
            let file = json!({"type": "object", "required": ["file"],
                "properties": {"file": {"type": "string", "contentMediaType": "application/octet-stream"}}});
            members.insert(
                "requestBody".to_owned(),
                json!({"content": {"multipart/form-data": {"schema": file}}}),
            );
        }
    }
    if !row.auth_required {
        members.insert("security".to_owned(), json!([]));
    }
    if door.listener == Listener::Pty {
        members.insert("servers".to_owned(), json!([{"url": "http://localhost:9001"}]));
    }
    operation
}

fn parameters(path: &str) -> Vec<Value> {
    path.split('/')
        .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
        .collect()
}

fn responses(row: &EndpointDecl, door: &Door) -> Value {
    let content = if door.upgrade {
        return json!({"101": {"description": "Switching to WebSocket"}, "default": error(door)});
    } else if row.streaming {
        "text/event-stream"
    } else {
        "application/json"
    };
    json!({"200": {"description": row.summary, "content": {content: {}}}, "default": error(door)})
}

fn error(door: &Door) -> Value {
    let schema = match door.errors {
        ErrorStyle::Plain => "#/components/schemas/Error",
        ErrorStyle::Detail => "#/components/schemas/DetailedError",
    };
    json!({"description": "A refusal or a failure", "content": {"application/json": {"schema": {"$ref": schema}}}})
}

fn components() -> Value {
    let header = |name: &str| json!({"type": "apiKey", "in": "header", "name": name});
    json!({
        "securitySchemes": {
            "accessToken": header("X-Access-Token"),
            "apiKey": header("X-Api-Key"),
            "bearer": {"type": "http", "scheme": "bearer"},
        },
        "schemas": {
            "Error": {
                "type": "object",
                "required": ["error", "type", "code"],
                "properties": {
                    "error": {"type": "string", "description": "What went wrong, for people"},
                    "type": {"type": "string", "description": "The exception class that the source interface names"},
                    "code": {"type": "string", "description": "What went wrong, for programs"},
                    "endpoint": {"type": "string"},
                    "rule": {"type": "string", "description": "The rule that refused, such as policy:endpoints.shell"},
                    "scope": {"type": "string"},
                    "parameter": {"type": "string"},
                    "limit": {},
                    "retry_after": {"type": "number", "description": "Seconds"},
                },
            },
            "DetailedError": {
                "allOf": [{"$ref": "#/components/schemas/Error"}],
                "properties": {"detail": {"type": "object", "properties": {
                    "error": {"type": "string"}, "message": {"type": "string"}, "error_id": {"type": "string"},
                }}},
            },
        },
    })
}
