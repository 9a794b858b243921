"""Runs the migrations on the connection that `assay.suite.store.upgrading` hands over."""

from alembic import context

from assay.suite.store.tables import metadata
from assay.suite.store.upgrading import VERSIONS

# Alembic hands over `context.config` when it runs this file; whoever imports it gets nothing.
if hasattr(context, "config"):
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=metadata,
        version_table=VERSIONS,
        transactional_ddl=True,
    )
    context.run_migrations()
