//! What the tests stand on: a fresh database each, a server over it, and the words to talk to it.

pub mod answer;
pub mod client;
pub mod cluster;
pub mod collector;
pub mod command;
pub mod database;
pub mod figures;
pub mod id;
pub mod issuer;
pub mod ledger;
pub mod list;
pub mod process;
pub mod prometheus;
pub mod replica;
pub mod rows;
pub mod server;
pub mod small_disk;
pub mod turn;
pub mod wire;

pub use self::answer::Answer;
pub use self::client::Client;
pub use self::database::{Backend, Database, with_database};
pub use self::ledger::{Ended, Ledger, Proof};
pub use self::list::{List, Page};
pub use self::process::Process;
pub use self::replica::Replica;
pub use self::server::TestServer;
pub use self::turn::{Key, Turn, text_part};

/// How often to repeat something: `long` is the full size, which `tests/run --long` runs.
pub fn rounds(short: usize, long: usize) -> usize {
    if std::env::var_os("TEST_LONG").is_some() {
        long
    } else {
        short
    }
}

/// Makes two tests of each body, `name::on_sqlite` and `name::on_postgres`, both over a fresh database.
/// (A body that is not listed is dead code, which the lints refuse.)
macro_rules! on_both {
    ($($name:ident,)+) => {$(
        mod $name {
            use crate::support::{Backend, with_database};

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                with_database(Backend::Sqlite, super::$name).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgres() {
                with_database(Backend::Postgres, super::$name).await;
            }
        }
    )+};
}
pub(crate) use on_both;
