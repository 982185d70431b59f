-- What is ended alone is a log-in with all tokens it was renewed to, not one token.

ALTER TABLE ended_tokens RENAME TO ended_sessions;
ALTER TABLE ended_sessions RENAME COLUMN jti TO session_id;
