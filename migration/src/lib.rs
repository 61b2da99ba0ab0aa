//! Threadline's tables. A released migration is frozen: what changes later comes in a file of its own, works under
//! the release before it, and knows no entity.

pub use sea_orm_migration::prelude::*;

mod m20261130_000001_chats;

/// All migrations, in order.
pub struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![Box::new(m20261130_000001_chats::Migration)]
    }
}
