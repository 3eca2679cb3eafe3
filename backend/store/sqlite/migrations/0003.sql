-- As in PostgreSQL: what an operator changes of an account, its tokens and its
-- grants raises its version.
ALTER TABLE accounts ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
