//! The clock may lie (R10): the order of a thread, and that its times never go back, do not depend on it.

use std::time::Instant;

use chrono::TimeDelta;
use threadline::chat::gateway::Gateway;
use threadline::chat::model::Message;
use threadline::chat::scope::Scope;

use crate::support::replica::thread_key;
use crate::support::{Database, Key, Replica, Turn, figures, on_both, rounds};

on_both! {
    a_thread_keeps_its_order_while_the_clock_jumps_by_hours,
    two_replicas_whose_clocks_differ_by_minutes_keep_one_order,
    a_month_that_nobody_made_a_partition_for_does_not_stop_a_turn,
}

async fn say(replica: &Replica, turn_id: String) -> Vec<Message> {
    let turn = Turn::of_texts(&turn_id, &["a", "b"]);
    replica.append(&Key::of("p"), &turn).await.unwrap().messages
}

/// Everything in the thread, oldest first.
async fn all(gateway: &Gateway) -> Vec<Message> {
    let scope = Scope::local();
    let thread = gateway
        .thread_by_key(&scope, &thread_key(&Key::of("p")))
        .await
        .unwrap()
        .unwrap();
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
    let began = Instant::now();
    let replica = Replica::of(db).await;
    let mut acknowledged = Vec::new();
    for turn in 0..rounds(40, 1000) {
        let hours = [0, 1, -1, 1, -1, 0][turn % 6];
        let jump = TimeDelta::hours(hours) + TimeDelta::milliseconds(turn as i64);
        replica.clock.run_ahead(jump);
        acknowledged.extend(say(&replica, turn.to_string()).await);
    }
    assert_in_order(&all(&replica.gateway).await, &acknowledged);
    report("R10 jumps", db, began, acknowledged.len());
}

async fn two_replicas_whose_clocks_differ_by_minutes_keep_one_order(db: &Database) {
    let began = Instant::now();
    let [behind, ahead] = [Replica::of(db).await, Replica::of(db).await];
    behind.clock.run_ahead(TimeDelta::minutes(-5));
    ahead.clock.run_ahead(TimeDelta::minutes(5));
    let mut acknowledged = Vec::new();
    for turn in 0..rounds(40, 1000) {
        let replica = if turn % 3 == 0 { &ahead } else { &behind };
        acknowledged.extend(say(replica, turn.to_string()).await);
    }
    assert_in_order(&all(&behind.gateway).await, &acknowledged);
    report("R10 replicas", db, began, acknowledged.len());
}

fn report(promise: &str, db: &Database, began: Instant, messages: usize) {
    let turns = messages / 2;
    let counted = [("operations", turns), ("messages", messages), ("disordered", 0)];
    figures::report(promise, db, began, &counted);
}

async fn a_month_that_nobody_made_a_partition_for_does_not_stop_a_turn(db: &Database) {
    let replica = Replica::of(db).await;
    let mut acknowledged = say(&replica, "now".to_owned()).await;
    for years in 1..4 {
        replica.clock.run_ahead(TimeDelta::days(366 * years));
        acknowledged.extend(say(&replica, format!("in {years} years")).await);
    }
    assert_in_order(&all(&replica.gateway).await, &acknowledged);
    replica.gateway.maintain().await.unwrap();
}
