//! Many writers at once, through two servers: one turn, one thread, one boundary (R4, R5, R7).

use std::time::Instant;

use futures::future::{join, join_all};

use crate::support::{Client, Database, Ended, Key, Ledger, Process, Turn, figures, on_both, rounds};

on_both! {
    a_turn_that_is_sent_64_times_at_once_is_stored_once,
    a_boundary_is_drawn_once_however_often_it_is_asked_for,
}

const TASKS: usize = 64;

/// Every tenth round one of the servers dies with the turn in its hands, and comes back.
async fn a_turn_that_is_sent_64_times_at_once_is_stored_once(db: &Database) {
    let began = Instant::now();
    let ledger = Ledger::default();
    let mut servers = Process::pair(db).await;
    let (mut kills, mut retried, mut conflicts) = (0, 0, 0);
    let turn_of = |round: usize| {
        let key = Key::of(&format!("p{}", round % 4));
        (key, Turn::of_texts(&format!("t{round}"), &["hello", "hi"]))
    };
    let rounds = rounds(10, 1_000);
    for round in 0..rounds {
        let (key, turn) = turn_of(round);
        let clients = [servers[0].client().clone(), servers[1].client().clone()];
        let tasks = join_all((0..TASKS).map(|task| {
            let [here, there] = [&clients[task % 2], &clients[(task + 1) % 2]];
            send_twice(&ledger, [here, there], &key, &turn)
        }));
        if round % 10 == 5 {
            let dying = &mut servers[round / 10 % 2];
            let (sent, ()) = join(tasks, die(dying, rand::random_range(0..50))).await;
            retried += sent.into_iter().sum::<usize>();
            *dying = Process::patient(db).await;
            kills += 1;
        } else {
            assert_eq!(tasks.await.into_iter().sum::<usize>(), 0, "round {round}");
        }
        let other = Turn::of_texts(turn.id(), &["hello", "ho"]);
        let answer = servers[round % 2]
            .send_append_briefly(&key, &other)
            .await
            .unwrap();
        assert_eq!(answer.code(), "CONFLICT", "{}", answer.raw);
        conflicts += 1;
    }
    drop(servers);
    let server = Process::patient(db).await;
    for (key, turn) in (0..rounds).map(turn_of) {
        let ended = ledger.append(&server, &key, &turn).await;
        assert_eq!(ended, Ended::Acknowledged { replayed: true }, "after a restart");
    }
    let proof = ledger.prove(&server).await;
    let mut counted = vec![
        ("operations", rounds * (TASKS + 1) + conflicts + retried),
        ("turns", proof.turns),
        ("kills", kills),
        ("retried", retried),
        ("conflicts", conflicts),
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
    tokio::time::sleep(std::time::Duration::from_millis(after)).await;
    server.kill9();
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
