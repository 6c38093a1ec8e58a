"""PostgreSQL: the embedded supervisor, migrations and queries."""
