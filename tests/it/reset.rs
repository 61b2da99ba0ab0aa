//! Starting over.

use futures::future::{join, join_all};
use serde_json::{Value, json};

use crate::support::{Database, Key, List, Process, TestServer, Turn, id, on_both};

on_both! {
    a_reset_draws_a_boundary_at_the_end_of_the_thread,
    people_page_to_everything_before_a_reset,
    a_second_reset_draws_nothing,
    resets_that_race_turns_keep_one_order,
    a_reset_of_no_thread_is_not_found,
    a_turn_that_began_before_a_reset_is_kept_for_people_and_not_given_to_the_model,
    a_turn_that_began_under_the_newest_reset_belongs_to_now,
    a_compaction_makes_no_turn_late,
    a_boundary_id_that_is_no_boundary_of_the_thread_is_refused,
    a_late_turn_is_replayed_as_it_was_stored,
}

async fn a_reset_draws_a_boundary_at_the_end_of_the_thread(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let said = server.say(&key, "t", &["hello", "hi"]).await;
    let thread = server.thread_id(&key).await;
    let answer = server.reset(&thread).await;
    assert_eq!(answer.data("/resetThread/drawn"), true);
    assert_eq!(answer.data("/resetThread/thread/messageCount"), 3);
    let boundary = answer.data("/resetThread/boundary");
    assert_eq!(
        boundary["boundary"],
        json!({ "reason": "RESET", "summary": null, "throughMessageId": said[1] })
    );
    assert_eq!(boundary["inContext"], false);

    let list = List::of_thread("support", &thread);
    let page = server.page(&list, 50, None).await;
    assert_eq!(
        page.items
            .iter()
            .map(|item| item["inContext"].as_bool().unwrap())
            .collect::<Vec<_>>(),
        [false; 3]
    );
    assert_eq!(page.items[2]["id"], boundary["id"]);
    let read = server
        .thread(&key, "boundary { id boundary { reason } } lastMessageAt")
        .await;
    assert_eq!(
        read["boundary"],
        json!({ "id": boundary["id"], "boundary": { "reason": "RESET" } })
    );
    assert_eq!(read["lastMessageAt"], page.items[2]["createdAt"]);
}

async fn people_page_to_everything_before_a_reset(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let mut rows = server.say(&key, "t", &["a", "b", "c"]).await;
    let thread = server.thread_id(&key).await;
    let drawn = server.reset(&thread).await;
    rows.push(
        drawn
            .data("/resetThread/boundary/id")
            .as_str()
            .unwrap()
            .to_owned(),
    );
    rows.extend(server.say(&key, "u", &["d"]).await);
    let pages = server.walk(&List::of_thread("support", &thread), 2).await;
    assert_eq!(
        pages.iter().rev().flat_map(|page| page.ids()).collect::<Vec<_>>(),
        rows
    );
}

async fn a_second_reset_draws_nothing(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    server.say(&key, "t", &["hello"]).await;
    let thread = server.thread_id(&key).await;
    let first = server.reset(&thread).await;
    let before = server.thread(&key, "messageCount lastMessageAt").await;
    let second = server.reset(&thread).await;
    assert_eq!(second.data("/resetThread/drawn"), false);
    assert_eq!(
        second.data("/resetThread/boundary"),
        first.data("/resetThread/boundary")
    );
    assert_eq!(server.thread(&key, "messageCount lastMessageAt").await, before);
    server.say(&key, "u", &["more"]).await;
    let third = server.reset(&thread).await;
    assert_eq!(third.data("/resetThread/drawn"), true);
    assert_ne!(
        third.data("/resetThread/boundary/id"),
        first.data("/resetThread/boundary/id")
    );
}

async fn resets_that_race_turns_keep_one_order(db: &Database) {
    let servers = Process::pair(db).await;
    let key = Key::of("p");
    servers[0].say(&key, "t", &["hello"]).await;
    let thread = servers[0].thread_id(&key).await;
    let list = List::of_thread("support", &thread);
    for round in 0..5 {
        let names: Vec<String> = (0..8).map(|n| format!("{round}.{n}")).collect();
        let turns = names
            .iter()
            .enumerate()
            .map(|(n, name)| servers[n % 2].say(&key, name, &["a", "b"]));
        let presses = (0..8).map(|press| servers[press % 2].reset(&thread));
        let (_, pressed) = join(join_all(turns), join_all(presses)).await;
        let drawn = pressed
            .iter()
            .filter(|answer| answer.data("/resetThread/drawn") == true)
            .count();
        let newest = servers[1]
            .page(&list, 16 + i64::try_from(drawn).unwrap(), None)
            .await;
        let boundaries: Vec<bool> = newest
            .items
            .iter()
            .map(|item| item["boundary"].is_object())
            .collect();
        assert_eq!(
            boundaries.iter().filter(|is_boundary| **is_boundary).count(),
            drawn,
            "round {round}"
        );
        assert!(
            !boundaries.windows(2).any(|pair| pair == [true, true]),
            "no line follows a line"
        );
        // None when every press came first and found the line of the round before.
        let last_line = boundaries.iter().rposition(|is_boundary| *is_boundary);
        for (at, item) in newest.items.iter().enumerate() {
            assert_eq!(
                item["inContext"],
                last_line.is_none_or(|line| at > line),
                "round {round}, row {at}"
            );
        }
    }
}

