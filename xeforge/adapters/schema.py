"""Tables of the SQL store. Only types and constraints that SQLite and PostgreSQL share."""

from sqlalchemy import BigInteger
from sqlalchemy import Column
from sqlalchemy import Connection
from sqlalchemy import Double
from sqlalchemy import ForeignKey
from sqlalchemy import Integer
from sqlalchemy import MetaData
from sqlalchemy import PrimaryKeyConstraint
from sqlalchemy import String
from sqlalchemy import Table
from sqlalchemy import Text
from sqlalchemy import UniqueConstraint
from sqlalchemy import insert
from sqlalchemy import inspect
from sqlalchemy import select
from sqlalchemy import update

from xeforge.errors import BadRequest

VERSION = 2
"""Grows with every change of the tables or of the meaning of their contents."""

METADATA = MetaData()
SCHEMA_VERSION = Table("schema_version", METADATA, Column("version", Integer, nullable=False))
JOBS = Table(
    "jobs",
    METADATA,
    Column("number", Integer, primary_key=True),  # order of creation
    Column("job", String, nullable=False, unique=True),
    Column("created_at_seconds", Double, nullable=False),
    Column("problem", Text, nullable=False),
)
EVENTS = Table(
    "events",
    METADATA,
    Column("job", ForeignKey("jobs.job"), nullable=False),
    Column("sequence", Integer, nullable=False),
    Column("step", String, nullable=False),
    Column("at_seconds", Double, nullable=False),
    Column("kind", String, nullable=False),  # class of the event, for people with an SQL shell
    Column("body", Text, nullable=False),
    PrimaryKeyConstraint("job", "sequence"),
    UniqueConstraint("job", "step"),
)
LEASES = Table(
    "leases",
    METADATA,
    Column("job", ForeignKey("jobs.job"), nullable=False),
    Column("step", String, nullable=False),
    Column("token", BigInteger, nullable=False),
    Column("worker", String),  # null once given back; the row keeps the token growing
    Column("expires_at_seconds", Double, nullable=False),
    PrimaryKeyConstraint("job", "step"),
)
RECIPE_EFFECTS = Table(
    "recipe_effects",
    METADATA,
    Column("job", ForeignKey("jobs.job"), nullable=False),
    Column("candidate", String, nullable=False),
    Column("recipe", String, nullable=False),
    Column("device", String, nullable=False),
    Column("effect", String, nullable=False),
    PrimaryKeyConstraint("job", "candidate", "recipe"),
)
"""Since version 2. Each row repeats what an event of the job says, so that all can be added up."""


def prepare_tables(connection: Connection, place: str) -> None:
    """Make the tables in an empty database; check the version of one that has them.

    A database of version 1 gets what it lacks: its jobs name no recipes, so nothing is counted.

    Runs inside the caller's write transaction, so that two processes cannot both make them.

    Args:
        connection: In a write transaction.
        place: Path or address of the database, for messages.

    Raises:
        BadRequest: The database is somebody else's, or of a newer XeForge.
    """
    names = set(inspect(connection).get_table_names())
    if not names:
        METADATA.create_all(connection, checkfirst=False)
        connection.execute(insert(SCHEMA_VERSION).values(version=VERSION))
        return
    if SCHEMA_VERSION.name not in names:
        raise BadRequest(
            "this database holds other things than jobs of XeForge",
            file=place,
            remedy="name another file for the job store",
        )
    version = connection.execute(select(SCHEMA_VERSION.c.version)).scalar_one_or_none()
    if version == 1:
        RECIPE_EFFECTS.create(connection)
        connection.execute(update(SCHEMA_VERSION).values(version=VERSION))
    elif version != VERSION:
        raise BadRequest(
            f"the job store has version {version}; this XeForge reads version {VERSION}",
            file=place,
            remedy="use the XeForge that wrote it, or another job store",
        )
