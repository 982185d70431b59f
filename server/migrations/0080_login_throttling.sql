-- Failed log-ins of one account from one network: an IPv4 address, or an IPv6 /64.
-- The account is the SHA-256 of the name that was typed, which may be a password typed by mistake;
-- `username` is there only where an account has that name.

DROP TABLE login_failures;

CREATE TABLE login_failures (
    network          TEXT NOT NULL,
    account_sha256   TEXT NOT NULL,
    username         TEXT,
    failures         BIGINT NOT NULL,
    last_failed_secs BIGINT NOT NULL,
    PRIMARY KEY (network, account_sha256)
);

CREATE INDEX login_failures_by_account ON login_failures (account_sha256);
CREATE INDEX login_failures_by_time ON login_failures (last_failed_secs);

-- Networks from which an account logged in with its password.
CREATE TABLE login_networks (
    user_id         TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    network         TEXT NOT NULL,
    last_login_secs BIGINT NOT NULL,
    PRIMARY KEY (user_id, network)
);

CREATE INDEX login_networks_by_time ON login_networks (last_login_secs);

-- Registrations from one network, without an invitation or with a bad one.
CREATE TABLE registration_attempts (
    network           TEXT PRIMARY KEY,
    attempts          BIGINT NOT NULL,
    last_attempt_secs BIGINT NOT NULL
);
