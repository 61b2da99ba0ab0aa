//! Messages.

#![expect(clippy::disallowed_methods, reason = "the finders live here")]

use sea_orm::{
    Condition, IntoSimpleExpr, QuerySelect, Select, Set,
    entity::prelude::*,
    sea_query::{BinOper, ExprTrait},
};

use super::chat;
use crate::chat::{
    content::Content,
    id::{MessageId, ThreadId},
    model::{Boundary, BoundaryReason, Message, Outcome, Role, Thread, TurnRef},
};

/// A row of `message`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "message")]
pub struct Model {
    /// The thread.
    #[sea_orm(primary_key, auto_increment = false)]
    pub chat_id: Uuid,
    /// The message; its order is the reading order.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Team and agent, see [`chat::agent_key`].
    pub agent_key: Uuid,
    /// On a boundary: the last message it takes out of the context.
    pub through_id: Option<Uuid>,
    /// When it was stored.
    pub created_at: DateTimeUtc,
    /// Tokens it cost.
    pub tokens: Option<i32>,
    /// What kind of row it is.
    pub kind: Kind,
    /// Who said it.
    pub role: RoleCode,
    /// How its turn ended; none on a boundary.
    pub outcome: Option<OutcomeCode>,
    /// The person stopped the turn while this was being written.
    pub stopped: bool,
    /// Stored after a reset that its turn did not know of.
    pub late: bool,
    /// The turn's id; none on a boundary.
    pub turn_id: Option<String>,
    /// The content's JSON text.
    pub content: String,
    /// On a compaction: its summary, as a JSON string, since PostgreSQL's text cannot hold U+0000.
    pub summary: Option<String>,
}

/// None are followed: a page is a range read.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// What kind of row a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "i16", db_type = "SmallInteger")]
pub enum Kind {
    /// Something that was said.
    Said = 0,
    /// A boundary: somebody started over.
    Reset = 1,
    /// A boundary: older turns were replaced by a summary.
    Compaction = 2,
}

/// Who said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "i16", db_type = "SmallInteger")]
pub enum RoleCode {
    /// The person.
    User = 0,
    /// The agent.
    Assistant = 1,
    /// A tool.
    Tool = 2,
    /// The product.
    System = 3,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "i16", db_type = "SmallInteger")]
pub enum OutcomeCode {
    /// The agent finished it.
    Completed = 0,
    /// The person stopped it.
    Stopped = 1,
}

impl Entity {
    /// A thread's messages. The team is in the agent's key.
    #[must_use]
    pub fn of_thread(team_id: &str, thread: &Thread) -> Select<Self> {
        let agent_key = chat::agent_key(team_id, &thread.key.agent_id);
        Self::of_keys(Expr::val(thread.id.0), Expr::val(agent_key))
    }

    /// A thread's messages, by what a statement calls its id and the key of its team and agent.
    ///
    /// The agent's key is compared in a way that no index serves: where one thread has most of an agent's messages,
    /// PostgreSQL would else walk the agent's index and leave out what is of other threads.
    #[must_use]
    pub fn of_keys(thread_id: Expr, agent_key: Expr) -> Select<Self> {
        let same = BinOper::Custom("IS NOT DISTINCT FROM");
        Self::find()
            .filter(Column::ChatId.into_simple_expr().eq(thread_id))
            .filter(Column::AgentKey.into_simple_expr().binary(same, agent_key))
    }

    /// Single messages of threads.
    #[must_use]
    pub fn by_ids(team_id: &str, ids: &[(Thread, MessageId)]) -> Select<Self> {
        let one = |(thread, id): &(Thread, MessageId)| {
            Condition::all()
                .add(Column::ChatId.eq(thread.id.0))
                .add(Column::Id.eq(id.0))
                .add(Column::AgentKey.eq(chat::agent_key(team_id, &thread.key.agent_id)))
        };
        let any = ids.iter().map(one).fold(Condition::any(), Condition::add);
        Self::find().filter(any)
    }

    /// An agent's messages over all its threads.
    #[must_use]
    pub fn of_agent(team_id: &str, agent_id: &str) -> Select<Self> {
        Self::find().filter(Column::AgentKey.eq(chat::agent_key(team_id, agent_id)))
    }
}

