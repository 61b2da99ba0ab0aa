//! Many writers at once, through two servers: one turn, one thread, one boundary (R4, R5, R7).

use std::collections::HashSet;
use std::time::{Duration, Instant};

use futures::future::{join, join_all};

use crate::support::{
    Client, Database, Ended, Key, Ledger, Process, Proof, Replica, Turn, figures, on_both, rounds,
};

on_both! {
    a_turn_that_is_sent_64_times_at_once_is_stored_once,
    a_new_thread_is_made_once_by_128_writers,
    a_boundary_is_drawn_once_however_often_it_is_asked_for,
}

const TASKS: usize = 64;

/// How many rounds run at once, each in a thread of its own: while one waits for its lock, another goes on.
const AT_ONCE: usize = 4;

fn turn_of(round: usize) -> (Key, Turn) {
    let key = Key::of(&format!("p{}", round % AT_ONCE));
    (key, Turn::of_texts(&format!("t{round}"), &["hello", "hi"]))
}

/// Now and then one of the servers dies with the turns in its hands, and comes back.
async fn a_turn_that_is_sent_64_times_at_once_is_stored_once(db: &Database) {
    let began = Instant::now();
    let ledger = Ledger::default();
    let mut servers = Process::pair(db).await;
    let (mut kills, mut retried) = (0, 0);
    let rounds = rounds(8, 1_000);
    for first in (0..rounds).step_by(AT_ONCE) {
        let clients = [servers[0].client().clone(), servers[1].client().clone()];
        let tasks = join_all((0..TASKS * AT_ONCE).map(async |task| {
            let (key, turn) = turn_of(first + task % AT_ONCE);
            let [here, there] = [task / AT_ONCE % 2, (task / AT_ONCE + 1) % 2];
            send_twice(&ledger, [&clients[here], &clients[there]], &key, &turn).await
        }));
        if first / AT_ONCE % 4 == 1 {
            let dying = &mut servers[first / AT_ONCE / 4 % 2];
            let (sent, ()) = join(tasks, die(dying, rand::random_range(0..200))).await;
            retried += sent.into_iter().sum::<usize>();
            *dying = Process::patient(db).await;
            kills += 1;
        } else {
            assert_eq!(tasks.await.into_iter().sum::<usize>(), 0, "round {first}");
        }
        for round in first..first + AT_ONCE {
            let (key, turn) = turn_of(round);
            let other = Turn::of_texts(turn.id(), &["hello", "ho"]);
            let answer = servers[round % 2]
                .send_append_briefly(&key, &other)
                .await
                .unwrap();
            assert_eq!(answer.code(), "CONFLICT", "{}", answer.raw);
        }
    }
    drop(servers);
    let server = Process::patient(db).await;
    for (key, turn) in (0..rounds).map(turn_of) {
        let ended = ledger.append(&server, &key, &turn).await;
        assert_eq!(ended, Ended::Acknowledged { replayed: true }, "after a restart");
    }
    let proof = ledger.prove(&server).await;
    let mut counted = vec![
        ("operations", rounds * (TASKS + 2) + retried),
        ("rounds", rounds),
        ("kills", kills),
        ("retried", retried),
        ("conflicts", rounds),
    ];
    counted.extend(proof.figures());
    figures::report("R4", db, began, &counted);
    proof.assert_holds();
    assert_eq!(proof.turns, rounds);
}

/// Sends a turn to one server and, if that dies, to the other. Says how often it was sent again.
async fn send_twice(ledger: &Ledger, servers: [&Client; 2], key: &Key, turn: &Turn) -> usize {
    for (again, server) in servers.into_iter().enumerate() {
        if ledger.append(server, key, turn).await.is_certain() {
            return again;
        }
    }
    panic!("no server answered");
}

async fn die(server: &mut Process, after: u64) {
    tokio::time::sleep(Duration::from_millis(after)).await;
    server.kill9();
}

/// How many keys are written before they are read back.
const BATCH: usize = 100;

/// Through two doors with connections of their own and no HTTP, which takes a slow build four times as long.
async fn a_new_thread_is_made_once_by_128_writers(db: &Database) {
    let began = Instant::now();
    let replicas = [Replica::of(db).await, Replica::of(db).await];
    let server = Process::patient(db).await;
    let keys = rounds(8, 2_000);
    let mut proof = Proof::default();
    for batch in 0..keys.div_ceil(BATCH) {
        let ledger = Ledger::default();
        for first in (0..BATCH.min(keys)).step_by(AT_ONCE) {
            let key_of = |n: usize| Key::new(&format!("agent {batch}"), "widget", &format!("p{}", first + n));
            let threads = join_all((0..2 * TASKS * AT_ONCE).map(async |task| {
                let (key, n) = (key_of(task % AT_ONCE), task / AT_ONCE);
                let turn = Turn::of_texts(&format!("t{n}"), &["hello"]);
                ledger.ask(&key, &turn);
                let appended = replicas[n % 2].append(&key, &turn).await;
                let appended = appended.expect("no error to anyone");
                let ids = appended.messages.iter().map(|message| message.id.to_string());
                ledger.acknowledge(&key, &turn, ids.collect(), appended.replayed);
                appended.thread.expect("it is stored").id
            }))
            .await;
            let made: HashSet<_> = threads.into_iter().collect();
            assert_eq!(made.len(), AT_ONCE, "one thread for each key");
        }
        proof = proof.and(ledger.prove(&server).await);
        proof.assert_holds();
    }
    let mut counted = vec![("operations", keys * 2 * TASKS), ("keys", keys), ("errors", 0)];
    counted.extend(proof.figures());
    figures::report("R5", db, began, &counted);
    assert_eq!(proof.turns, keys * 2 * TASKS);
}

const PRESSES: usize = 32;

async fn a_boundary_is_drawn_once_however_often_it_is_asked_for(db: &Database) {
    let began = Instant::now();
    let ledger = Ledger::default();
    let servers = Process::pair(db).await;
    let key = Key::of("p");
    let rounds = rounds(8, 1_000);
    let mut racing = 0;
    for round in 0..rounds {
        let say = async |name: String| {
            let turn = Turn::of_texts(&name, &["a", "b"]);
            let ended = ledger.append(&servers[name.len() % 2], &key, &turn).await;
            assert_eq!(ended, Ended::Acknowledged { replayed: false }, "{name}");
        };
        say(format!("t{round}")).await;
        let thread = servers[0].thread_id(&key).await;
        let presses = join_all((0..PRESSES).map(|press| ledger.reset(&servers[press % 2], &key, &thread)));
        // Every other round turns come between the presses.
        let turns = if round % 2 == 0 { 0 } else { 8 };
        let saying = join_all((0..turns).map(|n| say(format!("t{round}.{}", "x".repeat(n)))));
        let (pressed, _) = join(presses, saying).await;
        assert!(
            pressed.iter().all(|ended| ended.is_certain()),
            "no error to anyone"
        );
        let drawn = pressed
            .iter()
            .filter(|ended| **ended == Ended::Acknowledged { replayed: false });
        let drawn = drawn.count();
        assert!(drawn == 1 || drawn > 1 && turns > 0, "round {round}: {drawn}");
        racing += turns;
    }
    let proof = ledger.prove(&servers[1]).await;
    let mut counted = vec![
        ("operations", rounds * (1 + PRESSES) + racing),
        ("presses", rounds * PRESSES),
        ("boundaries", proof.boundaries),
        ("turns", proof.turns),
    ];
    counted.extend(proof.figures());
    figures::report("R7", db, began, &counted);
    proof.assert_holds();
}
