-- What an operator changes of an account, its tokens and its grants raises its
-- version, by which a service knows that what it remembers of them still holds.
ALTER TABLE accounts ADD COLUMN version bigint NOT NULL DEFAULT 0;
-- No key of what grows is without its account, so that it can be sharded.
ALTER TABLE events DROP CONSTRAINT events_pkey, DROP CONSTRAINT events_account_id_request_id_key, ADD PRIMARY KEY (account_id, request_id);
CREATE INDEX events_oldest ON events (id);
