-- What agents ask people, what people have decided for good, and what agents mean to do.

CREATE TABLE requests (
    no INTEGER PRIMARY KEY,
    request_id TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES sessions (no) ON DELETE CASCADE,
    turn_id TEXT,
    -- permission or question
    kind TEXT NOT NULL,
    -- pending, answered, cancelled, expired or lost
    state TEXT NOT NULL,
    title TEXT NOT NULL,
    -- What joins it to an item: the agent's id of the tool call.
    tool_call_id TEXT,
    -- JSON object: kind and input of the tool, diffs, options; message, schema and URL of a question.
    body TEXT NOT NULL DEFAULT '{}',
    opened_at REAL NOT NULL,
    expires_at REAL,
    -- JSON object.
    answer TEXT,
    answered_by TEXT,
    answered_at REAL
) STRICT;
CREATE INDEX requests_by_state ON requests (state, no);
CREATE INDEX requests_by_session ON requests (session, no);

CREATE TABLE rules (
    no INTEGER PRIMARY KEY,
    rule_id TEXT NOT NULL UNIQUE,
    -- JSON objects.
    scope TEXT NOT NULL,
    match TEXT NOT NULL,
    decision TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at REAL NOT NULL,
    expires_at REAL,
    hits INTEGER NOT NULL DEFAULT 0,
    last_hit_at REAL
) STRICT;

CREATE TABLE plans (
    session INTEGER NOT NULL REFERENCES sessions (no) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    -- JSON array.
    entries TEXT NOT NULL,
    source TEXT NOT NULL,
    updated_at REAL NOT NULL,
    PRIMARY KEY (session, version)
) STRICT, WITHOUT ROWID;
