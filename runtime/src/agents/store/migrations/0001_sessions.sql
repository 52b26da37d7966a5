-- Sessions, their turns, the log of events, and the items that the events are reduced to.
-- Times are epoch seconds. Columns that hold JSON say so.

CREATE TABLE sessions (
    no INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,
    agent_id TEXT NOT NULL,
    -- The agent's own name of the conversation.
    native_session_id TEXT,
    parent_id TEXT,
    schedule_id TEXT,
    -- The identity that opened it.
    owner TEXT NOT NULL,
    state TEXT NOT NULL,
    cwd TEXT NOT NULL,
    title TEXT,
    -- JSON object of texts.
    labels TEXT NOT NULL DEFAULT '{}',
    archived INTEGER NOT NULL DEFAULT 0,
    -- Rises with every change by a caller.
    version INTEGER NOT NULL DEFAULT 1,
    -- JSON object: policy, options, capabilities, budget and what else only the session itself reads.
    details TEXT NOT NULL DEFAULT '{}',
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    closed_at REAL,
    -- The log: its first and last event, and how much of it is stored.
    first_seq INTEGER NOT NULL DEFAULT 1,
    last_seq INTEGER NOT NULL DEFAULT 0,
    log_events INTEGER NOT NULL DEFAULT 0,
    log_bytes INTEGER NOT NULL DEFAULT 0,
    -- Chunks up to here have been joined.
    merged_seq INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX sessions_by_state ON sessions (state);
CREATE UNIQUE INDEX sessions_by_native ON sessions (agent_id, native_session_id)
    WHERE native_session_id IS NOT NULL AND state != 'closed';

CREATE TABLE turns (
    no INTEGER PRIMARY KEY,
    turn_id TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES sessions (no) ON DELETE CASCADE,
    state TEXT NOT NULL,
    -- Place in the queue, from low to high; what it was stays when it runs.
    position REAL NOT NULL DEFAULT 0,
    owner TEXT NOT NULL,
    -- JSON array of content blocks.
    prompt TEXT NOT NULL DEFAULT '[]',
    prompt_preview TEXT NOT NULL DEFAULT '',
    stop_reason TEXT,
    -- JSON object.
    error TEXT,
    -- JSON object.
    usage TEXT,
    checkpoint_before TEXT,
    schedule_id TEXT,
    -- JSON object: what only the turn itself reads.
    details TEXT NOT NULL DEFAULT '{}',
    queued_at REAL NOT NULL,
    started_at REAL,
    ended_at REAL,
    first_seq INTEGER,
    last_seq INTEGER
) STRICT;
CREATE INDEX turns_by_session ON turns (session, no);
CREATE INDEX turns_by_state ON turns (state, session);

-- gseq counts over all sessions and is never given twice.
CREATE TABLE events (
    gseq INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (no) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    ts REAL NOT NULL,
    turn_id TEXT,
    kind TEXT NOT NULL,
    -- JSON object.
    data TEXT NOT NULL,
    -- JSON: the part of the agent's frame that it was made of, untouched.
    raw TEXT
) STRICT;
CREATE UNIQUE INDEX events_by_session ON events (session, seq);

CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
INSERT INTO counters VALUES ('gseq', 0), ('first_gseq', 1);

CREATE TABLE items (
    no INTEGER PRIMARY KEY,
    item_id TEXT NOT NULL,
    session INTEGER NOT NULL REFERENCES sessions (no) ON DELETE CASCADE,
    turn_id TEXT,
    kind TEXT NOT NULL,
    -- What joins events to it: a message id, a tool call id, a request id.
    key TEXT,
    title TEXT,
    tool_kind TEXT,
    status TEXT,
    -- What was said. While the item is open the rest is in item_parts.
    text TEXT NOT NULL DEFAULT '',
    -- Length of the whole text.
    text_bytes INTEGER NOT NULL DEFAULT 0,
    -- JSON object: content blocks, locations, raw input and output, and so on.
    body TEXT NOT NULL DEFAULT '{}',
    open INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    started_at REAL NOT NULL,
    ended_at REAL,
    UNIQUE (session, item_id)
) STRICT;
CREATE INDEX items_by_session ON items (session, no);
CREATE INDEX items_by_key ON items (session, kind, key) WHERE key IS NOT NULL;
CREATE INDEX items_open ON items (session) WHERE open = 1;

-- Pieces of the text of an open item, so that a long message is not rewritten with each of its chunks.
CREATE TABLE item_parts (
    item INTEGER NOT NULL REFERENCES items (no) ON DELETE CASCADE,
    part INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (item, part)
) STRICT, WITHOUT ROWID;

-- What the agent's terminals printed, cut from the front.
CREATE TABLE terminals (
    session INTEGER NOT NULL REFERENCES sessions (no) ON DELETE CASCADE,
    terminal_id TEXT NOT NULL,
    output TEXT NOT NULL DEFAULT '',
    truncated INTEGER NOT NULL DEFAULT 0,
    exit_code INTEGER,
    signal TEXT,
    PRIMARY KEY (session, terminal_id)
) STRICT, WITHOUT ROWID;

-- The words of closed items; rowid is items.no. The text itself is in items. `files` is what came out of files.
CREATE VIRTUAL TABLE items_fts USING fts5 (
    title, text, files, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TRIGGER items_gone AFTER DELETE ON items BEGIN
    DELETE FROM items_fts WHERE rowid = old.no;
END;
