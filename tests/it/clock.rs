//! The clock may lie (R10): the order of a thread, and that its times never go back, do not depend on it.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use threadline::chat::clock::Clock;
use threadline::chat::gateway::{Gateway, GatewayLimits};
use threadline::chat::json::Json;
use threadline::chat::model::{BeganUnder, Message, Outcome, Role, ThreadKey};
use threadline::chat::scope::Scope;
use threadline::chat::turn::{MessageDraft, TurnDraft};
use threadline::storage::{DatabaseSettings, SqlStore};

use crate::support::{Database, on_both, rounds};

on_both! {
    a_thread_keeps_its_order_while_the_clock_jumps_by_hours,
    two_replicas_whose_clocks_differ_by_minutes_keep_one_order,
    a_month_that_nobody_made_a_partition_for_does_not_stop_a_turn,
}

/// A replica of its own, with a clock that the test sets.
async fn replica(db: &Database) -> (Gateway, Clock) {
    let seconds = Duration::from_secs;
    let settings = DatabaseSettings {
        url: db.url().to_owned(),
        schema: "threadline".to_owned(),
        max_connections: 5,
        acquire_timeout: seconds(10),
        statement_timeout: seconds(10),
        lock_timeout: seconds(10),
        idle_in_transaction_timeout: seconds(10),
    };
    let clock = Clock::default();
    let store = SqlStore::open(&settings, clock.clone()).await.unwrap();
    store.migrate().await.unwrap();
    let gateway = Gateway::open(Arc::new(store), &[], GatewayLimits::default())
        .await
        .unwrap();
    (gateway, clock)
}

fn key() -> ThreadKey {
    ThreadKey::new("support".to_owned(), "widget".to_owned(), "p".to_owned()).unwrap()
}

async fn say(gateway: &Gateway, turn_id: String) -> Vec<Message> {
    let message = |text: &str| MessageDraft {
        role: Role::User,
        content: Json::parse(format!(r#"{{"parts":[{{"type":"text","text":"{text}"}}]}}"#).as_bytes())
            .unwrap(),
        tokens: None,
    };
    let draft = TurnDraft {
        key: key(),
        turn_id,
        outcome: Some(Outcome::Completed),
        began: BeganUnder::Now,
        messages: vec![message("a"), message("b")],
    };
    gateway
        .append_turn(&Scope::local(), draft)
        .await
        .unwrap()
        .messages
}

/// Everything in the thread, oldest first.
async fn all(gateway: &Gateway) -> Vec<Message> {
    let scope = Scope::local();
    let thread = gateway.thread_by_key(&scope, &key()).await.unwrap().unwrap();
    let (mut messages, mut more) = (Vec::<Message>::new(), true);
    while more {
        let after = messages.last().map(|message| message.id);
        let (next, has_more) = gateway.export_messages(&scope, &thread, after).await.unwrap();
        messages.extend(next);
        more = has_more;
    }
    messages
}

fn assert_in_order(read: &[Message], acknowledged: &[Message]) {
    assert_eq!(
        read.iter().map(|message| message.id).collect::<Vec<_>>(),
        acknowledged.iter().map(|message| message.id).collect::<Vec<_>>()
    );
    for pair in read.windows(2) {
        assert!(pair[0].id < pair[1].id && pair[0].created_at <= pair[1].created_at);
    }
}

async fn a_thread_keeps_its_order_while_the_clock_jumps_by_hours(db: &Database) {
    let (gateway, clock) = replica(db).await;
    let mut acknowledged = Vec::new();
    for turn in 0..rounds(40, 1000) {
        let hours = [0, 1, -1, 1, -1, 0][turn % 6];
        clock.run_ahead(TimeDelta::hours(hours) + TimeDelta::milliseconds(turn as i64));
        acknowledged.extend(say(&gateway, turn.to_string()).await);
    }
    assert_in_order(&all(&gateway).await, &acknowledged);
}

async fn two_replicas_whose_clocks_differ_by_minutes_keep_one_order(db: &Database) {
    let (one, behind) = replica(db).await;
    let (other, ahead) = replica(db).await;
    behind.run_ahead(TimeDelta::minutes(-5));
    ahead.run_ahead(TimeDelta::minutes(5));
    let mut acknowledged = Vec::new();
    for turn in 0..rounds(40, 1000) {
        let replica = if turn % 3 == 0 { &other } else { &one };
        acknowledged.extend(say(replica, turn.to_string()).await);
    }
    assert_in_order(&all(&one).await, &acknowledged);
}

async fn a_month_that_nobody_made_a_partition_for_does_not_stop_a_turn(db: &Database) {
    let (gateway, clock) = replica(db).await;
    let mut acknowledged = say(&gateway, "now".to_owned()).await;
    for years in 1..4 {
        clock.run_ahead(TimeDelta::days(366 * years));
        acknowledged.extend(say(&gateway, format!("in {years} years")).await);
    }
    assert_in_order(&all(&gateway).await, &acknowledged);
    gateway.maintain().await.unwrap();
}
