//! Reading: one indexed range for each list.

use std::{
    collections::{HashMap, HashSet},
    ops::RangeInclusive,
};

use futures::TryStreamExt;
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbBackend, DbErr, FromQueryResult, IntoSimpleExpr, JoinType, Order,
    QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select, Statement, StreamTrait,
    prelude::Uuid,
    sea_query::{Alias, Asterisk, Expr, ExprTrait, Query, SelectStatement},
};

use tracing::{Instrument, Span, field::Empty};

use super::entity::{chat, message};
use crate::chat::{
    cursor::{HistoryView, ThreadOrder},
    id::{MessageId, ThreadId},
    model::{Message, Thread},
    page::{Cut, Extent},
    store::{AgentRange, MessageRange, ThreadFilter, ThreadRange, Walk},
};

/// How many threads an export reads at once.
const EXPORT_THREADS: u64 = 500;
/// How many ranges, or single messages, one statement asks for: those of a whole page of threads. SQLite refuses a
/// union of more than 500 parts and a condition of 1,000 alternatives.
const PARTS_A_STATEMENT: usize = 200;
/// The column that says which of several ranges a row is of.
const RANGE: &str = "range_index";

/// A page of an agent's threads and one more, newest first.
pub fn thread_range(team_id: &str, range: &ThreadRange) -> Select<chat::Entity> {
    let position = match range.order {
        ThreadOrder::Created => chat::Column::Id,
        ThreadOrder::Activity => chat::Column::LastMessageId,
    };
    let select = chat::Entity::of_agent(team_id, &range.agent_id);
    let mut select = chat::narrowed(
        select,
        range.channel.as_deref(),
        range.person_id.as_deref(),
        team_id,
    );
    if let Some(before) = range.before {
        select = select.filter(position.lt(before));
    }
    select
        .order_by(position, Order::Desc)
        .limit(Cut::<Thread>::rows_to_read(range.extent))
}

/// The next threads of a team, oldest first.
pub fn threads_after(team_id: &str, after: Option<ThreadId>, filter: &ThreadFilter) -> Select<chat::Entity> {
    let mut select = chat::Entity::of_team(team_id, filter);
    if let Some(ThreadId(after)) = after {
        select = select.filter(chat::Column::Id.gt(after));
    }
    select
        .order_by(chat::Column::Id, Order::Asc)
        .limit(EXPORT_THREADS)
}

/// The threads of a selection.
pub async fn threads(db: &impl ConnectionTrait, select: Select<chat::Entity>) -> Result<Vec<Thread>, DbErr> {
    Ok(select.all(db).await?.into_iter().map(Thread::from).collect())
}

/// A page of an agent's messages and one more, newest first.
pub async fn agent_messages<C: ConnectionTrait + StreamTrait>(
    db: &C,
    team_id: &str,
    range: &AgentRange,
) -> Result<Cut<Message>, DbErr> {
    let mut select = message::Entity::of_agent(team_id, &range.agent_id);
    if range.channel.is_some() || range.person_id.is_some() {
        let threads = chat::Entity::of_agent(team_id, &range.agent_id);
        let threads = chat::narrowed(
            threads,
            range.channel.as_deref(),
            range.person_id.as_deref(),
            team_id,
        );
        select = message::in_threads(select, chat::ids_of(threads));
    }
    if let Some(MessageId(before)) = range.before {
        select = select.filter(message::Column::Id.lt(before));
    }
    let select = select
        .order_by(message::Column::Id, Order::Desc)
        .limit(Cut::<Message>::rows_to_read(range.extent));
    let statement = select.into_query();
    let cut = collect(db, statement, &[range.extent]).await?.remove(0);
    let mut ids: Vec<_> = cut.rows().iter().map(|row| ThreadId(row.chat_id)).collect();
    ids.sort_unstable();
    ids.dedup();
    let threads = threads(db, chat::Entity::by_ids(team_id, &ids)).await?;
    let lines: HashMap<_, _> = threads
        .into_iter()
        .map(|thread| (thread.id, thread.context_after))
        .collect();
    cut.try_map(|row| {
        let line = lines.get(&ThreadId(row.chat_id)).copied().flatten();
        row.into_message(line)
    })
}

