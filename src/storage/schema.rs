//! The tables, brought up to date by whichever replica comes first.

use std::collections::HashSet;

use migration::{Migrator, MigratorTrait};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, Statement};

/// One for all of Threadline in a database: replicas that start together queue up here.
const MIGRATION_LOCK: i64 = 0x7468_7265_6164_6c69;

/// Applies what is pending, all of it or nothing, within one transaction that only one replica can be in.
pub async fn migrate(transaction: &DatabaseTransaction, schema: &str) -> Result<(), DbErr> {
    if transaction.get_database_backend() == DbBackend::Postgres {
        // Waiting for another replica's migration takes as long as it takes.
        transaction
            .execute_unprepared("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")
            .await?;
        transaction
            .execute_unprepared(&format!("SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"))
            .await?;
        create_schema(transaction, schema).await?;
    }
    refuse_newer(transaction).await?;
    Migrator::up(transaction, None).await
}

/// Makes the schema unless it is there; asked first, since `IF NOT EXISTS` wants the right to create even then.
async fn create_schema(transaction: &DatabaseTransaction, schema: &str) -> Result<(), DbErr> {
    let query = Statement::from_sql_and_values(
        DbBackend::Postgres,
        "SELECT 1 FROM pg_namespace WHERE nspname = $1",
        [schema.into()],
    );
    if transaction.query_one_raw(query).await?.is_none() {
        transaction
            .execute_unprepared(&format!("CREATE SCHEMA \"{schema}\""))
            .await?;
    }
    Ok(())
}

/// A database that a newer release migrated may have rules that this one would break.
async fn refuse_newer(transaction: &DatabaseTransaction) -> Result<(), DbErr> {
    let known: HashSet<_> = Migrator::migrations()
        .iter()
        .map(|migration| migration.name().to_owned())
        .collect();
    let applied = Migrator::get_migration_models(transaction).await?;
    match applied.iter().find(|row| !known.contains(&row.version)) {
        Some(row) => Err(DbErr::Migration(format!(
            "the database is newer than this server: it has the migration {}, which this release does not know. Start a release that does",
            row.version
        ))),
        None => Ok(()),
    }
}
