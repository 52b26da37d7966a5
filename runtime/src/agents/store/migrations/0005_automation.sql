-- Schedules and webhooks. Times are epoch seconds.

CREATE TABLE schedules (
    no INTEGER PRIMARY KEY,
    schedule_id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    -- JSON object: one of cron, every_seconds, at.
    trigger TEXT NOT NULL,
    timezone TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    -- Who made it: its runs are theirs.
    owner TEXT NOT NULL,
    -- The session that it prompts; none where each run opens its own.
    session_id TEXT,
    -- JSON object: what a session is opened with.
    session_fields TEXT NOT NULL DEFAULT '{}',
    -- JSON: text or content blocks.
    prompt TEXT NOT NULL,
    overlap TEXT NOT NULL,
    missed TEXT NOT NULL,
    max_failures INTEGER NOT NULL,
    failures_in_a_row INTEGER NOT NULL DEFAULT 0,
    -- Where counting of intervals begins.
    anchor REAL NOT NULL,
    -- The next slot; none where there is no more.
    next_at REAL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
) STRICT;
CREATE INDEX schedules_due ON schedules (next_at) WHERE enabled = 1 AND next_at IS NOT NULL;

-- One row a slot, written before it fires: whoever writes it fires it, once.
CREATE TABLE schedule_runs (
    no INTEGER PRIMARY KEY,
    schedule INTEGER NOT NULL REFERENCES schedules (no) ON DELETE CASCADE,
    -- The time of the slot; none for a run that was asked for by hand.
    slot REAL,
    at REAL NOT NULL,
    -- claimed, started, skipped, failed, completed, cancelled or interrupted.
    state TEXT NOT NULL,
    session_id TEXT,
    turn_id TEXT,
    reason TEXT
) STRICT;
CREATE UNIQUE INDEX schedule_runs_by_slot ON schedule_runs (schedule, slot) WHERE slot IS NOT NULL;
CREATE INDEX schedule_runs_by_schedule ON schedule_runs (schedule, no);
CREATE INDEX schedule_runs_by_turn ON schedule_runs (turn_id) WHERE turn_id IS NOT NULL;

CREATE TABLE webhooks (
    no INTEGER PRIMARY KEY,
    webhook_id TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL,
    -- JSON array.
    kinds TEXT NOT NULL,
    -- JSON object: agent_id, session_id, label.
    filter TEXT NOT NULL DEFAULT '{}',
    secret TEXT,
    enabled INTEGER NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
) STRICT;

-- How far the log has been looked through for webhooks.
INSERT INTO counters VALUES ('webhooks_gseq', 0);

-- What is still to be delivered. Deliveries of one session leave in the order of their numbers.
CREATE TABLE outbox (
    no INTEGER PRIMARY KEY,
    delivery_id TEXT NOT NULL UNIQUE,
    webhook INTEGER NOT NULL REFERENCES webhooks (no) ON DELETE CASCADE,
    session_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    queued_at REAL NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 0,
    next_at REAL NOT NULL
) STRICT;
CREATE INDEX outbox_by_order ON outbox (webhook, session_id, no);
CREATE INDEX outbox_due ON outbox (next_at);

-- What became of the latest attempts.
CREATE TABLE deliveries (
    no INTEGER PRIMARY KEY,
    webhook INTEGER NOT NULL REFERENCES webhooks (no) ON DELETE CASCADE,
    delivery_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    at REAL NOT NULL,
    status INTEGER,
    attempt INTEGER NOT NULL,
    ms INTEGER NOT NULL,
    error TEXT
) STRICT;
CREATE INDEX deliveries_by_webhook ON deliveries (webhook, no);
