//! What many requests, or what was said in one, could make the server do.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use tokio::net::TcpListener;

use super::{Stage, sent::Sent};
use crate::support::{Database, Key, Process, Turn, on_both, rounds};

on_both! {
    many_refusals_at_once_harm_nobody,
    no_url_in_a_content_is_ever_fetched,
}

async fn many_refusals_at_once_harm_nobody(db: &Database) {
    let stage = Stage::set(db).await;
    let nest = format!("{{n(x:{}1{})}}", "[".repeat(2_000), "]".repeat(2_000));
    let attacks = [
        Sent::document(&nest, &json!(null)),
        Sent::document("{ thread(id: \"", &json!(null)),
        Sent::get("/agents/a/chat/messages?cursor=AAAA"),
        Sent::get("/agents/a/chat/messages?limit=0"),
        Sent::raw("GET / HTTP/9.9", ""),
    ];
    for _ in 0..rounds(10, 200) {
        let address = stage.address();
        let sent = (0..50).map(|n| attacks[n % attacks.len()].to(&address));
        for answer in join_all(sent).await {
            assert_eq!(answer.status, 400, "{}", answer.raw);
        }
    }
    stage.stays_unharmed().await;
}

async fn no_url_in_a_content_is_ever_fetched(db: &Database) {
    let server = Process::start(db, &[]).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/secret", listener.local_addr().unwrap());
    let fetched = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&fetched);
    let listening = tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    let key = Key::of("p");
    let parts = json!([
        { "type": "file", "mediaType": "image/png", "url": url },
        { "type": "image", "url": url, "image": url },
        { "type": "source-url", "url": url },
        { "type": "ref", "kind": "url", "id": url },
        { "type": "text", "text": format!("<img src=\"{url}\"> ![]({url})") },
        { "type": "tool-call", "toolCallId": "1", "toolName": "fetch", "input": { "url": url } },
        { "type": "tool-result", "toolCallId": "1", "toolName": "fetch", "output": { "$ref": url } },
    ]);
    server
        .append(&key, &Turn::new("t").with_parts("ASSISTANT", parts))
        .await;
    let thread = server.thread_id(&key).await;
    assert!(
        server
            .get("/agents/support/chat/messages")
            .await
            .raw
            .contains(&url)
    );
    assert!(server.context(&key, "").await.to_string().contains(&url));
    server.reset(&thread).await.data("/resetThread");
    tokio::time::sleep(Duration::from_millis(500)).await;
    listening.abort();
    assert_eq!(fetched.load(Ordering::SeqCst), 0);
}
