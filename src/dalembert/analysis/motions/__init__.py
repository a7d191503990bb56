"""What a computed motion has kept: audits, balances, contacts, stationary action."""
