"""Tells Schemathesis how to send binary bodies, and protects the account that the tests use."""

import os

import schemathesis

OWN_ID = os.environ["SCHEMATHESIS_USER_ID"]
SPARE_ID = os.environ["SCHEMATHESIS_SPARE_ID"]


@schemathesis.serializer("application/offset+octet-stream", "application/octet-stream", "application/zip", "audio/midi")
def as_bytes(_, value):
    return value if isinstance(value, bytes) else str(value).encode()


@schemathesis.hook
def before_call(_, case, kwargs):
    """Sends changes of the tests' own account to a spare account. If the own account were disabled or got another
    password, all further requests would fail."""
    if case.path_parameters.get("id") == OWN_ID and case.operation.path.startswith("/api/v1/admin/users/"):
        case.path_parameters["id"] = SPARE_ID
