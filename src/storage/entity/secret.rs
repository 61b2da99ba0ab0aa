//! What the server keeps for itself; no team's.

#![expect(clippy::disallowed_methods, reason = "the finders live here")]

use sea_orm::{Select, entity::prelude::*};

/// A row of `secret`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "secret")]
pub struct Model {
    /// What it is for.
    #[sea_orm(primary_key, auto_increment = false)]
    pub name: String,
    /// The bytes.
    pub value: Vec<u8>,
}

/// None are followed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// A secret by its name.
    #[must_use]
    pub fn by_name(name: &str) -> Select<Self> {
        Self::find().filter(Column::Name.eq(name))
    }
}
