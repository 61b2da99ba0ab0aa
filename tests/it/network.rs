//! What the network between clients, server and database can do to both.

mod aborted;
mod commits;
mod cut;
mod overload;
mod stored;

use std::time::{Duration, Instant};

use futures::future::join_all;

use crate::support::wire::Wire;
use crate::support::{Backend, TestServer, with_database};

#[tokio::test(flavor = "multi_thread")]
async fn the_database_is_asked_whether_it_is_ready_once_a_second_however_often_somebody_asks() {
    with_database(Backend::Postgres, async |database| {
        let wire = Wire::to(database).await;
        let server = TestServer::start_over(database.gateway_at(wire.url()).await).await;
        wire.statements();
        let began = Instant::now();
        for _ in 0..10 {
            let asked = join_all((0..50).map(|_| server.is_ok("/readyz"))).await;
            assert!(asked.into_iter().all(|ready| ready));
        }
        let seconds = usize::try_from(began.elapsed().as_secs()).unwrap();
        let statements = wire.statements();
        assert!(
            statements <= 3 * (seconds + 1),
            "{statements} statements in {seconds} s"
        );
        wire.mute();
        tokio::time::sleep(Duration::from_secs(1)).await;
        let answer = server.get("/readyz").await;
        assert_eq!((answer.status, answer.code()), (503, "SERVICE_UNAVAILABLE"));
    })
    .await;
}
