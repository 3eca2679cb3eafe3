-- Each table is either an account's in every key, so that the accounts can be spread
-- over several servers, or small and the same on all of them. No row refers to one of
-- another server: accounts stay, and who writes holds the account's row locked. Ids are
-- of sequences, not of identity columns, which a spread table can't have; they are
-- unique over all accounts.
CREATE SEQUENCE account_ids;
SELECT setval('account_ids', nextval(pg_get_serial_sequence('accounts', 'id')), false);
ALTER TABLE accounts ALTER id DROP IDENTITY, ALTER id SET DEFAULT nextval('account_ids');
ALTER SEQUENCE account_ids OWNED BY accounts.id;

-- What is recorded of an account counts its writes: by that a process knows that nobody
-- else wrote since it did.
ALTER TABLE accounts ADD writes bigint NOT NULL DEFAULT 0;

-- A token says all that a request is let in by: so that one on a server that stands
-- concerns nobody else.
CREATE SEQUENCE token_ids;
SELECT setval('token_ids', nextval(pg_get_serial_sequence('tokens', 'id')), false);
ALTER TABLE tokens DROP CONSTRAINT tokens_account_id_fkey, ALTER id DROP IDENTITY, ALTER id SET DEFAULT nextval('token_ids'),
	ADD plan text NOT NULL DEFAULT '', ADD unlimited boolean NOT NULL DEFAULT false, ADD suspended boolean NOT NULL DEFAULT false;
ALTER SEQUENCE token_ids OWNED BY tokens.id;
UPDATE tokens t SET plan = a.plan, unlimited = a.unlimited, suspended = a.disabled FROM accounts a WHERE a.id = t.account_id;
CREATE INDEX tokens_account ON tokens (account_id);

CREATE SEQUENCE grant_ids;
SELECT setval('grant_ids', nextval(pg_get_serial_sequence('grants', 'id')), false);
ALTER TABLE grants DROP CONSTRAINT grants_account_id_fkey, DROP CONSTRAINT grants_pkey, ADD PRIMARY KEY (account_id, id),
	ALTER id DROP IDENTITY, ALTER id SET DEFAULT nextval('grant_ids');
ALTER SEQUENCE grant_ids OWNED BY grants.id;
DROP INDEX grants_account;
CREATE INDEX grants_id ON grants (id);

CREATE SEQUENCE finding_ids;
SELECT setval('finding_ids', nextval(pg_get_serial_sequence('findings', 'id')), false);
ALTER TABLE findings DROP CONSTRAINT findings_account_id_fkey, DROP CONSTRAINT findings_pkey, ADD PRIMARY KEY (account_id, id),
	ALTER id DROP IDENTITY, ALTER id SET DEFAULT nextval('finding_ids');
ALTER SEQUENCE finding_ids OWNED BY findings.id;
CREATE INDEX findings_id ON findings (id);

CREATE SEQUENCE question_ids;
SELECT setval('question_ids', nextval(pg_get_serial_sequence('questions', 'id')), false);
ALTER TABLE questions DROP CONSTRAINT questions_account_id_fkey, DROP CONSTRAINT questions_pkey, ADD PRIMARY KEY (account_id, id),
	ALTER id DROP IDENTITY, ALTER id SET DEFAULT nextval('question_ids');
ALTER SEQUENCE question_ids OWNED BY questions.id;
CREATE INDEX questions_id ON questions (id);

CREATE SEQUENCE audit_ids;
SELECT setval('audit_ids', nextval(pg_get_serial_sequence('audit', 'id')), false);
ALTER TABLE audit ALTER id DROP IDENTITY, ALTER id SET DEFAULT nextval('audit_ids');
ALTER SEQUENCE audit_ids OWNED BY audit.id;

-- A process takes the ids of its next thousand events at once.
CREATE SEQUENCE event_ids INCREMENT BY 1000;
SELECT setval('event_ids', nextval(pg_get_serial_sequence('events', 'id')), false);
ALTER TABLE events ALTER id DROP IDENTITY;
ALTER SEQUENCE event_ids OWNED BY events.id;

-- What is old is removed account by account, by these two: each event is in one.
DROP INDEX events_oldest;
CREATE INDEX events_unlisted ON events (account_id, at) WHERE NOT listed;
DROP INDEX replays_age;

-- Which store this is, so that a service notices another one in its place.
CREATE TABLE store (identity text PRIMARY KEY);
INSERT INTO store VALUES (gen_random_uuid()::text);