/// Leaves out what no context has: boundaries and late turns.
#[must_use]
pub fn in_context() -> Expr {
    Column::Kind.eq(Kind::Said).and(Column::Late.eq(false))
}

/// Narrows an agent's messages to some of its threads.
#[must_use]
pub fn in_threads(select: Select<Entity>, threads: sea_orm::sea_query::SelectStatement) -> Select<Entity> {
    select.filter(Column::ChatId.in_subquery(threads))
}

/// The ids, turns and times of a selection, without the content.
#[must_use]
pub fn outline(select: Select<Entity>) -> Select<Entity> {
    select
        .select_only()
        .column(Column::Id)
        .column(Column::TurnId)
        .column(Column::CreatedAt)
}

impl Model {
    /// The message in a row, seen under where its thread's context begins.
    ///
    /// # Errors
    /// When the summary cannot be read.
    pub fn into_message(self, context_after: Option<MessageId>) -> Result<Message, DbErr> {
        let id = MessageId(self.id);
        let reason = match (self.kind, self.summary) {
            (Kind::Said, _) => None,
            (Kind::Reset, _) => Some(BoundaryReason::Reset),
            (Kind::Compaction, summary) => {
                let summary = serde_json::from_str(summary.as_deref().unwrap_or("null"))
                    .map_err(|error| DbErr::Type(format!("message.summary: {error}")))?;
                Some(BoundaryReason::Compaction { summary })
            }
        };
        let outcome = match self.outcome {
            Some(OutcomeCode::Stopped) => Outcome::Stopped,
            _ => Outcome::Completed,
        };
        let after_line = context_after.is_none_or(|after| id > after);
        Ok(Message {
            id,
            thread_id: ThreadId(self.chat_id),
            turn: self.turn_id.map(|id| TurnRef { id, outcome }),
            role: self.role.into(),
            content: Content::stored(self.content),
            tokens: self.tokens,
            stopped: self.stopped,
            late: self.late,
            in_context: reason.is_none() && !self.late && after_line,
            boundary: reason.map(|reason| Boundary {
                reason,
                through: self.through_id.map(MessageId),
            }),
            created_at: self.created_at,
        })
    }
}

/// The row of a message of a thread.
#[must_use]
pub fn row(agent_key: Uuid, message: &Message) -> ActiveModel {
    let (kind, summary) = match message.boundary.as_ref().map(|boundary| &boundary.reason) {
        None => (Kind::Said, None),
        Some(BoundaryReason::Reset) => (Kind::Reset, None),
        Some(BoundaryReason::Compaction { summary }) => {
            let json = serde_json::to_string(summary).expect("a string always has a JSON text");
            (Kind::Compaction, Some(json))
        }
    };
    let outcome = message.turn.as_ref().map(|turn| match turn.outcome {
        Outcome::Completed => OutcomeCode::Completed,
        Outcome::Stopped => OutcomeCode::Stopped,
    });
    ActiveModel {
        chat_id: Set(message.thread_id.0),
        id: Set(message.id.0),
        agent_key: Set(agent_key),
        through_id: Set(message
            .boundary
            .as_ref()
            .and_then(|boundary| boundary.through)
            .map(|id| id.0)),
        created_at: Set(message.created_at),
        tokens: Set(message.tokens),
        kind: Set(kind),
        role: Set(message.role.into()),
        outcome: Set(outcome),
        stopped: Set(message.stopped),
        late: Set(message.late),
        turn_id: Set(message.turn.as_ref().map(|turn| turn.id.clone())),
        content: Set(message.content.as_str().to_owned()),
        summary: Set(summary),
    }
}

impl From<Role> for RoleCode {
    fn from(role: Role) -> Self {
        match role {
            Role::User => Self::User,
            Role::Assistant => Self::Assistant,
            Role::Tool => Self::Tool,
            Role::System => Self::System,
        }
    }
}

impl From<RoleCode> for Role {
    fn from(code: RoleCode) -> Self {
        match code {
            RoleCode::User => Self::User,
            RoleCode::Assistant => Self::Assistant,
            RoleCode::Tool => Self::Tool,
            RoleCode::System => Self::System,
        }
    }
}
