-- Times are microseconds since 1970 in UTC; dates are YYYY-MM-DD, and an end is
-- the first day that does not count.
CREATE TABLE accounts (
	id           INTEGER PRIMARY KEY,
	name         TEXT NOT NULL,
	plan         TEXT NOT NULL,
	unlimited    INTEGER NOT NULL,
	free_quota   INTEGER NOT NULL,
	vm_limit     INTEGER NOT NULL,
	disabled     INTEGER NOT NULL DEFAULT 0,
	billable_vms INTEGER NOT NULL DEFAULT 0, -- = count(*) of its seats
	created_at   INTEGER NOT NULL
) STRICT;

CREATE TABLE tokens (
	id          INTEGER PRIMARY KEY,
	account_id  INTEGER NOT NULL REFERENCES accounts,
	hash        BLOB NOT NULL UNIQUE,
	created_at  INTEGER NOT NULL,
	disabled_at INTEGER
) STRICT;

CREATE TABLE grants (
	id          INTEGER PRIMARY KEY,
	account_id  INTEGER NOT NULL REFERENCES accounts,
	pov         INTEGER NOT NULL,
	seats       INTEGER NOT NULL,
	valid_from  TEXT NOT NULL,
	valid_until TEXT NOT NULL,
	source      TEXT NOT NULL,
	note        TEXT NOT NULL,
	ended_at    INTEGER -- revoked, or converted
) STRICT;
CREATE INDEX grants_account ON grants (account_id);

CREATE TABLE seats (
	account_id   INTEGER NOT NULL REFERENCES accounts,
	fingerprint  TEXT NOT NULL,
	kind         TEXT NOT NULL,
	source       TEXT NOT NULL,
	kinds        INTEGER NOT NULL,
	first_at     INTEGER NOT NULL,
	last_seen_at INTEGER NOT NULL,
	claimed_by   TEXT NOT NULL,
	PRIMARY KEY (account_id, fingerprint)
) STRICT, WITHOUT ROWID;
CREATE INDEX seats_newest ON seats (account_id, first_at DESC, fingerprint DESC);

CREATE TABLE events (
	id          INTEGER PRIMARY KEY AUTOINCREMENT,
	account_id  INTEGER NOT NULL REFERENCES accounts,
	request_id  TEXT NOT NULL,
	kind        TEXT NOT NULL,
	fingerprint TEXT NOT NULL,
	source      TEXT NOT NULL,
	target      TEXT,
	scan_id     TEXT,
	claimed     INTEGER NOT NULL,
	billable    INTEGER NOT NULL,
	overage     INTEGER NOT NULL,
	listed      INTEGER NOT NULL,
	host_hint   TEXT,
	at          INTEGER NOT NULL,
	UNIQUE (account_id, request_id)
) STRICT;
CREATE INDEX events_listed ON events (account_id, at DESC, id DESC) WHERE listed;
CREATE INDEX events_free ON events (account_id, fingerprint, kind) WHERE kind IN ('preflight', 'readiness');
CREATE INDEX events_scan ON events (account_id, fingerprint, scan_id) WHERE scan_id IS NOT NULL;

CREATE TABLE hosts (
	account_id  INTEGER NOT NULL REFERENCES accounts,
	fingerprint TEXT NOT NULL,
	host_hint   TEXT NOT NULL,
	events      INTEGER NOT NULL,
	PRIMARY KEY (account_id, fingerprint, host_hint)
) STRICT, WITHOUT ROWID;

CREATE TABLE metered (
	account_id INTEGER NOT NULL REFERENCES accounts,
	day        TEXT NOT NULL,
	requests   INTEGER NOT NULL,
	PRIMARY KEY (account_id, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE findings (
	id          INTEGER PRIMARY KEY AUTOINCREMENT,
	account_id  INTEGER NOT NULL REFERENCES accounts,
	kind        TEXT NOT NULL,
	title       TEXT NOT NULL,
	body        TEXT NOT NULL,
	release     TEXT,
	redactions  TEXT NOT NULL,
	created_at  INTEGER NOT NULL,
	updated_at  INTEGER NOT NULL,
	resolved_at INTEGER
) STRICT;
CREATE INDEX findings_newest ON findings (account_id, created_at DESC, id DESC);

CREATE TABLE questions (
	id          INTEGER PRIMARY KEY AUTOINCREMENT,
	account_id  INTEGER NOT NULL REFERENCES accounts,
	question    TEXT NOT NULL,
	answer      TEXT,
	redactions  TEXT NOT NULL,
	created_at  INTEGER NOT NULL,
	answered_at INTEGER
) STRICT;
CREATE INDEX questions_newest ON questions (account_id, created_at DESC, id DESC);

CREATE TABLE releases (
	tag          TEXT PRIMARY KEY,
	channel      TEXT NOT NULL,
	notes        TEXT NOT NULL,
	staged_at    INTEGER NOT NULL,
	published_at INTEGER
) STRICT;

CREATE TABLE keys (
	key_id     TEXT PRIMARY KEY,
	algorithm  TEXT NOT NULL,
	pem        TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	retired_at INTEGER
) STRICT;

CREATE TABLE replays (
	account_id INTEGER NOT NULL REFERENCES accounts,
	key        TEXT NOT NULL,
	body_hash  BLOB NOT NULL,
	answer     TEXT NOT NULL, -- JSON of what the first call gave
	at         INTEGER NOT NULL,
	PRIMARY KEY (account_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX replays_age ON replays (at);

CREATE TABLE audit (
	id     INTEGER PRIMARY KEY AUTOINCREMENT,
	at     INTEGER NOT NULL,
	actor  TEXT NOT NULL,
	act    TEXT NOT NULL,
	detail TEXT NOT NULL
) STRICT;
