//! The rows behind a server, for tests that break something or look what was written.

use std::time::Duration;

use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement};

use super::{Backend, Database};

/// A connection of the test's own.
pub struct Rows {
    db: DatabaseConnection,
}

impl Rows {
    pub async fn of(database: &Database) -> Self {
        let mut options = sea_orm::ConnectOptions::new(database.url());
        options
            .max_connections(1)
            .set_schema_search_path("threadline")
            .acquire_timeout(Duration::from_secs(10));
        Self {
            db: sea_orm::Database::connect(options).await.unwrap(),
        }
    }

    pub async fn run(&self, sql: &str) {
        self.db.execute_unprepared(sql).await.unwrap();
    }

    /// The first column of the first row, a number.
    pub async fn count(&self, sql: &str) -> i64 {
        let row = self
            .db
            .query_one_raw(Statement::from_string(self.backend(), sql))
            .await
            .unwrap();
        row.expect("one row").try_get_by_index(0).unwrap()
    }

    /// Every row of every table of chats, so that two moments can be compared.
    pub async fn snapshot(&self) -> Vec<String> {
        let mut rows = Vec::new();
        for table in ["chat", "message", "turn"] {
            let text = match self.backend() {
                DbBackend::Postgres => format!("SELECT t::text FROM {table} t ORDER BY 1"),
                _ => {
                    let columns = format!(
                        "SELECT group_concat('quote(' || name || ')', '||') FROM pragma_table_info('{table}')"
                    );
                    let row = self
                        .db
                        .query_one_raw(Statement::from_string(DbBackend::Sqlite, columns))
                        .await
                        .unwrap();
                    let columns: String = row.expect("the columns").try_get_by_index(0).unwrap();
                    format!("SELECT {columns} FROM {table} ORDER BY 1")
                }
            };
            let found = self
                .db
                .query_all_raw(Statement::from_string(self.backend(), text))
                .await
                .unwrap();
            rows.extend(
                found
                    .iter()
                    .map(|row| format!("{table} {}", row.try_get_by_index::<String>(0).unwrap())),
            );
        }
        rows
    }

    /// Makes one step of writing fail from now on.
    pub async fn break_step(&self, step: &Step) {
        let Step {
            event, table, when, ..
        } = step;
        let when = when.map(|when| format!("WHEN ({when})")).unwrap_or_default();
        let sql = match self.backend() {
            DbBackend::Postgres => {
                let body = step.postgres;
                let kind = if step.at_commit {
                    "CONSTRAINT TRIGGER fault AFTER"
                } else {
                    "TRIGGER fault BEFORE"
                };
                let deferred = if step.at_commit {
                    "DEFERRABLE INITIALLY DEFERRED"
                } else {
                    ""
                };
                format!(
                    "CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body}; RETURN NEW; END $$;
                     CREATE {kind} {event} ON {table} {deferred} FOR EACH ROW {when} EXECUTE FUNCTION fault()"
                )
            }
            _ => format!(
                "CREATE TRIGGER fault BEFORE {event} ON {table} {when} BEGIN SELECT RAISE({}, 'fault'); END",
                step.sqlite
            ),
        };
        self.run(&sql).await;
    }

    /// Takes a fault away again.
    pub async fn mend(&self, step: &Step) {
        match self.backend() {
            DbBackend::Postgres => {
                self.run(&format!(
                    "DROP TRIGGER fault ON {}; DROP FUNCTION fault()",
                    step.table
                ))
                .await;
            }
            _ => self.run("DROP TRIGGER fault").await,
        }
    }

    fn backend(&self) -> DbBackend {
        self.db.get_database_backend()
    }
}

/// A step of writing, and what goes wrong there.
pub struct Step {
    pub event: &'static str,
    pub table: &'static str,
    /// Which rows it hits: the second message of a turn, say.
    pub when: Option<&'static str>,
    /// What PostgreSQL runs there.
    pub postgres: &'static str,
    /// How SQLite gives up there: ABORT ends the statement, ROLLBACK the transaction too.
    pub sqlite: &'static str,
    /// Whether it goes wrong only when the transaction is committed; PostgreSQL only.
    pub at_commit: bool,
}

const RAISE: &str = "RAISE EXCEPTION 'fault'";

impl Step {
    const fn error(event: &'static str, table: &'static str, when: Option<&'static str>) -> Self {
        Self {
            event,
            table,
            when,
            postgres: RAISE,
            sqlite: "ABORT",
            at_commit: false,
        }
    }

    /// Every step of storing a turn or a boundary, and every way it can go wrong there.
    pub fn all(backend: Backend) -> Vec<Self> {
        let second = Some("NEW.role = 1");
        let mut steps = vec![
            Self::error("INSERT", "chat", None),
            Self::error("UPDATE", "chat", None),
            Self::error("INSERT", "turn", None),
            Self::error("INSERT", "message", None),
            Self::error("INSERT", "message", second),
            Self {
                sqlite: "ROLLBACK",
                ..Self::error("INSERT", "message", second)
            },
        ];
        if backend == Backend::Postgres {
            let lost = "PERFORM pg_terminate_backend(pg_backend_pid())";
            let slow = "PERFORM pg_sleep(60)";
            steps.extend([
                Self {
                    postgres: lost,
                    ..Self::error("INSERT", "message", second)
                },
                Self {
                    postgres: lost,
                    ..Self::error("UPDATE", "chat", None)
                },
                Self {
                    postgres: slow,
                    ..Self::error("INSERT", "message", second)
                },
                Self {
                    at_commit: true,
                    ..Self::error("INSERT", "turn", None)
                },
                Self {
                    at_commit: true,
                    postgres: lost,
                    ..Self::error("INSERT", "turn", None)
                },
            ]);
        }
        steps
    }
}
