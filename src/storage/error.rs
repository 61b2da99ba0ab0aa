//! What a database's failure means to a caller.

use std::fmt;

use sea_orm::{DbErr, RuntimeErr, SqlErr, SqlxError};

use crate::chat::error::Error;

/// PostgreSQL, `check_violation`: without a constraint's name, a row for which there is no partition.
const CHECK_VIOLATION: &str = "23514";

/// PostgreSQL's codes for "not now": connections, resources, timeouts, shutdown, a standby, a deadlock.
const PASSING: [&str; 10] = [
    "08", "53", "57", "58", "55P03", "25006", "40001", "40P01", "25P03", "XX001",
];

/// Those of them after which the connection is gone: PostgreSQL's for connections and for a server that ends.
const BROKEN: [&str; 2] = ["08", "57P"];

/// SQLite's primary result code for a file that another uses in a way that keeps this one out.
const SQLITE_BUSY: i32 = 5;

/// SQLite's primary result codes for "not now": BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN.
const SQLITE_PASSING: [i32; 6] = [5, 6, 8, 10, 13, 14];

/// Says what a database error is to a caller: `Unavailable` when trying again may help, else `Internal`.
pub fn from_db(error: DbErr) -> Error {
    if is_passing(&error) {
        Error::Unavailable(Box::new(error))
    } else {
        Error::Internal(Box::new(error))
    }
}

/// Whether a row had no partition to go to.
pub fn is_without_partition(error: &DbErr) -> bool {
    let Some(SqlxError::Database(database)) = sqlx_error(error) else {
        return false;
    };
    database.code().as_deref() == Some(CHECK_VIOLATION) && database.constraint().is_none()
}

/// Whether a row's key is another row's.
pub fn is_taken(error: &DbErr) -> bool {
    matches!(error.sql_err(), Some(SqlErr::UniqueConstraintViolation(_)))
}

/// Whether SQLite has its file in use elsewhere.
pub fn is_busy(error: &DbErr) -> bool {
    let Some(SqlxError::Database(database)) = sqlx_error(error) else {
        return false;
    };
    let code = database.code().unwrap_or_default();
    code.parse().is_ok_and(|code: i32| code & 0xFF == SQLITE_BUSY)
}

/// Whether the way to the database is broken, or nobody answers at its end.
pub fn is_broken(error: &DbErr) -> bool {
    if matches!(error, DbErr::ConnectionAcquire(_) | DbErr::Conn(_)) {
        return true;
    }
    match sqlx_error(error) {
        Some(SqlxError::Database(database)) => {
            let code = database.code().unwrap_or_default();
            BROKEN.iter().any(|broken| code.starts_with(broken))
        }
        Some(
            SqlxError::Io(_)
            | SqlxError::Tls(_)
            | SqlxError::Protocol(_)
            | SqlxError::PoolTimedOut
            | SqlxError::PoolClosed
            | SqlxError::WorkerCrashed,
        ) => true,
        _ => false,
    }
}

fn is_passing(error: &DbErr) -> bool {
    if is_broken(error) {
        return true;
    }
    let Some(SqlxError::Database(database)) = sqlx_error(error) else {
        return false;
    };
    let code = database.code().unwrap_or_default();
    // SQLite's codes are numbers with the primary one in the low byte; PostgreSQL's have five characters.
    match code.parse::<i32>() {
        Ok(number) if code.len() != 5 => SQLITE_PASSING.contains(&(number & 0xFF)),
        _ => PASSING.iter().any(|passing| code.starts_with(passing)),
    }
}

fn sqlx_error(error: &DbErr) -> Option<&SqlxError> {
    match error {
        DbErr::Conn(RuntimeErr::SqlxError(error))
        | DbErr::Exec(RuntimeErr::SqlxError(error))
        | DbErr::Query(RuntimeErr::SqlxError(error)) => Some(error),
        _ => None,
    }
}

/// Something in the database that no version of this server would have written.
#[derive(Debug)]
pub struct Inconsistency(pub &'static str);

impl fmt::Display for Inconsistency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the database is inconsistent: {}", self.0)
    }
}

impl std::error::Error for Inconsistency {}

impl From<Inconsistency> for Error {
    fn from(found: Inconsistency) -> Self {
        Self::Internal(Box::new(found))
    }
}
