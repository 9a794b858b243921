"""The first form of the database."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make all tables."""
    _facts()
    _items()
    _runs()
    _outputs()
    _answers()
    _annotators()
    _invitations()
    _logins()
    _assignments()
    _changes()
    _decisions()
    _rules()


def _facts() -> None:
    op.create_table(
        "facts",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_facts")),
    )


def _items() -> None:
    op.create_table(
        "items",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("languages", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("phenomenon", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("extra", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_items")),
        sa.UniqueConstraint("name", name=op.f("uq_items_name")),
    )
    op.create_index(op.f("ix_items_category_phenomenon"), "items", ["category", "phenomenon"])
    op.create_index(op.f("ix_items_position"), "items", ["position"])


def _runs() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("system", sa.Text(), nullable=False),
        sa.Column("campaign", sa.Text(), nullable=False),
        sa.Column("date", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
        sa.UniqueConstraint("system", "campaign", name=op.f("uq_runs_system_campaign")),
    )


def _outputs() -> None:
    op.create_table(
        "outputs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("hits", sa.Integer(), nullable=False),
        sa.Column("ruled", sa.String(length=10), nullable=False),
        sa.Column("ruled_by", sa.Text(), nullable=True),
        sa.Column("verdict", sa.String(length=10), nullable=False),
        sa.Column("by", sa.Text(), nullable=True),
        sa.Column("disputed", sa.Boolean(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["items.id"], name=op.f("fk_outputs_item_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outputs")),
        sa.UniqueConstraint("item_id", "digest", name=op.f("uq_outputs_item_id_digest")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("ix_outputs_disputed"),
        "outputs",
        ["disputed"],
        sqlite_where=sa.text("disputed = 1"),
        postgresql_where=sa.text("disputed"),
    )
    op.create_index(
        op.f("ix_outputs_item_id_ruled_verdict_disputed"),
        "outputs",
        ["item_id", "ruled", "verdict", "disputed"],
    )
    op.create_index(
        op.f("ix_outputs_ruled_verdict_disputed_item_id"),
        "outputs",
        ["ruled", "verdict", "disputed", "item_id"],
    )


def _answers() -> None:
    op.create_table(
        "answers",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("output_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["items.id"], name=op.f("fk_answers_item_id")),
        sa.ForeignKeyConstraint(["output_id"], ["outputs.id"], name=op.f("fk_answers_output_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_answers_run_id")),
        sa.PrimaryKeyConstraint("run_id", "item_id", name=op.f("pk_answers")),
    )
    op.create_index(op.f("ix_answers_output_id_run_id"), "answers", ["output_id", "run_id"])


def _annotators() -> None:
    op.create_table(
        "annotators",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("password", sa.Text(), nullable=False),
        sa.Column("created", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_annotators")),
        sa.UniqueConstraint("name", name=op.f("uq_annotators_name")),
    )


def _invitations() -> None:
    op.create_table(
        "invitations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("annotator_id", sa.Integer(), nullable=False),
        sa.Column("expires", sa.Text(), nullable=False),
        sa.Column("used", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["annotator_id"], ["annotators.id"], name=op.f("fk_invitations_annotator_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitations")),
        sa.UniqueConstraint("digest", name=op.f("uq_invitations_digest")),
    )
    op.create_index(op.f("ix_invitations_annotator_id"), "invitations", ["annotator_id"])


def _logins() -> None:
    op.create_table(
        "logins",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("annotator_id", sa.Integer(), nullable=False),
        sa.Column("csrf", sa.String(length=64), nullable=False),
        sa.Column("expires", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["annotator_id"], ["annotators.id"], name=op.f("fk_logins_annotator_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_logins")),
        sa.UniqueConstraint("digest", name=op.f("uq_logins_digest")),
    )
    op.create_index(op.f("ix_logins_annotator_id"), "logins", ["annotator_id"])


def _assignments() -> None:
    op.create_table(
        "assignments",
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("annotator_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["annotator_id"], ["annotators.id"], name=op.f("fk_assignments_annotator_id")
        ),
        sa.ForeignKeyConstraint(["item_id"], ["items.id"], name=op.f("fk_assignments_item_id")),
        sa.PrimaryKeyConstraint("item_id", "annotator_id", name=op.f("pk_assignments")),
    )


def _changes() -> None:
    op.create_table(
        "changes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("annotator_id", sa.Integer(), nullable=False),
        sa.Column("output_id", sa.Integer(), nullable=True),
        sa.Column("time", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("undone", sa.Text(), nullable=False),
        sa.Column("undone_by", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["annotator_id"], ["annotators.id"], name=op.f("fk_changes_annotator_id")
        ),
        sa.ForeignKeyConstraint(["output_id"], ["outputs.id"], name=op.f("fk_changes_output_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_changes")),
    )
    op.create_index(op.f("ix_changes_annotator_id"), "changes", ["annotator_id"])
    op.create_index(op.f("ix_changes_output_id"), "changes", ["output_id"])


def _decisions() -> None:
    op.create_table(
        "decisions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("output_id", sa.Integer(), nullable=False),
        sa.Column("annotator_id", sa.Integer(), nullable=False),
        sa.Column("change_id", sa.Integer(), nullable=False),
        sa.Column("verdict", sa.String(length=10), nullable=False),
        sa.Column("adjudication", sa.Boolean(), nullable=False),
        sa.Column("time", sa.Text(), nullable=False),
        sa.Column("withdrawn", sa.Boolean(), nullable=False),
        sa.Column("made", sa.Integer(), nullable=False),
        sa.Column("unmade", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["annotator_id"], ["annotators.id"], name=op.f("fk_decisions_annotator_id")
        ),
        sa.ForeignKeyConstraint(["change_id"], ["changes.id"], name=op.f("fk_decisions_change_id")),
        sa.ForeignKeyConstraint(["output_id"], ["outputs.id"], name=op.f("fk_decisions_output_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decisions")),
    )
    op.create_index(
        op.f("ix_decisions_annotator_id_output_id_withdrawn_verdict"),
        "decisions",
        ["annotator_id", "output_id", "withdrawn", "verdict"],
    )
    op.create_index(op.f("ix_decisions_change_id"), "decisions", ["change_id"])
    op.create_index(op.f("ix_decisions_output_id"), "decisions", ["output_id"])


def _rules() -> None:
    op.create_table(
        "rules",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("polarity", sa.String(length=8), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("time", sa.Text(), nullable=False),
        sa.Column("provenance", sa.Text(), nullable=False),
        sa.Column("change_id", sa.Integer(), nullable=True),
        sa.Column("retired", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["change_id"], ["changes.id"], name=op.f("fk_rules_change_id")),
        sa.ForeignKeyConstraint(["item_id"], ["items.id"], name=op.f("fk_rules_item_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rules")),
        sa.UniqueConstraint("name", name=op.f("uq_rules_name")),
    )
    op.create_index(op.f("ix_rules_change_id"), "rules", ["change_id"])
    op.create_index(op.f("ix_rules_item_id"), "rules", ["item_id"])
