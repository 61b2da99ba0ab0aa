//! Boundaries of the past beside those that are drawn: what a line took out of the context stays out.

use std::collections::{BTreeMap, HashMap};

use sea_orm::{ColumnTrait, DatabaseTransaction, DbErr, QueryFilter, QuerySelect, prelude::Uuid};

use super::{TURNS_A_LOOKUP, conflict, outlines};
use crate::{
    chat::{id::MessageId, import::ImportedTurn, model::Thread},
    storage::{
        entity::{
            message::{self, Kind},
            turn,
        },
        write::Failure,
    },
};

/// A boundary, stored or to be stored.
struct Line<'a> {
    /// The last message that it takes out of the context.
    covers: MessageId,
    /// The turn that brings it, when it is not stored yet.
    new: Option<&'a ImportedTurn>,
}

/// Refuses a boundary after which less would be out of the context than before it, and one that goes through the
/// middle of a stored turn.
pub(super) async fn check(
    db: &DatabaseTransaction,
    team_id: &str,
    thread: &Thread,
    turns: &[&ImportedTurn],
) -> Result<(), Failure> {
    let mut lines: BTreeMap<_, _> = turns.iter().filter_map(new_line).collect();
    let Some(first) = lines.keys().next().copied() else {
        return Ok(());
    };
    check_turns(db, team_id, thread, lines.values()).await?;
    lines.extend(drawn(db, team_id, thread, first).await?);
    let mut before: Option<&Line<'_>> = None;
    for line in lines.values() {
        if let Some(before) = before.filter(|before| line.covers <= before.covers)
            // One of the two is new: what is stored was in order.
            && let Some(turn) = line.new.or(before.new)
        {
            return Err(conflict(
                turn,
                "and the boundary beside it: the later one does not go beyond what the earlier one covers",
            ));
        }
        before = Some(line);
    }
    Ok(())
}

fn new_line<'a>(turn: &&'a ImportedTurn) -> Option<(MessageId, Line<'a>)> {
    let message = turn.messages.first()?;
    let boundary = message.boundary.as_ref()?;
    let line = Line {
        // A reset takes everything before itself out.
        covers: boundary.summary().and(boundary.through).unwrap_or(message.id),
        new: Some(turn),
    };
    Some((message.id, line))
}

/// The stored boundaries that matter to new ones from `first` on.
async fn drawn(
    db: &DatabaseTransaction,
    team_id: &str,
    thread: &Thread,
    first: MessageId,
) -> Result<Vec<(MessageId, Line<'static>)>, DbErr> {
    let stored = |id, covers| (id, Line { covers, new: None });
    match (thread.boundary_id, thread.context_after) {
        // Most often the new ones come after all of them, and the newest is known.
        (Some(newest), Some(covers)) if newest < first => Ok(vec![stored(newest, covers)]),
        (Some(newest), _) => {
            let id = message::Column::Id;
            let rows: Vec<(Uuid, Kind, Option<Uuid>)> = message::Entity::of_thread(team_id, thread)
                .filter(id.between(thread.first_message_id.0, newest.0))
                .filter(message::Column::Kind.ne(Kind::Said))
                .select_only()
                .column(id)
                .column(message::Column::Kind)
                .column(message::Column::ThroughId)
                .into_tuple()
                .all(db)
                .await?;
            let line = |(id, kind, through): (Uuid, Kind, Option<Uuid>)| {
                let through = through.filter(|_| kind == Kind::Compaction);
                stored(MessageId(id), MessageId(through.unwrap_or(id)))
            };
            Ok(rows.into_iter().map(line).collect())
        }
        (None, _) => Ok(Vec::new()),
    }
}

/// Refuses a boundary that goes through a stored message which is not its turn's last.
async fn check_turns<'a>(
    db: &DatabaseTransaction,
    team_id: &str,
    thread: &Thread,
    lines: impl Iterator<Item = &'a Line<'a>>,
) -> Result<(), Failure> {
    let through: HashMap<_, _> = lines.filter_map(|line| Some((line.covers, line.new?))).collect();
    let ids: Vec<_> = through.keys().map(|id| id.0).collect();
    for ids in ids.chunks(TURNS_A_LOOKUP) {
        let select = message::Entity::of_thread(team_id, thread)
            .filter(message::Column::Id.is_in(ids.iter().copied()));
        let found: Vec<_> = outlines(db, message::outline(select)).await?.collect();
        let names = found.iter().filter_map(|(_, row)| row.turn_id.as_deref());
        let turns = turn::Entity::of_thread(thread, names).all(db).await?;
        let lasts: HashMap<_, _> = turns
            .into_iter()
            .map(|turn| (turn.turn_key, turn.last_message_id))
            .collect();
        for (id, row) in &found {
            let last = row
                .turn_id
                .as_deref()
                .and_then(|name| lasts.get(&turn::key(name)));
            if let (Some(new), Some(_)) = (through.get(id), last.filter(|last| **last != id.0)) {
                return Err(conflict(
                    new,
                    "goes through a message that is not the last of its turn",
                ));
            }
        }
    }
    Ok(())
}
