"""What keeps text out of logs, audits, warnings and identities."""