/// Ranges of threads' messages, in one statement for a whole page of threads.
pub async fn messages<C: ConnectionTrait + StreamTrait>(
    db: &C,
    team_id: &str,
    ranges: &[MessageRange],
) -> Result<Vec<Cut<Message>>, DbErr> {
    let mut cuts = Vec::with_capacity(ranges.len());
    for ranges in ranges.chunks(PARTS_A_STATEMENT) {
        cuts.extend(messages_at_once(db, team_id, ranges).await?);
    }
    Ok(cuts)
}

async fn messages_at_once<C: ConnectionTrait + StreamTrait>(
    db: &C,
    team_id: &str,
    ranges: &[MessageRange],
) -> Result<Vec<Cut<Message>>, DbErr> {
    let Some(statement) = select_ranges(ConnectionTrait::get_database_backend(db), team_id, ranges) else {
        return Ok(Vec::new());
    };
    let extents: Vec<_> = ranges.iter().map(|range| range.extent).collect();
    let cuts = collect(db, statement, &extents).await?;
    let seen = |(cut, range): (Cut<message::Model>, &MessageRange)| {
        cut.try_map(|row| row.into_message(range.thread.context_after))
    };
    cuts.into_iter().zip(ranges).map(seen).collect()
}

/// Single messages of threads, each once, in one statement for a whole page of threads.
pub async fn messages_by_id(
    db: &impl ConnectionTrait,
    team_id: &str,
    ids: &[(Thread, MessageId)],
) -> Result<Vec<Message>, DbErr> {
    let lines: HashMap<_, _> = ids
        .iter()
        .map(|(thread, _)| (thread.id.0, thread.context_after))
        .collect();
    let mut asked = HashSet::new();
    let ids: Vec<_> = ids
        .iter()
        .filter(|(thread, id)| asked.insert((thread.id, *id)))
        .cloned()
        .collect();
    let mut rows = Vec::with_capacity(ids.len());
    for ids in ids.chunks(PARTS_A_STATEMENT) {
        rows.extend(message::Entity::by_ids(team_id, ids).all(db).await?);
    }
    rows.into_iter()
        .map(|row| {
            let line = lines.get(&row.chat_id).copied().flatten();
            row.into_message(line)
        })
        .collect()
}

/// A thread's messages between two ids, both included, oldest first: the messages of one turn, say.
pub async fn between(
    db: &impl ConnectionTrait,
    team_id: &str,
    thread: &Thread,
    ids: RangeInclusive<MessageId>,
) -> Result<Vec<Message>, DbErr> {
    let rows = message::Entity::of_thread(team_id, thread)
        .filter(message::Column::Id.between(ids.start().0, ids.end().0))
        .order_by(message::Column::Id, Order::Asc)
        .all(db)
        .await?;
    rows.into_iter()
        .map(|row| row.into_message(thread.context_after))
        .collect()
}

/// The first and the last id that a range may hold, both included. Both are always given: an open end would have
/// PostgreSQL look into every partition on that side.
fn bounds(range: &MessageRange) -> (Uuid, Uuid) {
    let thread = &range.thread;
    let (after, before) = match range.walk {
        Walk::Back(before) => (None, before),
        Walk::Forward(after) => (after, None),
    };
    let line = thread
        .context_after
        .filter(|_| range.view == HistoryView::Context);
    let number = |id: MessageId| id.0.as_u128();
    (
        after.max(line).map_or(thread.first_message_id.0, |id| {
            Uuid::from_u128(number(id).saturating_add(1))
        }),
        before.map_or(thread.last_message_id.0, |id| {
            Uuid::from_u128(number(id).saturating_sub(1))
        }),
    )
}

/// All ranges of a statement go the same way.
fn order(range: &MessageRange) -> Order {
    match range.walk {
        Walk::Back(_) => Order::Desc,
        Walk::Forward(_) => Order::Asc,
    }
}

fn select_range(team_id: &str, range: &MessageRange) -> SelectStatement {
    let (from, to) = bounds(range);
    let mut select = message::Entity::of_thread(team_id, &range.thread)
        .filter(message::Column::Id.between(from, to))
        .order_by(message::Column::Id, order(range))
        .limit(Cut::<Message>::rows_to_read(range.extent));
    if range.view == HistoryView::Context {
        select = select.filter(message::in_context());
    }
    select.into_query()
}

/// Several ranges as one statement, each row saying which it is of.
fn select_ranges(backend: DbBackend, team_id: &str, ranges: &[MessageRange]) -> Option<SelectStatement> {
    match ranges {
        [] => None,
        [range] => Some(select_range(team_id, range)),
        [first, ..] => Some(select_each(backend, team_id, ranges, order(first))),
    }
}

