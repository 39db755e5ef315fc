"""Check digits and other rules by which an identifier shows that it is one."""

from __future__ import annotations

import ipaddress

__all__ = ["address_holds", "iban_holds", "luhn_holds"]


def luhn_holds(number: str) -> bool:
    """Check a card number's last digit (ISO/IEC 7812-1)."""
    digits = [int(c) for c in number if c.isdigit()]
    doubled = (sum(divmod(2 * d, 10)) for d in digits[-2::-2])
    return len(digits) > 11 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def iban_holds(code: str) -> bool:
    """Check an IBAN's check digits (ISO 13616, mod 97)."""
    plain = code.replace(" ", "")
    turned = plain[4:] + plain[:4]
    return len(plain) > 14 and int("".join(str(int(c, 36)) for c in turned)) % 97 == 1


def address_holds(value: str) -> bool:
    """Check an address of a host or a network, with or without a port."""
    if "." not in value and value.count(":") < 2:
        return False
    bare = value.partition("/")[0]
    if "." in bare:
        bare = bare.partition(":")[0]
    try:
        ipaddress.ip_address(bare)
    except ValueError:
        return False
    return True
