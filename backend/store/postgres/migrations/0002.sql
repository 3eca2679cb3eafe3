-- Lists read these backwards. Upwards, what is new goes to the end of an index,
-- whose pages fill; downwards it went to the beginning, and split them in halves.
DROP INDEX events_listed;
CREATE INDEX events_listed ON events (account_id, at, id) WHERE listed;
DROP INDEX seats_newest;
CREATE INDEX seats_newest ON seats (account_id, first_at, fingerprint);
