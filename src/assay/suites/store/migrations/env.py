"""Runs the migrations on the connection that `assay.suites.store.opening` hands over."""

from alembic import context

from assay.suites.store.opening import VERSIONS
from assay.suites.store.tables import metadata

# Alembic hands over `context.config` when it runs this file; whoever imports it gets nothing.
if hasattr(context, "config"):
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=metadata,
        version_table=VERSIONS,
        transactional_ddl=True,
    )
    context.run_migrations()
