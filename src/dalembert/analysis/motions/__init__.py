"""Checks of computed motions: audits, balances, contacts, stationary action."""
