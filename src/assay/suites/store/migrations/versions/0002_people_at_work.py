"""Leads, leases, notes, keys of requests, versions of rules; outputs are dealt, not items."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add what a team needs; whoever came first leads it."""
    _leads()
    _outputs()
    _assignments()
    _leases()
    _changes()
    _rules()
    _notes()
    _logins()


def _leads() -> None:
    op.add_column(
        "annotators", sa.Column("lead", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    first = sa.text("UPDATE annotators SET lead = :yes WHERE id = (SELECT min(id) FROM annotators)")
    op.execute(first.bindparams(yes=True))


def _outputs() -> None:
    """Let what rules have settled be counted from an index alone."""
    op.create_index(
        op.f("ix_outputs_ruled_by"),
        "outputs",
        ["ruled_by"],
        sqlite_where=sa.text("ruled_by IS NOT NULL"),
        postgresql_where=sa.text("ruled_by IS NOT NULL"),
    )


def _assignments() -> None:
    """Deal outputs instead of items: those that the rules leave to people."""
    warned = sa.text(
        "SELECT outputs.id, annotator_id, verdict = 'warning' AND NOT disputed "
        "FROM assignments JOIN outputs USING (item_id) "
        "WHERE ruled = 'warning' ORDER BY outputs.id, annotator_id"
    )
    rows, given = [], set()
    for output, person, is_open in op.get_bind().execute(warned):
        row = {"output_id": output, "annotator_id": person}
        rows.append({**row, "second": output in given, "open": bool(is_open)})
        given.add(output)
    op.drop_table("assignments")
    table = op.create_table(
        "assignments",
        sa.Column("output_id", sa.Integer(), nullable=False),
        sa.Column("annotator_id", sa.Integer(), nullable=False),
        sa.Column("second", sa.Boolean(), nullable=False),
        sa.Column("open", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["output_id"], ["outputs.id"], name=op.f("fk_assignments_output_id")
        ),
        sa.ForeignKeyConstraint(
            ["annotator_id"], ["annotators.id"], name=op.f("fk_assignments_annotator_id")
        ),
        sa.PrimaryKeyConstraint("output_id", "annotator_id", name=op.f("pk_assignments")),
    )
    op.create_index(
        op.f("ix_assignments_annotator_id_output_id_second"),
        "assignments",
        ["annotator_id", "output_id", "second"],
    )
    op.create_index(
        op.f("ix_assignments_output_id"),
        "assignments",
        ["output_id"],
        sqlite_where=sa.text("second = 1"),
        postgresql_where=sa.text("second"),
    )
    op.create_index(
        op.f("ix_assignments_annotator_id_second"),
        "assignments",
        ["annotator_id", "second"],
        sqlite_where=sa.text("open = 1"),
        postgresql_where=sa.text("open"),
    )
    op.bulk_insert(table, rows)


def _leases() -> None:
    op.create_table(
        "leases",
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("annotator_id", sa.Integer(), nullable=False),
        sa.Column("expires", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["items.id"], name=op.f("fk_leases_item_id")),
        sa.ForeignKeyConstraint(
            ["annotator_id"], ["annotators.id"], name=op.f("fk_leases_annotator_id")
        ),
        sa.PrimaryKeyConstraint("item_id", "annotator_id", name=op.f("pk_leases")),
    )


def _changes() -> None:
    with op.batch_alter_table("changes") as table:
        table.alter_column("annotator_id", existing_type=sa.Integer(), nullable=True)
        table.add_column(sa.Column("item_id", sa.Integer(), nullable=True))
        table.add_column(sa.Column("key", sa.String(length=64), nullable=True))
        table.add_column(sa.Column("data", sa.Text(), nullable=True))
        table.create_foreign_key(op.f("fk_changes_item_id"), "items", ["item_id"], ["id"])
        table.create_unique_constraint(op.f("uq_changes_annotator_id_key"), ["annotator_id", "key"])
        table.create_index(op.f("ix_changes_item_id"), ["item_id"])


def _rules() -> None:
    op.add_column("rules", sa.Column("replaces", sa.Integer(), nullable=True))


def _notes() -> None:
    op.create_table(
        "notes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("output_id", sa.Integer(), nullable=True),
        sa.Column("annotator_id", sa.Integer(), nullable=False),
        sa.Column("change_id", sa.Integer(), nullable=False),
        sa.Column("time", sa.Text(), nullable=False),
        sa.Column("flag", sa.String(length=32), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("withdrawn", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["items.id"], name=op.f("fk_notes_item_id")),
        sa.ForeignKeyConstraint(["output_id"], ["outputs.id"], name=op.f("fk_notes_output_id")),
        sa.ForeignKeyConstraint(
            ["annotator_id"], ["annotators.id"], name=op.f("fk_notes_annotator_id")
        ),
        sa.ForeignKeyConstraint(["change_id"], ["changes.id"], name=op.f("fk_notes_change_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notes")),
    )
    for name in ("item_id", "output_id", "annotator_id", "change_id"):
        op.create_index(op.f(f"ix_notes_{name}"), "notes", [name])


def _logins() -> None:
    # Forms carry no token any more: browsers say by themselves which page a request comes from.
    with op.batch_alter_table("logins") as table:
        table.drop_column("csrf")
