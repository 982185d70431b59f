-- Each offer of a waiting task has a number, so that a copy of an offer is recognized and not repeated.
ALTER TABLE tasks ADD COLUMN offer BIGINT NOT NULL DEFAULT 0;
