//! Compaction: a summary instead of the older turns, as far as the model goes.

use serde_json::{Value, json};

use crate::support::{Database, Key, List, TestServer, id, on_both};

on_both! {
    a_summary_takes_the_place_of_the_older_turns,
    only_the_last_message_of_a_turn_can_be_compacted_through,
    a_compaction_goes_further_than_the_present_boundary,
    another_threads_message_conflicts_as_a_random_id_does,
    a_blank_summary_is_refused,
    a_summary_may_be_any_text_that_is_not_blank,
    a_compaction_of_no_thread_is_not_found,
    a_reset_right_after_a_compaction_draws,
    a_thread_may_be_compacted_whole,
}

async fn a_summary_takes_the_place_of_the_older_turns(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let old = server.say(&key, "t", &["hello", "hi"]).await;
    let kept = server.say(&key, "u", &["and", "so on"]).await;
    let thread = server.thread_id(&key).await;
    let answer = server.compact(&thread, "they said hello", &old[1]).await;
    let row = answer.data("/compactThread/boundary");
    assert_eq!(
        row["boundary"],
        json!({ "reason": "COMPACTION", "summary": "they said hello", "throughMessageId": old[1] })
    );
    assert_eq!(
        (&row["role"], &row["turnId"], &row["text"], &row["inContext"]),
        (&json!("SYSTEM"), &Value::Null, &json!(""), &json!(false))
    );
    assert_eq!(row["content"].to_string(), r#"{"parts":[]}"#);
    assert_eq!(answer.data("/compactThread/thread/messageCount"), 5);

    let context = server.context(&key, "").await;
    assert_eq!(context["summary"], "they said hello");
    assert_eq!(context["boundaryId"], row["id"]);
    assert_eq!(crate::support::client::ids(&context["messages"]), kept);
    let page = server.page(&List::of_thread("support", &thread), 50, None).await;
    assert_eq!(
        page.items
            .iter()
            .map(|item| item["inContext"].as_bool().unwrap())
            .collect::<Vec<_>>(),
        [false, false, true, true, false]
    );
    assert_eq!(
        server
            .page(&List::context_of("support", &thread), 50, None)
            .await
            .ids(),
        kept
    );
}

async fn only_the_last_message_of_a_turn_can_be_compacted_through(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let said = server.say(&key, "t", &["a", "b", "c"]).await;
    let thread = server.thread_id(&key).await;
    for through in &said[..2] {
        assert_eq!(server.compact(&thread, "s", through).await.code(), "CONFLICT");
    }
    server
        .compact(&thread, "s", &said[2])
        .await
        .data("/compactThread");
}

async fn a_compaction_goes_further_than_the_present_boundary(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let mut last = Vec::new();
    for turn in ["t", "u", "v", "w"] {
        last.push(server.say(&key, turn, &["x", "y"]).await.remove(1));
    }
    let thread = server.thread_id(&key).await;
    let first = server.compact(&thread, "one", &last[1]).await;
    let boundary = first
        .data("/compactThread/boundary/id")
        .as_str()
        .unwrap()
        .to_owned();
    for through in [&last[0], &last[1], &boundary] {
        assert_eq!(
            server.compact(&thread, "two", through).await.code(),
            "CONFLICT",
            "{through}"
        );
    }
    server
        .compact(&thread, "two", &last[2])
        .await
        .data("/compactThread");
    let context = server.context(&key, "").await;
    assert_eq!(
        (&context["summary"], context["messages"].as_array().unwrap().len()),
        (&json!("two"), 2)
    );
    server.reset(&thread).await.data("/resetThread");
    assert_eq!(
        server.compact(&thread, "three", &last[3]).await.code(),
        "CONFLICT"
    );
    assert_eq!(server.thread(&key, "messageCount").await["messageCount"], 11);
}

async fn another_threads_message_conflicts_as_a_random_id_does(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    server.say(&key, "t", &["a"]).await;
    let elsewhere = server.say(&Key::of("q"), "t", &["a"]).await.remove(0);
    let thread = server.thread_id(&key).await;
    let random = id::unused_message();
    let answers = [
        server.compact(&thread, "s", &elsewhere).await,
        server.compact(&thread, "s", &random).await,
    ];
    assert_eq!([answers[0].code(), answers[1].code()], ["CONFLICT"; 2]);
    assert_eq!(answers[0].raw, answers[1].raw);
}

async fn a_blank_summary_is_refused(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let said = server.say(&key, "t", &["a"]).await;
    let thread = server.thread_id(&key).await;
    for summary in ["", " ", "\n\t \u{a0}"] {
        assert_eq!(
            server.compact(&thread, summary, &said[0]).await.code(),
            "BAD_USER_INPUT",
            "{summary:?}"
        );
    }
    assert_eq!(
        server.thread(&key, "boundary { id } messageCount").await,
        json!({ "boundary": null, "messageCount": 1 })
    );
}

async fn a_summary_may_be_any_text_that_is_not_blank(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    for (turn, summary) in [
        "\u{0}a\u{1}",
        "'; DROP TABLE chat; --",
        "é😀\u{202e}\u{feff}",
        "  two\nlines ",
        &"s".repeat(256 * 1024),
    ]
    .into_iter()
    .enumerate()
    {
        let said = server.say(&key, &format!("t{turn}"), &["a"]).await;
        let answer = server
            .compact(&server.thread_id(&key).await, summary, &said[0])
            .await;
        assert_eq!(answer.data("/compactThread/boundary/boundary/summary"), summary);
        assert_eq!(server.context(&key, "").await["summary"], summary);
        let list = List::of_agent("support");
        let boundary = server.rest_page(&list, 1, None).await.items.remove(0);
        assert_eq!(boundary["boundary"]["summary"], summary);
    }
}

async fn a_compaction_of_no_thread_is_not_found(db: &Database) {
    let server = TestServer::start(db).await;
    let said = server.say(&Key::of("p"), "t", &["a"]).await;
    let random = id::unused_thread();
    let answer = server.compact(&random, "s", &said[0]).await;
    assert_eq!(answer.code(), "NOT_FOUND");
    assert_eq!(answer.body["data"], json!({ "compactThread": null }));
}

async fn a_reset_right_after_a_compaction_draws(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let said = server.say(&key, "t", &["a"]).await;
    let thread = server.thread_id(&key).await;
    let compacted = server.compact(&thread, "s", &said[0]).await;
    let reset = server.reset(&thread).await;
    assert_eq!(reset.data("/resetThread/drawn"), true);
    let through = reset.data("/resetThread/boundary/boundary/throughMessageId");
    assert_eq!(
        through,
        compacted.data("/compactThread/boundary/id"),
        "everything before itself"
    );
    let context = server.context(&key, "").await;
    assert_eq!(
        (&context["summary"], &context["messages"]),
        (&Value::Null, &json!([]))
    );
    assert_eq!(context["boundaryId"], *reset.data("/resetThread/boundary/id"));
}

async fn a_thread_may_be_compacted_whole(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let said = server.say(&key, "t", &["a", "b"]).await;
    server
        .compact(&server.thread_id(&key).await, "all of it", &said[1])
        .await
        .data("/compactThread");
    let context = server.context(&key, "").await;
    assert_eq!(
        (&context["summary"], &context["messages"], &context["truncated"]),
        (&json!("all of it"), &json!([]), &json!(false))
    );
}
