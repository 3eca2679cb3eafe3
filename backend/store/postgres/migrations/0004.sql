-- Which pool of the account's capacity a seat was taken from when it was claimed;
-- '' for the seats before.
ALTER TABLE seats ADD COLUMN pool text NOT NULL DEFAULT '';
