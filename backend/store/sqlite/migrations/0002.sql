-- The ids of requests begin with the time: an index of them alone grows at its
-- end, one of accounts and them all over the file. As in PostgreSQL, what is
-- written with every claim has no foreign key.
CREATE TABLE events_new (
	id          INTEGER PRIMARY KEY AUTOINCREMENT,
	account_id  INTEGER NOT NULL,
	request_id  TEXT NOT NULL UNIQUE,
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
	at          INTEGER NOT NULL
) STRICT;
INSERT INTO events_new (id, account_id, request_id, kind, fingerprint, source, target, scan_id, claimed, billable, overage, listed, host_hint, at)
	SELECT id, account_id, request_id, kind, fingerprint, source, target, scan_id, claimed, billable, overage, listed, host_hint, at FROM events ORDER BY id;
-- An id is never used again, of an event that was pruned neither.
DELETE FROM sqlite_sequence WHERE name = 'events_new';
INSERT INTO sqlite_sequence (name, seq) SELECT 'events_new', seq FROM sqlite_sequence WHERE name = 'events';
DROP TABLE events;
ALTER TABLE events_new RENAME TO events;
CREATE INDEX events_listed ON events (account_id, at, id) WHERE listed;
CREATE INDEX events_free ON events (account_id, fingerprint, kind) WHERE kind IN ('preflight', 'readiness');
CREATE INDEX events_scan ON events (account_id, fingerprint, scan_id) WHERE scan_id IS NOT NULL;
