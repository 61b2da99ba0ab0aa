//! What the server keeps for itself.

use async_trait::async_trait;
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbErr, EntityTrait, Set, sea_query::OnConflict};

use super::{
    entity::secret,
    error::Inconsistency,
    write::{Failure, Write},
};
use crate::chat::clock::Clock;

const CURSOR: &str = "cursor";
const PROBE: &str = "probe";

/// The secret that signs cursors: made by whichever replica comes first.
pub struct CursorSecret;

#[async_trait]
impl Write for CursorSecret {
    type Output = Vec<u8>;

    async fn run(&self, db: &DatabaseTransaction, _: &Clock) -> Result<Vec<u8>, Failure> {
        let fresh: [u8; 32] = rand::random();
        put(db, CURSOR, fresh.to_vec()).await?;
        let row = secret::Entity::by_name(CURSOR).one(db).await?;
        Ok(row
            .ok_or(Inconsistency("a secret that was written is missing"))?
            .value)
    }
}

/// Writes something, to be rolled back: fails unless the database can be written.
pub async fn try_to_write(db: &impl ConnectionTrait) -> Result<(), DbErr> {
    put(db, PROBE, Vec::new()).await
}

async fn put(db: &impl ConnectionTrait, name: &str, value: Vec<u8>) -> Result<(), DbErr> {
    let row = secret::ActiveModel {
        name: Set(name.to_owned()),
        value: Set(value),
    };
    let unless_there = OnConflict::column(secret::Column::Name).do_nothing().to_owned();
    secret::Entity::insert(row)
        .on_conflict(unless_there)
        .exec_without_returning(db)
        .await?;
    Ok(())
}
