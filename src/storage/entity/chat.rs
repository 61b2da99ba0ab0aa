//! Threads.

#![expect(clippy::disallowed_methods, reason = "the finders live here")]

use sea_orm::{QuerySelect, Select, Set, UpdateMany, entity::prelude::*, sea_query::SimpleExpr};

use crate::chat::{
    id::{MessageId, ThreadId},
    model::{Thread, ThreadKey},
    store::ThreadFilter,
};

/// A row of `chat`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "chat")]
pub struct Model {
    /// The thread's id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Team and agent in 16 bytes, see [`agent_key`].
    pub agent_key: Uuid,
    /// The oldest message.
    pub first_message_id: Uuid,
    /// The newest message.
    pub last_message_id: Uuid,
    /// The newest boundary.
    pub boundary_id: Option<Uuid>,
    /// The newest boundary that is a reset.
    pub reset_id: Option<Uuid>,
    /// The last message out of the context.
    pub context_after: Option<Uuid>,
    /// When the thread began.
    pub created_at: DateTimeUtc,
    /// When the newest message was stored.
    pub last_message_at: DateTimeUtc,
    /// Messages, boundaries included.
    pub message_count: i64,
    /// The team.
    pub team_id: String,
    /// The agent.
    pub agent_id: String,
    /// The channel.
    pub channel: String,
    /// The person.
    pub person_id: String,
}

/// None are followed: a page is a range read.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// Team and agent as one small key, so that an agent's list has a short index and no query of it can forget the
/// team. Ids hold no control characters, so the line end keeps the two apart.
#[must_use]
pub fn agent_key(team_id: &str, agent_id: &str) -> Uuid {
    let mut hash = blake3::Hasher::new_derive_key("threadline 2026 agent key");
    hash.update(team_id.as_bytes())
        .update(b"\n")
        .update(agent_id.as_bytes());
    let mut bytes = [0; 16];
    hash.finalize_xof().fill(&mut bytes);
    Uuid::new_v8(bytes)
}

impl Entity {
    /// The thread of a key.
    #[must_use]
    pub fn by_key(team_id: &str, key: &ThreadKey) -> Select<Self> {
        Self::find()
            .filter(Column::TeamId.eq(team_id))
            .filter(Column::AgentId.eq(&key.agent_id))
            .filter(Column::Channel.eq(&key.channel))
            .filter(Column::PersonId.eq(&key.person_id))
    }

    /// Threads by their ids.
    #[must_use]
    pub fn by_ids(team_id: &str, ids: &[ThreadId]) -> Select<Self> {
        Self::find()
            .filter(Column::TeamId.eq(team_id))
            .filter(one_of(Column::Id, ids.iter().map(|id| id.0)))
    }

    /// An agent's threads.
    #[must_use]
    pub fn of_agent(team_id: &str, agent_id: &str) -> Select<Self> {
        Self::find().filter(Column::AgentKey.eq(agent_key(team_id, agent_id)))
    }

    /// Sets what a write may change about a thread.
    #[must_use]
    pub fn update_of(team_id: &str, thread: &Thread) -> UpdateMany<Self> {
        let changes = ActiveModel {
            first_message_id: Set(thread.first_message_id.0),
            last_message_id: Set(thread.last_message_id.0),
            boundary_id: Set(thread.boundary_id.map(|id| id.0)),
            reset_id: Set(thread.reset_id.map(|id| id.0)),
            context_after: Set(thread.context_after.map(|id| id.0)),
            last_message_at: Set(thread.last_message_at),
            message_count: Set(thread.message_count),
            ..Default::default()
        };
        Self::update_many()
            .set(changes)
            .filter(Column::TeamId.eq(team_id))
            .filter(Column::Id.eq(thread.id.0))
    }

    /// A team's threads, as far as a filter lets them through.
    #[must_use]
    pub fn of_team(team_id: &str, filter: &ThreadFilter) -> Select<Self> {
        let mut select = Self::find().filter(Column::TeamId.eq(team_id));
        if let Some(agent_id) = &filter.agent_id {
            select = select.filter(Column::AgentKey.eq(agent_key(team_id, agent_id)));
        }
        if let Some(ThreadId(id)) = filter.thread_id {
            select = select.filter(Column::Id.eq(id));
        }
        narrowed(
            select,
            filter.channel.as_deref(),
            filter.person_id.as_deref(),
            team_id,
        )
    }
}

/// Narrows a list of threads to a channel and a person.
#[must_use]
pub fn narrowed(
    mut select: Select<Entity>,
    channel: Option<&str>,
    person_id: Option<&str>,
    team_id: &str,
) -> Select<Entity> {
    if let Some(channel) = channel {
        select = select.filter(Column::Channel.eq(channel));
    }
    if let Some(person_id) = person_id {
        // The team again: it is the person index's first column.
        select = select
            .filter(Column::TeamId.eq(team_id))
            .filter(Column::PersonId.eq(person_id));
    }
    select
}

/// Only the ids of a selection of threads, for a subquery.
#[must_use]
pub fn ids_of(select: Select<Entity>) -> sea_orm::sea_query::SelectStatement {
    sea_orm::QueryTrait::into_query(select.select_only().column(Column::Id))
}

/// `column = ?` for one value, `column IN (…)` for more: one is the common case and keeps its statement's text.
fn one_of(column: Column, mut values: impl ExactSizeIterator<Item = Uuid>) -> SimpleExpr {
    match (values.len(), values.next()) {
        (1, Some(only)) => column.eq(only),
        (_, first) => column.is_in(first.into_iter().chain(values)),
    }
}

impl From<Model> for Thread {
    fn from(row: Model) -> Self {
        Self {
            id: ThreadId(row.id),
            key: ThreadKey {
                agent_id: row.agent_id,
                channel: row.channel,
                person_id: row.person_id,
            },
            created_at: row.created_at,
            last_message_at: row.last_message_at,
            message_count: row.message_count,
            first_message_id: MessageId(row.first_message_id),
            last_message_id: MessageId(row.last_message_id),
            boundary_id: row.boundary_id.map(MessageId),
            reset_id: row.reset_id.map(MessageId),
            context_after: row.context_after.map(MessageId),
        }
    }
}

/// The row of a thread of a team.
#[must_use]
pub fn row(team_id: &str, thread: &Thread) -> ActiveModel {
    ActiveModel {
        id: Set(thread.id.0),
        agent_key: Set(agent_key(team_id, &thread.key.agent_id)),
        first_message_id: Set(thread.first_message_id.0),
        last_message_id: Set(thread.last_message_id.0),
        boundary_id: Set(thread.boundary_id.map(|id| id.0)),
        reset_id: Set(thread.reset_id.map(|id| id.0)),
        context_after: Set(thread.context_after.map(|id| id.0)),
        created_at: Set(thread.created_at),
        last_message_at: Set(thread.last_message_at),
        message_count: Set(thread.message_count),
        team_id: Set(team_id.to_owned()),
        agent_id: Set(thread.key.agent_id.clone()),
        channel: Set(thread.key.channel.clone()),
        person_id: Set(thread.key.person_id.clone()),
    }
}
