//! PostgreSQL's partitions of the messages: one a month, by the time in their ids.

use std::collections::BTreeSet;

use chrono::{DateTime, Datelike, Months, NaiveDate, NaiveTime, Utc};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbBackend, DbErr, Statement, TransactionTrait, prelude::Uuid,
};

use crate::chat::id::{self, MessageId};

/// Replicas that make partitions queue up here.
const PARTITION_LOCK: i64 = 0x7468_7265_6164_7061;
/// How many months are made ahead of time.
const AHEAD: u32 = 3;

/// A calendar month, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Month(NaiveDate);

impl Month {
    fn of(time: DateTime<Utc>) -> Self {
        Self(
            time.date_naive()
                .with_day(1)
                .expect("every month has a first day"),
        )
    }

    fn plus(self, months: u32) -> Self {
        Self(self.0.checked_add_months(Months::new(months)).unwrap_or(self.0))
    }

    fn table(self) -> String {
        format!("message_{:04}_{:02}", self.0.year(), self.0.month())
    }

    /// What every id of the month is at least, and every id before it less than.
    fn bound(self) -> Uuid {
        let start = self.0.and_time(NaiveTime::MIN).and_utc().timestamp_millis();
        Uuid::from_u64_pair(u64::try_from(start).unwrap_or(0) << 16, 0)
    }
}

/// Makes sure that there are partitions for now and some months ahead.
pub async fn make_ahead(db: &DatabaseConnection, now: DateTime<Utc>) -> Result<(), DbErr> {
    let this = Month::of(now);
    ensure(db, (0..=AHEAD).map(|months| this.plus(months)).collect()).await
}

/// Makes sure that there are partitions for messages of these ids.
pub async fn make_for(db: &DatabaseConnection, ids: &[MessageId]) -> Result<(), DbErr> {
    ensure(db, ids.iter().map(|id| Month::of(id::time_of(id.0))).collect()).await
}

/// Each month in a transaction of its own: those that wait for the lock, and give up after the lock timeout, wait for
/// one table and not for those of a whole history.
async fn ensure(db: &DatabaseConnection, months: BTreeSet<Month>) -> Result<(), DbErr> {
    for month in months {
        // Most often they are all there, and nobody has to wait for anybody.
        if exists(db, month).await? {
            continue;
        }
        let transaction = db.begin().await?;
        transaction
            .execute_unprepared(&format!("SELECT pg_advisory_xact_lock({PARTITION_LOCK})"))
            .await?;
        if !exists(&transaction, month).await? {
            create(&transaction, month).await?;
        }
        transaction.commit().await?;
    }
    Ok(())
}

async fn exists(db: &impl ConnectionTrait, month: Month) -> Result<bool, DbErr> {
    let query = Statement::from_sql_and_values(
        DbBackend::Postgres,
        "SELECT 1 FROM pg_inherits WHERE inhrelid = to_regclass($1) AND inhparent = to_regclass('message')",
        [month.table().into()],
    );
    Ok(db.query_one_raw(query).await?.is_some())
}

/// Made apart and then attached: `CREATE TABLE … PARTITION OF` would lock out every reader and writer of `message`.
async fn create(db: &impl ConnectionTrait, month: Month) -> Result<(), DbErr> {
    let (table, from, to) = (month.table(), month.bound(), month.plus(1).bound());
    db.execute_unprepared(&format!(
        "CREATE TABLE {table} (LIKE message INCLUDING ALL);
         ALTER TABLE message ATTACH PARTITION {table} FOR VALUES FROM ('{from}') TO ('{to}');"
    ))
    .await?;
    tracing::info!(partition = %table, "made a partition");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_lies_in_the_month_of_its_time() {
        let edge = NaiveDate::from_ymd_opt(2026, 12, 1)
            .unwrap()
            .and_time(NaiveTime::MIN)
            .and_utc();
        let before = edge - chrono::TimeDelta::microseconds(1);
        let (november, december) = (Month::of(before), Month::of(edge));
        assert_eq!(
            (november.table(), december.table()),
            ("message_2026_11".into(), "message_2026_12".into())
        );
        assert_eq!(november.plus(1), december);
        assert!(id::at(before, u64::MAX) < december.bound() && id::at(edge, 0) > december.bound());
        assert!(id::at(before, 0) > november.bound());
    }
}
