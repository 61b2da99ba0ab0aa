//! The first tables: chats, their messages and turn keys, and the server's own secrets.

use sea_orm_migration::{prelude::*, sea_orm::DbBackend};

/// Chats, messages, turns, secrets.
#[derive(DeriveMigrationName)]
pub struct Migration;

/// PostgreSQL: `message` is partitioned by its time-ordered id. Its partitions are made by the server, which knows
/// the months; they carry no foreign key, since attaching one would lock `chat` against writes.
const POSTGRES: &str = r#"
CREATE TABLE chat (
    id uuid PRIMARY KEY,
    agent_key uuid NOT NULL,
    first_message_id uuid NOT NULL,
    last_message_id uuid NOT NULL,
    boundary_id uuid,
    reset_id uuid,
    context_after uuid,
    created_at timestamptz NOT NULL,
    last_message_at timestamptz NOT NULL,
    message_count bigint NOT NULL CHECK (message_count > 0),
    team_id text NOT NULL,
    agent_id text NOT NULL,
    channel text NOT NULL,
    person_id text NOT NULL
);
CREATE UNIQUE INDEX chat_by_key ON chat (team_id, agent_id, channel, person_id);
CREATE INDEX chat_by_agent ON chat (agent_key, id);
CREATE INDEX chat_by_activity ON chat (agent_key, last_message_id);
CREATE INDEX chat_by_channel ON chat (agent_key, channel, id);
CREATE INDEX chat_by_channel_activity ON chat (agent_key, channel, last_message_id);
CREATE INDEX chat_by_person ON chat (team_id, person_id, id);

CREATE TABLE message (
    chat_id uuid NOT NULL,
    id uuid NOT NULL,
    agent_key uuid NOT NULL,
    through_id uuid,
    created_at timestamptz NOT NULL,
    tokens integer CHECK (tokens >= 0),
    kind smallint NOT NULL CHECK (kind BETWEEN 0 AND 2),
    role smallint NOT NULL CHECK (role BETWEEN 0 AND 3),
    outcome smallint CHECK (outcome BETWEEN 0 AND 1),
    stopped boolean NOT NULL,
    late boolean NOT NULL,
    turn_id text,
    content text NOT NULL,
    summary text,
    PRIMARY KEY (chat_id, id),
    CHECK ((kind = 0) = (turn_id IS NOT NULL)),
    CHECK ((kind = 0) = (outcome IS NOT NULL)),
    CHECK ((kind = 2) = (summary IS NOT NULL))
) PARTITION BY RANGE (id);
CREATE UNIQUE INDEX message_by_agent ON message (agent_key, id);

CREATE TABLE turn (
    chat_id uuid NOT NULL REFERENCES chat (id),
    turn_key uuid NOT NULL,
    body_hash uuid NOT NULL,
    first_message_id uuid NOT NULL,
    last_message_id uuid NOT NULL,
    PRIMARY KEY (chat_id, turn_key)
);

CREATE TABLE secret (
    name text PRIMARY KEY,
    value bytea NOT NULL
);
"#;

/// SQLite: the same without partitions. UUIDs are 16 bytes, which sort as PostgreSQL sorts them.
const SQLITE: &str = r#"
CREATE TABLE chat (
    id blob PRIMARY KEY NOT NULL,
    agent_key blob NOT NULL,
    first_message_id blob NOT NULL,
    last_message_id blob NOT NULL,
    boundary_id blob,
    reset_id blob,
    context_after blob,
    created_at text NOT NULL,
    last_message_at text NOT NULL,
    message_count integer NOT NULL CHECK (message_count > 0),
    team_id text NOT NULL,
    agent_id text NOT NULL,
    channel text NOT NULL,
    person_id text NOT NULL
) STRICT;
CREATE UNIQUE INDEX chat_by_key ON chat (team_id, agent_id, channel, person_id);
CREATE INDEX chat_by_agent ON chat (agent_key, id);
CREATE INDEX chat_by_activity ON chat (agent_key, last_message_id);
CREATE INDEX chat_by_channel ON chat (agent_key, channel, id);
CREATE INDEX chat_by_channel_activity ON chat (agent_key, channel, last_message_id);
CREATE INDEX chat_by_person ON chat (team_id, person_id, id);

CREATE TABLE message (
    chat_id blob NOT NULL REFERENCES chat (id),
    id blob NOT NULL,
    agent_key blob NOT NULL,
    through_id blob,
    created_at text NOT NULL,
    tokens integer CHECK (tokens >= 0),
    kind integer NOT NULL CHECK (kind BETWEEN 0 AND 2),
    role integer NOT NULL CHECK (role BETWEEN 0 AND 3),
    outcome integer CHECK (outcome BETWEEN 0 AND 1),
    stopped integer NOT NULL CHECK (stopped BETWEEN 0 AND 1),
    late integer NOT NULL CHECK (late BETWEEN 0 AND 1),
    turn_id text,
    content text NOT NULL,
    summary text,
    PRIMARY KEY (chat_id, id),
    CHECK ((kind = 0) = (turn_id IS NOT NULL)),
    CHECK ((kind = 0) = (outcome IS NOT NULL)),
    CHECK ((kind = 2) = (summary IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX message_by_agent ON message (agent_key, id);

CREATE TABLE turn (
    chat_id blob NOT NULL REFERENCES chat (id),
    turn_key blob NOT NULL,
    body_hash blob NOT NULL,
    first_message_id blob NOT NULL,
    last_message_id blob NOT NULL,
    PRIMARY KEY (chat_id, turn_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE secret (
    name text PRIMARY KEY NOT NULL,
    value blob NOT NULL
) STRICT, WITHOUT ROWID;
"#;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let sql = match manager.get_database_backend() {
            DbBackend::Postgres => POSTGRES,
            _ => SQLITE,
        };
        manager.get_connection().execute_unprepared(sql).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let sql = "DROP TABLE turn; DROP TABLE message; DROP TABLE chat; DROP TABLE secret;";
        manager.get_connection().execute_unprepared(sql).await?;
        Ok(())
    }
}
