//! Reading: one indexed range for each list.

use std::{
    collections::{HashMap, HashSet},
    ops::RangeInclusive,
};

use futures::TryStreamExt;
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, FromQueryResult, Order, QueryFilter, QueryOrder, QuerySelect,
    QueryTrait, Select, StreamTrait,
    sea_query::{Alias, Asterisk, Expr, Query, SelectStatement, UnionType},
};

use super::entity::{chat, message};
use crate::chat::{
    cursor::{HistoryView, ThreadOrder},
    id::{MessageId, ThreadId},
    model::{Message, Thread, ThreadKey},
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

/// The thread of a key.
pub fn thread_by_key(team_id: &str, key: &ThreadKey) -> Select<chat::Entity> {
    chat::Entity::by_key(team_id, key)
}

/// Threads by their ids.
pub fn threads_by_id(team_id: &str, ids: &[ThreadId]) -> Select<chat::Entity> {
    chat::Entity::by_ids(team_id, ids)
}

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
    let threads = threads(db, threads_by_id(team_id, &ids)).await?;
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
    let selects = ranges
        .iter()
        .map(|range| select_range(team_id, range).into_query());
    let Some(statement) = union(selects.collect()) else {
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

/// Both bounds are always given: an open end would have PostgreSQL look into every partition on that side.
fn select_range(team_id: &str, range: &MessageRange) -> Select<message::Entity> {
    let thread = &range.thread;
    let mut select =
        message::Entity::of_thread(team_id, thread).limit(Cut::<Message>::rows_to_read(range.extent));
    let (from, to, order) = match range.walk {
        Walk::Back(before) => (None, before, Order::Desc),
        Walk::Forward(after) => (after, None, Order::Asc),
    };
    select = match to {
        Some(MessageId(before)) => select.filter(message::Column::Id.lt(before)),
        None => select.filter(message::Column::Id.lte(thread.last_message_id.0)),
    };
    let line = thread
        .context_after
        .filter(|_| range.view == HistoryView::Context);
    select = match from.max(line) {
        Some(MessageId(after)) => select.filter(message::Column::Id.gt(after)),
        None => select.filter(message::Column::Id.gte(thread.first_message_id.0)),
    };
    if range.view == HistoryView::Context {
        select = message::without_context_strangers(select);
    }
    select.order_by(message::Column::Id, order)
}

/// Several ordered and limited selections as one statement, each row saying which it is of. All go the same way.
fn union(mut selects: Vec<SelectStatement>) -> Option<SelectStatement> {
    if selects.len() < 2 {
        return selects.pop();
    }
    let numbered = selects.into_iter().zip(0i32..).map(|(mut select, index)| {
        select.expr_as(Expr::val(index), Alias::new(RANGE));
        // SQLite wants an ordered and limited term of a union to be a subquery.
        Query::select()
            .column(Asterisk)
            .from_subquery(select, Alias::new("part"))
            .take()
    });
    numbered.reduce(|mut all, part| all.union(UnionType::All, part).take())
}

/// Reads rows range by range, each until it has enough.
async fn collect<C: ConnectionTrait + StreamTrait>(
    db: &C,
    statement: SelectStatement,
    extents: &[Extent],
) -> Result<Vec<Cut<message::Model>>, DbErr> {
    let mut cuts: Vec<_> = extents.iter().map(|extent| Cut::new(*extent)).collect();
    let mut rows = std::pin::pin!(db.stream(&statement).await?);
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