async fn a_reset_of_no_thread_is_not_found(db: &Database) {
    let server = TestServer::start(db).await;
    let answer = server.reset(&id::unused_thread()).await;
    assert_eq!(answer.code(), "NOT_FOUND");
    assert_eq!(answer.body["data"], json!({ "resetThread": null }));
    for id in [
        "",
        "x",
        "msg-018f2b5c-0000-7000-8000-000000000000",
        "chat-",
        "chat-'; DROP TABLE chat",
    ] {
        let code = server.reset(id).await.code().to_owned();
        assert!(
            ["NOT_FOUND", "BAD_USER_INPUT"].contains(&code.as_str()),
            "{id}: {code}"
        );
    }
}

async fn a_turn_that_began_before_a_reset_is_kept_for_people_and_not_given_to_the_model(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    server.say(&key, "t", &["hello"]).await;
    let thread = server.thread_id(&key).await;
    let began = server.context(&key, "").await["boundaryId"].clone();
    assert_eq!(began, Value::Null);
    server.reset(&thread).await.data("/resetThread");

    let late = server
        .append(
            &key,
            &Turn::of_texts("late", &["slow", "answer"]).began_under(None),
        )
        .await;
    assert!(
        late["messages"]
            .as_array()
            .unwrap()
            .iter()
            .all(|message| message["inContext"] == false)
    );
    let fresh = server.say(&key, "fresh", &["new"]).await;
    let list = List::of_thread("support", &thread);
    let page = server.page(&list, 50, None).await;
    assert_eq!(page.texts(), ["hello", "", "slow", "answer", "new"]);
    let in_context: Vec<_> = page
        .items
        .iter()
        .map(|item| item["inContext"].as_bool().unwrap())
        .collect();
    assert_eq!(in_context, [false, false, false, false, true]);
    assert_eq!(
        server
            .page(&List::context_of("support", &thread), 50, None)
            .await
            .ids(),
        fresh
    );
    let context = server.context(&key, "").await;
    assert_eq!(context["messages"].as_array().unwrap().len(), 1);
    assert_eq!(context["truncated"], false);
}

async fn a_turn_that_began_under_the_newest_reset_belongs_to_now(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    server.say(&key, "t", &["hello"]).await;
    let thread = server.thread_id(&key).await;
    let first = server
        .reset(&thread)
        .await
        .data("/resetThread/boundary/id")
        .as_str()
        .unwrap()
        .to_owned();
    let turn = |id: &str| Turn::of_texts(id, &["x"]);
    let given = server.append(&key, &turn("a").began_under(Some(&first))).await;
    assert_eq!(given["messages"][0]["inContext"], true);
    let second = server
        .reset(&thread)
        .await
        .data("/resetThread/boundary/id")
        .as_str()
        .unwrap()
        .to_owned();
    let late = server.append(&key, &turn("b").began_under(Some(&first))).await;
    assert_eq!(late["messages"][0]["inContext"], false);
    let now = server.append(&key, &turn("c").began_under(Some(&second))).await;
    assert_eq!(now["messages"][0]["inContext"], true);
    let left_out = server.append(&key, &turn("d")).await;
    assert_eq!(left_out["messages"][0]["inContext"], true);
}

async fn a_compaction_makes_no_turn_late(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let said = server.say(&key, "t", &["hello", "hi"]).await;
    let thread = server.thread_id(&key).await;
    server
        .compact(&thread, "they said hello", &said[1])
        .await
        .data("/compactThread");
    let turn = server
        .append(&key, &Turn::of_texts("u", &["x"]).began_under(None))
        .await;
    assert_eq!(turn["messages"][0]["inContext"], true);
    assert_eq!(
        server.context(&key, "").await["messages"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

async fn a_boundary_id_that_is_no_boundary_of_the_thread_is_refused(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let said = server.say(&key, "t", &["hello"]).await;
    let other = Key::of("q");
    server.say(&other, "t", &["hello"]).await;
    let elsewhere = server
        .reset(&server.thread_id(&other).await)
        .await
        .data("/resetThread/boundary/id")
        .as_str()
        .unwrap()
        .to_owned();
    let random = id::unused_message();
    for id in [
        &said[0],
        &elsewhere,
        &random,
        "x",
        "",
        "chat-018f2b5c-0000-7000-8000-000000000000",
    ] {
        let answer = server
            .try_append(&key, &Turn::of_texts("u", &["x"]).began_under(Some(id)))
            .await;
        assert_eq!(answer.code(), "BAD_USER_INPUT", "{id}");
        let answer = server
            .try_append(
                &Key::of("new"),
                &Turn::of_texts("u", &["x"]).began_under(Some(id)),
            )
            .await;
        assert_eq!(answer.code(), "BAD_USER_INPUT", "{id}");
    }
    assert_eq!(server.thread(&key, "messageCount").await["messageCount"], 1);
    assert_eq!(server.thread(&Key::of("new"), "id").await, Value::Null);
}

async fn a_late_turn_is_replayed_as_it_was_stored(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    server.say(&key, "t", &["hello"]).await;
    server
        .reset(&server.thread_id(&key).await)
        .await
        .data("/resetThread");
    let turn = Turn::of_texts("late", &["x"]).began_under(None);
    let first = server.append(&key, &turn).await;
    let second = server.append(&key, &turn).await;
    assert_eq!(
        (&second["replayed"], &second["messages"]),
        (&json!(true), &first["messages"])
    );
}
