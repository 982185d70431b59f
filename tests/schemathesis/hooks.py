"""What Schemathesis needs to know beside the description: how bodies of bytes are sent, and whom to spare."""

import os

import schemathesis

OWN_ID = os.environ["SCHEMATHESIS_USER_ID"]
SPARE_ID = os.environ["SCHEMATHESIS_SPARE_ID"]


@schemathesis.serializer("application/offset+octet-stream", "application/octet-stream", "application/zip", "audio/midi")
def as_bytes(_, value):
    return value if isinstance(value, bytes) else str(value).encode()


@schemathesis.hook
def before_call(_, case, kwargs):
    """Spares the account that all this runs as: once it is disabled or has another password, nothing more is tested.
    A spare one takes its place, which is there as the caller expects."""
    if case.path_parameters.get("id") == OWN_ID and case.operation.path.startswith("/api/v1/admin/users/"):
        case.path_parameters["id"] = SPARE_ID
