-- A claim writes to as few pages as it can. A seat has the id of the event that
-- claimed it: so the newest seats are the newest claims, and the list of events takes
-- those from there. The seats of events that were pruned have ids that no event has.
CREATE TABLE seats_new (
	id           INTEGER PRIMARY KEY,
	account_id   INTEGER NOT NULL,
	fingerprint  TEXT NOT NULL,
	kind         TEXT NOT NULL,
	source       TEXT NOT NULL,
	kinds        INTEGER NOT NULL,
	first_at     INTEGER NOT NULL,
	last_seen_at INTEGER NOT NULL,
	claimed_by   TEXT NOT NULL,
	UNIQUE (account_id, fingerprint)
) STRICT;
INSERT INTO seats_new (id, account_id, fingerprint, kind, source, kinds, first_at, last_seen_at, claimed_by)
	SELECT coalesce(e.id, -row_number() OVER (ORDER BY s.first_at)), s.account_id, s.fingerprint, s.kind, s.source, s.kinds, s.first_at, s.last_seen_at, s.claimed_by
	FROM seats s LEFT JOIN events e ON e.request_id = s.claimed_by AND e.account_id = s.account_id AND e.fingerprint = s.fingerprint AND e.claimed
	ORDER BY 1;
DROP TABLE seats;
ALTER TABLE seats_new RENAME TO seats;
CREATE INDEX seats_newest ON seats (account_id, first_at);
DROP INDEX events_listed;
CREATE INDEX events_listed ON events (account_id, at) WHERE listed AND NOT claimed;
