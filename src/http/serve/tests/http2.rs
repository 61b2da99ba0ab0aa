//! HTTP/2, whose clients can be silent and lazy without the socket showing it.

use axum::http::Request;
use h2::client::{SendRequest, handshake};
use h2::{Reason, RecvStream};
use tokio::time::timeout;

use super::*;

const LONG: Duration = Duration::from_secs(10);

/// A client that answers pings; the task ends with the connection.
async fn connect(server: &Server) -> (SendRequest<Bytes>, JoinHandle<Result<(), h2::Error>>) {
    let stream = TcpStream::connect(server.address).await.unwrap();
    let (client, connection) = handshake(stream).await.unwrap();
    (client, tokio::spawn(connection))
}

async fn get(client: &mut SendRequest<Bytes>, path: &str) -> RecvStream {
    let request = Request::get(format!("http://x{path}")).body(()).unwrap();
    let (response, _) = client.send_request(request, true).unwrap();
    response.await.unwrap().into_body()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_connection_is_told_to_go_and_a_used_one_is_kept() {
    let server = start().await;
    let (mut client, connection) = connect(&server).await;
    let began = Instant::now();
    while began.elapsed() < 3 * SHORT {
        let mut body = get(&mut client, "/").await;
        assert_eq!(body.data().await.unwrap().unwrap(), "fine");
        tokio::time::sleep(SHORT / 3).await;
    }
    let idle = Instant::now();
    timeout(LONG, connection).await.unwrap().unwrap().unwrap();
    let error = client.ready().await.unwrap_err();
    assert!(
        error.is_go_away() && error.reason() == Some(Reason::NO_ERROR),
        "{error}"
    );
    assert!(idle.elapsed() < 4 * SHORT, "{:?}", idle.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_takes_its_time_is_not_idle() {
    let server = start().await;
    let (mut client, _connection) = connect(&server).await;
    let request = Request::get("http://x/hangs").body(()).unwrap();
    let (response, _) = client.send_request(request, true).unwrap();
    assert_eq!(response.await.unwrap().status(), 503);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_leaves_one_answer_lying_is_left_though_he_reads_others() {
    let server = start().await;
    let (mut client, connection) = connect(&server).await;
    let mut lying = Vec::new();
    for _ in 0..3 {
        lying.push(get(&mut client, "/large").await);
    }
    let began = Instant::now();
    let others = tokio::spawn(async move {
        loop {
            let request = Request::get("http://x/").body(()).unwrap();
            let Ok((response, _)) = client.send_request(request, true) else {
                return;
            };
            if response.await.is_err() {
                return;
            }
            tokio::time::sleep(SHORT / 10).await;
        }
    });
    timeout(LONG, others).await.unwrap().unwrap();
    assert!(began.elapsed() < 5 * SHORT, "{:?}", began.elapsed());
    drop((lying, connection));
    server.is_alive().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_reads_slowly_but_steadily_gets_everything() {
    let server = start_with(Limits {
        body_timeout: 4 * SHORT,
        ..limits()
    })
    .await;
    let began = Instant::now();
    let (mut client, _connection) = connect(&server).await;
    let mut body = get(&mut client, "/large").await;
    let (mut read, mut held) = (0, 0);
    while let Some(data) = timeout(LONG, body.data()).await.unwrap() {
        let length = data.unwrap().len();
        (read, held) = (read + length, held + length);
        if held >= 48 << 10 {
            body.flow_control().release_capacity(held).unwrap();
            held = 0;
        }
        if read % (1 << 20) < length {
            tokio::time::sleep(SHORT / 5).await;
        }
    }
    assert_eq!(read, LARGE);
    assert!(began.elapsed() > 4 * SHORT, "longer than one piece may take");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_ends_with_the_server() {
    let server = start().await;
    let (mut client, connection) = connect(&server).await;
    let _answer = get(&mut client, "/").await;
    server.stop.send(()).unwrap();
    timeout(LONG, server.ended).await.unwrap().unwrap();
    match timeout(LONG, connection).await.unwrap().unwrap() {
        Ok(()) => {}
        Err(error) => assert_eq!(error.reason(), Some(Reason::NO_ERROR)),
    }
}
