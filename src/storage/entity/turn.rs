//! Turn keys: which turns a thread has, so that a retry finds what it stored, however late.

#![expect(clippy::disallowed_methods, reason = "the finders live here")]

use sea_orm::{Select, entity::prelude::*};

use crate::chat::{model::Thread, turn};

/// A row of `turn`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "turn")]
pub struct Model {
    /// The thread; found by its team before.
    #[sea_orm(primary_key, auto_increment = false)]
    pub chat_id: Uuid,
    /// 16 bytes of the turn id's hash, see [`turn::turn_key`].
    #[sea_orm(primary_key, auto_increment = false)]
    pub turn_key: Uuid,
    /// 16 bytes of the body's hash, see [`turn::body_hash`].
    pub body_hash: Uuid,
    /// The turn's first message.
    pub first_message_id: Uuid,
    /// The turn's last message.
    pub last_message_id: Uuid,
}

/// None are followed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// The key of a turn id.
#[must_use]
pub fn key(turn_id: &str) -> Uuid {
    Uuid::from_bytes(turn::turn_key(turn_id))
}

impl Entity {
    /// Turns of a thread by their ids. A turn has no team of its own: the thread was found by its team.
    #[must_use]
    pub fn of_thread<'a>(thread: &Thread, turn_ids: impl IntoIterator<Item = &'a str>) -> Select<Self> {
        let keys = turn_ids.into_iter().map(key);
        Self::find()
            .filter(Column::ChatId.eq(thread.id.0))
            .filter(Column::TurnKey.is_in(keys))
    }
}
