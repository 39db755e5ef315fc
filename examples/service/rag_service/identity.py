"""
Who asks: a signed token with an expiry, and the principal that is made of it.

    python -m rag_service.identity clerk-7 harbour --role clerk

The key is the service's and its gateway's. Nothing in the body of a request can change
who asks.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from time import time

import jwt

from sdrag import Principal

AUDIENCE = "rag-service"
_REQUIRED = ["exp", "sub", "aud", "tenant"]


class UnknownCallerError(Exception):
    """The token is missing, not signed by us, or expired."""


def sign(
    key: str, user: str, tenant: str, roles: Iterable[str] = (), seconds: float = 600
) -> str:
    """Sign who a user is, for some seconds."""
    claims = {
        "sub": user,
        "tenant": tenant,
        "roles": sorted(roles),
        "aud": AUDIENCE,
        "exp": time() + seconds,
    }
    return jwt.encode(claims, key, algorithm="HS256")


def principal_of(header: str | None, key: str) -> Principal:
    """
    Read a header, `Bearer` and a token.

    Raises:
        UnknownCallerError: Nobody that we know has signed it, or it has expired.
    """
    scheme, _, token = (header or "").partition(" ")
    if scheme.lower() != "bearer":
        raise UnknownCallerError
    try:
        claims = jwt.decode(
            token,
            key,
            algorithms=["HS256"],
            audience=AUDIENCE,
            options={"require": _REQUIRED},
        )
    except jwt.InvalidTokenError:
        raise UnknownCallerError from None
    user, tenant, roles = claims["sub"], claims["tenant"], claims.get("roles", [])
    if not isinstance(roles, list):
        raise UnknownCallerError
    if not all(isinstance(said, str) and said for said in (user, tenant, *roles)):
        raise UnknownCallerError
    return Principal(user, tenant=tenant, roles=frozenset(roles))


def main() -> None:
    parser = argparse.ArgumentParser(description="Print a token for a user.")
    parser.add_argument("user")
    parser.add_argument("tenant")
    parser.add_argument("--role", action="append", default=[])
    parser.add_argument("--seconds", type=float, default=600)
    given = parser.parse_args()
    key = os.environ["SERVICE_KEY"]
    print(sign(key, given.user, given.tenant, given.role, given.seconds))


if __name__ == "__main__":
    main()