/// One plan of one range, run for each row of a list of ranges: a union would have a plan for each.
fn select_each(backend: DbBackend, team_id: &str, ranges: &[MessageRange], order: Order) -> SelectStatement {
    let rows = ranges.iter().zip(0i32..).map(|(range, index)| {
        let (from, to) = bounds(range);
        let agent_key = chat::agent_key(team_id, &range.thread.key.agent_id);
        let full = range.view == HistoryView::Full;
        (index, range.thread.id.0, agent_key, from, to, full)
    });
    // Both databases name the columns of VALUES so.
    let asked = |column: &'static str| Expr::col((Alias::new("asked"), Alias::new(column)));
    let part = |column: message::Column| Expr::col((Alias::new("part"), column));
    let limit = ranges
        .iter()
        .map(|range| Cut::<Message>::rows_to_read(range.extent))
        .max();
    let chosen = message::Entity::of_keys(asked("column2"), asked("column3"))
        .filter(
            message::Column::Id
                .into_simple_expr()
                .between(asked("column4"), asked("column5")),
        )
        .filter(asked("column6").or(message::in_context()))
        .order_by(message::Column::Id, order.clone())
        .limit(limit);
    let mut statement = Query::select();
    statement
        .column((Alias::new("part"), Asterisk))
        .expr_as(asked("column1"), Alias::new(RANGE))
        .from_values(rows, Alias::new("asked"));
    if backend == DbBackend::Postgres {
        let chosen = chosen.into_query();
        statement.join_lateral(JoinType::InnerJoin, chosen, Alias::new("part"), Expr::val(true));
    } else {
        // SQLite knows no LATERAL.
        let ids = chosen.select_only().column(message::Column::Id).into_query();
        let is_chosen = part(message::Column::ChatId)
            .eq(asked("column2"))
            .and(part(message::Column::Id).in_subquery(ids));
        statement.join_as(
            JoinType::InnerJoin,
            message::Entity,
            Alias::new("part"),
            is_chosen,
        );
    }
    statement
        .order_by(Alias::new(RANGE), Order::Asc)
        .order_by((Alias::new("part"), message::Column::Id), order)
        .take()
}

/// Reads rows range by range, each until it has enough.
async fn collect<C: ConnectionTrait + StreamTrait>(
    db: &C,
    statement: SelectStatement,
    extents: &[Extent],
) -> Result<Vec<Cut<message::Model>>, DbErr> {
    let backend = ConnectionTrait::get_database_backend(db);
    let statement = backend.build(&statement);
    let span = span(backend, &statement);
    let read = collect_rows(db, statement, extents);
    let cuts = read.instrument(span.clone()).await;
    span.record("otel.status_code", if cuts.is_ok() { "OK" } else { "ERROR" });
    cuts
}

/// The span of a statement whose rows come one by one: SeaORM has one for each of the others.
fn span(backend: DbBackend, statement: &Statement) -> Span {
    let system = match backend {
        DbBackend::Postgres => "postgresql",
        _ => "sqlite",
    };
    let span = tracing::info_span!(
        "sea_orm.stream",
        otel.kind = "client",
        otel.status_code = Empty,
        db.system = system,
        db.operation = "SELECT",
        db.statement = Empty,
    );
    span.record("db.statement", &statement.sql);
    span
}

async fn collect_rows<C: StreamTrait>(
    db: &C,
    statement: Statement,
    extents: &[Extent],
) -> Result<Vec<Cut<message::Model>>, DbErr> {
    let mut cuts: Vec<_> = extents.iter().map(|extent| Cut::new(*extent)).collect();
    let mut rows = std::pin::pin!(db.stream_raw(statement).await?);
    while let Some(row) = rows.try_next().await? {
        let index = if extents.len() == 1 {
            0
        } else {
            row.try_get::<i32>("", RANGE)?
        };
        let cut = usize::try_from(index).ok().and_then(|index| cuts.get_mut(index));
        let cut = cut.ok_or_else(|| DbErr::Type(format!("there is no range {index}")))?;
        let row = message::Model::from_query_result(&row, "")?;
        let bytes = row.content.len();
        if !cut.offer(row, bytes) && extents.len() == 1 {
            break;
        }
    }
    Ok(cuts)
}
