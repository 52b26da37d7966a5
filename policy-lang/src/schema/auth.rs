//! `auth` and its tokens.

use crate::lower::auth::{ID_LENGTH, RESERVED, SERVER_TOKEN};
use crate::rules::scopes;
use serde_json::{Value, json};

pub(super) fn auth() -> Value {
    json!({
        "title": "Authentication",
        "type": "object",
        "properties": {
            "tokens": {
                "title": "Tokens",
                "description": "Who may call. Present, even empty, it ends local mode: a call without a token is \
                                refused.",
                "type": "array",
                "items": { "$ref": "#/$defs/token" }
            }
        },
        "additionalProperties": false
    })
}

pub(super) fn token() -> Value {
    let mut scopes = scopes::token_schema();
    if let Some(scopes) = scopes.as_object_mut() {
        scopes.insert("description".to_owned(), "What its holder may do: scopes and bundles of them.".into());
    }
    json!({
        "title": "Token",
        "description": "A caller's token: its secret is in a variable (`token_env`), or known by its hash \
                        (`token_sha256`).",
        "type": "object",
        "properties": {
            "id": {
                "description": "Who the holder is, in audit lines and answers.",
                "type": "string",
                "maxLength": ID_LENGTH,
                "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$",
                "not": { "enum": RESERVED }
            },
            "scopes": scopes,
            "token_env": {
                "description": "The name of the environment variable that holds the secret.",
                "type": "string",
                "pattern": "^[A-Za-z_][A-Za-z0-9_]*$",
                "not": { "const": SERVER_TOKEN }
            },
            "token_sha256": {
                "description": "The SHA-256 of the secret, 64 lower-case hex digits.",
                "type": "string",
                "pattern": "^[0-9a-f]{64}$"
            }
        },
        "required": ["id", "scopes"],
        "oneOf": [{ "required": ["token_env"] }, { "required": ["token_sha256"] }],
        "additionalProperties": false
    })
}
