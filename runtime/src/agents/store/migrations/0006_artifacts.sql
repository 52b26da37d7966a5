-- What agents handed over, what turns used, and answers that must not be given twice.

-- The bytes are in blobs/, by their hash.
CREATE TABLE artifacts (
    no INTEGER PRIMARY KEY,
    artifact_id TEXT NOT NULL,
    session INTEGER NOT NULL REFERENCES sessions (no) ON DELETE CASCADE,
    turn_id TEXT,
    name TEXT NOT NULL,
    mime_type TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    -- message, tool, outputs_dir or attachment
    source TEXT NOT NULL,
    created_at REAL NOT NULL,
    UNIQUE (session, artifact_id)
) STRICT;
CREATE INDEX artifacts_by_hash ON artifacts (sha256);

-- One row a turn that told anything. Tokens are sums; the answer at the end of a turn replaces them (final).
CREATE TABLE usage (
    session INTEGER NOT NULL REFERENCES sessions (no) ON DELETE CASCADE,
    turn_id TEXT NOT NULL,
    at REAL NOT NULL,
    final INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER,
    output_tokens INTEGER,
    thought_tokens INTEGER,
    cached_read_tokens INTEGER,
    cached_write_tokens INTEGER,
    -- What the session had cost before the turn, as the agent told it last, and what it had cost then.
    cost_before REAL NOT NULL DEFAULT 0,
    cost_total REAL,
    currency TEXT,
    context_used INTEGER,
    context_size INTEGER,
    PRIMARY KEY (session, turn_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
    endpoint TEXT NOT NULL,
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    body_sha256 TEXT NOT NULL,
    -- JSON; absent while the first call is under way.
    reply TEXT,
    at REAL NOT NULL,
    PRIMARY KEY (endpoint, owner, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (at);
