"""Leads generated requests to things that exist, so that they get past the checks of access."""

import json
import os
import zlib

import schemathesis

KNOWN = json.loads(os.environ["CONTRACT_KNOWN"])
# Below all limits of texts that are replaced.
LONGEST = 100


def value_of(path, name):
    resource = path.removeprefix("/api/").split(".")[0]
    if path.endswith(".create") and name == "id":
        return None
    return KNOWN.get(f"{resource}.{name}") or KNOWN.get(name)


def aimed(context, given):
    """Short texts only: what a generator made of another type, or too long, is there to be refused."""
    if not isinstance(given, dict):
        return given
    for name, value in given.items():
        known = value_of(context.operation.path, name)
        is_left = name != "workspace_id" and zlib.crc32(str(value).encode()) % 2 == 0
        is_usual = isinstance(value, str) and 0 < len(value) <= LONGEST
        if known and is_usual and not is_left:
            given[name] = known
    return given


@schemathesis.hook
def map_query(context, query):
    return aimed(context, query)


@schemathesis.hook
def map_body(context, body):
    return aimed(context, body)
