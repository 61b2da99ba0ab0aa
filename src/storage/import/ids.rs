//! Ids of the past beside those that are taken.

use sea_orm::{ColumnTrait, DatabaseTransaction, QueryFilter};

use super::{TURNS_A_LOOKUP, conflict, outlines};
use crate::{
    chat::{import::ImportedTurn, model::Thread},
    storage::{entity::message, write::Failure},
};

/// Refuses ids that messages in other threads of the agent have: the agent's list has each id once.
pub(super) async fn check(
    db: &DatabaseTransaction,
    team_id: &str,
    thread: Option<&Thread>,
    turns: &[&ImportedTurn],
) -> Result<(), Failure> {
    let Some(first) = turns.first() else { return Ok(()) };
    let messages = turns.iter().flat_map(|turn| &turn.messages);
    let ids: Vec<_> = messages.map(|message| message.id.0).collect();
    for ids in ids.chunks(TURNS_A_LOOKUP) {
        let mut select = message::Entity::of_agent(team_id, &first.key.agent_id)
            .filter(message::Column::Id.is_in(ids.iter().copied()));
        if let Some(thread) = thread {
            select = select.filter(message::Column::ChatId.ne(thread.id.0));
        }
        let taken = outlines(db, message::outline(select)).await?.next();
        if let Some((id, _)) = taken {
            let holds = |turn: &&&ImportedTurn| turn.messages.iter().any(|message| message.id == id);
            let turn = turns.iter().find(holds).unwrap_or(first);
            return Err(conflict(turn, "has the id of a message in another thread"));
        }
    }
    Ok(())
}
