"""What people read: findings, the report and the gate, put together from the analyses."""
