//! What the tests stand on: a fresh database each, a server over it, and the words to talk to it.

pub mod answer;
pub mod client;
pub mod database;
pub mod list;
pub mod process;
pub mod server;
pub mod turn;

pub use self::answer::Answer;
pub use self::client::Client;
pub use self::database::{Backend, Database, with_database};
pub use self::list::{List, Page};
pub use self::process::Process;
pub use self::server::TestServer;
pub use self::turn::{Key, Turn};

/// Whether the property and fault tests run at their full size: `tests/run --long`.
pub fn long() -> bool {
    std::env::var_os("TEST_LONG").is_some()
}

/// Makes two tests of one body, `name::on_sqlite` and `name::on_postgres`, each over a fresh database.
macro_rules! on_both {
    ($($(#[$meta:meta])* async fn $name:ident($db:ident) $body:block)+) => {$(
        mod $name {
            #[expect(unused_imports, reason = "a body may need nothing of its file")]
            use super::*;

            async fn body($db: &$crate::support::Database) $body

            $(#[$meta])*
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                $crate::support::with_database($crate::support::Backend::Sqlite, body).await;
            }

            $(#[$meta])*
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgres() {
                $crate::support::with_database($crate::support::Backend::Postgres, body).await;
            }
        }
    )+};
}
pub(crate) use on_both;
