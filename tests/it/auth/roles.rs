//! What each role may do.

use serde_json::json;

use crate::support::issuer::{claims_of, token, widget_claims};
use crate::support::rows::Rows;
use crate::support::{Client, Database, Key, TestServer, Turn, on_both};

on_both! {
    people_read_and_reset_and_programs_write_too,
    a_turn_outside_of_what_a_token_names_is_forbidden_whether_or_not_the_thread_exists,
    a_widget_sees_its_one_thread,
}

async fn people_read_and_reset_and_programs_write_too(db: &Database) {
    let server = TestServer::start_with_auth(db.gateway().await).await;
    let key = Key::new("support", "widget", "ann");
    let admin = server.bearing(&token(&claims_of("acme", "admin")));
    admin.say(&key, "first", &["hello", "hi"]).await;
    let thread = admin.thread_id(&key).await;
    let rows = Rows::of(db).await;
    let widget = widget_claims("acme", "support", "widget", "ann");
    for (claims, writes) in [
        (widget, false),
        (claims_of("acme", "dashboard"), false),
        (claims_of("acme", "agent"), true),
        (claims_of("acme", "admin"), true),
    ] {
        let role = claims["role"].as_str().unwrap().to_owned();
        let viewer: Client = server.bearing(&token(&claims));
        assert_eq!(
            viewer.thread(&key, "id").await["id"],
            thread.as_str(),
            "{role} reads"
        );
        let before = rows.snapshot().await;
        let through = admin.thread(&key, "messages(limit: 1) { items { id } }").await;
        let through = through["messages"]["items"][0]["id"].as_str().unwrap().to_owned();
        let appended = viewer.try_append(&key, &Turn::of_texts(&role, &["a", "b"])).await;
        let compacted = viewer.compact(&thread, "so far", &through).await;
        if writes {
            appended.data("/appendTurn");
            assert_eq!(
                compacted.body["data"]["compactThread"]["thread"]["id"],
                thread.as_str()
            );
        } else {
            assert_eq!(
                (appended.code(), compacted.code()),
                ("FORBIDDEN", "FORBIDDEN"),
                "{role}"
            );
            assert_eq!(rows.snapshot().await, before, "{role} wrote nothing");
        }
        assert_eq!(
            viewer.reset(&thread).await.data("/resetThread")["thread"]["id"],
            thread.as_str(),
            "{role} resets"
        );
        admin.say(&key, &format!("after {role}"), &["c", "d"]).await;
    }
}

async fn a_turn_outside_of_what_a_token_names_is_forbidden_whether_or_not_the_thread_exists(db: &Database) {
    let server = TestServer::start_with_auth(db.gateway().await).await;
    let admin = server.bearing(&token(&claims_of("acme", "admin")));
    let there = Key::new("support", "widget", "ann");
    admin.say(&there, "first", &["hello"]).await;
    let rows = Rows::of(db).await;
    let before = rows.snapshot().await;
    for (claim, name) in [("agent", "sales"), ("channel", "api"), ("person", "bob")] {
        let mut claims = claims_of("acme", "agent");
        claims[claim] = name.into();
        let narrowed = server.bearing(&token(&claims));
        let absent = Key::new("support", "widget", "nobody");
        let turn = Turn::of_texts("t", &["x"]);
        let [there, absent] = [
            narrowed.try_append(&there, &turn).await,
            narrowed.try_append(&absent, &turn).await,
        ];
        assert_eq!(there.code(), "FORBIDDEN", "{claim}");
        assert_eq!(there.raw, absent.raw, "{claim}");
    }
    assert_eq!(rows.snapshot().await, before);
}

async fn a_widget_sees_its_one_thread(db: &Database) {
    let server = TestServer::start_with_auth(db.gateway().await).await;
    let admin = server.bearing(&token(&claims_of("acme", "admin")));
    let own = Key::new("support", "widget", "ann");
    for key in [
        own.clone(),
        Key::new("support", "widget", "bob"),
        Key::new("support", "api", "ann"),
        Key::new("sales", "widget", "ann"),
    ] {
        let said = format!("{} {} {}", key.agent, key.channel, key.person);
        admin.say(&key, "t", &[&said]).await;
    }
    let widget = server.bearing(&token(&widget_claims("acme", "support", "widget", "ann")));
    let query = "{ viewer { thread { personId } } agent(id: \"support\") { \
        threads { items { channel personId } } messages { items { text } } all: threads(channel: \"api\") { items { id } } } }";
    assert_eq!(
        *widget.graphql(query, json!(null)).await.data(""),
        json!({
            "viewer": { "thread": { "personId": "ann" } },
            "agent": {
                "threads": { "items": [{ "channel": "widget", "personId": "ann" }] },
                "messages": { "items": [{ "text": "support widget ann" }] },
                "all": { "items": [] },
            },
        })
    );
    let none = server.bearing(&token(&widget_claims("acme", "support", "widget", "new")));
    let nothing = none.graphql("{ viewer { thread { id } } }", json!(null)).await;
    assert_eq!(
        nothing.data("/viewer/thread"),
        &json!(null),
        "before the first turn"
    );
}
