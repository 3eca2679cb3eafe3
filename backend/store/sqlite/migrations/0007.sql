-- A seat is found by its fingerprint, which any program can write and check. It has the
-- columns of a store that knew it by a digest, and of one that never did.
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
	pool         TEXT NOT NULL DEFAULT '',
	UNIQUE (account_id, fingerprint)
) STRICT;
INSERT INTO seats_new (id, account_id, fingerprint, kind, source, kinds, first_at, last_seen_at, claimed_by, pool)
	SELECT id, account_id, fingerprint, kind, source, kinds, first_at, last_seen_at, claimed_by, pool FROM seats ORDER BY id;
DROP TABLE seats;
ALTER TABLE seats_new RENAME TO seats;
CREATE INDEX seats_newest ON seats (account_id, first_at);

-- As in PostgreSQL: a token says all that a request is let in by.
ALTER TABLE tokens ADD COLUMN plan TEXT NOT NULL DEFAULT '';
ALTER TABLE tokens ADD COLUMN unlimited INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tokens ADD COLUMN suspended INTEGER NOT NULL DEFAULT 0;
UPDATE tokens SET (plan, unlimited, suspended) = (SELECT plan, unlimited, disabled FROM accounts WHERE id = account_id);
CREATE INDEX tokens_account ON tokens (account_id);
