//! What the model is given: whole turns within a budget, every tool call with its result.

mod tools;

use serde_json::{Value, json};

use crate::support::{Database, Key, TestServer, Turn, on_both};

/// The turn ids of a context, each run named once.
fn turns(context: &Value) -> Vec<&str> {
    let mut turns: Vec<&str> = context["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["turnId"].as_str().unwrap())
        .collect();
    turns.dedup();
    turns
}

fn costing(id: &str, tokens: &[i32]) -> Turn {
    tokens.iter().fold(Turn::new(id), |turn, tokens| {
        turn.says("USER", "x").costing(*tokens)
    })
}

on_both! {
    a_context_is_the_whole_thread_while_there_is_no_boundary,
    the_newest_whole_turns_that_fit_the_tokens_are_given_oldest_first,
    a_newer_turn_that_does_not_fit_hides_the_older_ones,
    the_newest_whole_turns_that_fit_the_limit_are_given,
    a_context_holds_200_messages_at_most,
    a_message_that_did_not_say_is_estimated_at_one_token_for_4_bytes,
    the_summary_counts_in_the_budget,
    a_budget_under_1_is_refused,
    a_context_is_truncated_only_by_turns_after_the_boundary,
}

async fn a_context_is_the_whole_thread_while_there_is_no_boundary(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    for id in ["a", "b", "c"] {
        server.append(&key, &costing(id, &[5, 5])).await;
    }
    let context = server.context(&key, "").await;
    assert_eq!(turns(&context), ["a", "b", "c"]);
    assert_eq!(
        (&context["tokens"], &context["truncated"]),
        (&json!(30), &json!(false))
    );
    assert_eq!(
        (&context["summary"], &context["boundaryId"]),
        (&Value::Null, &Value::Null)
    );
}

async fn the_newest_whole_turns_that_fit_the_tokens_are_given_oldest_first(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    for id in ["a", "b", "c"] {
        server.append(&key, &costing(id, &[4, 6])).await;
    }
    for (budget, expected) in [
        (9, vec![]),
        (10, vec!["c"]),
        (19, vec!["c"]),
        (20, vec!["b", "c"]),
        (29, vec!["b", "c"]),
        (30, vec!["a", "b", "c"]),
    ] {
        let context = server.context(&key, &format!("(maxTokens: {budget})")).await;
        assert_eq!(turns(&context), expected, "{budget} tokens");
        assert_eq!(context["tokens"], expected.len() * 10, "{budget} tokens");
        assert_eq!(context["truncated"], expected.len() < 3, "{budget} tokens");
    }
}

async fn a_newer_turn_that_does_not_fit_hides_the_older_ones(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    server.append(&key, &costing("small", &[1])).await;
    server.append(&key, &costing("large", &[50, 50])).await;
    let context = server.context(&key, "(maxTokens: 60)").await;
    assert_eq!((turns(&context), &context["truncated"]), (vec![], &json!(true)));
}

async fn the_newest_whole_turns_that_fit_the_limit_are_given(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    for id in ["a", "b", "c"] {
        server.say(&key, id, &["1", "2", "3"]).await;
    }
    for (limit, expected) in [
        (1, vec![]),
        (2, vec![]),
        (3, vec!["c"]),
        (5, vec!["c"]),
        (6, vec!["b", "c"]),
        (9, vec!["a", "b", "c"]),
    ] {
        let context = server.context(&key, &format!("(limit: {limit})")).await;
        assert_eq!(turns(&context), expected, "limit {limit}");
        assert_eq!(context["truncated"], expected.len() < 3, "limit {limit}");
    }
}

async fn a_context_holds_200_messages_at_most(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    for turn in 0..2 {
        server.say(&key, &format!("t{turn}"), &["x"; 100]).await;
    }
    let full = server.context(&key, "").await;
    assert_eq!(
        (full["messages"].as_array().unwrap().len(), &full["truncated"]),
        (200, &json!(false))
    );
    server.say(&key, "one more", &["x"]).await;
    for arguments in [
        "",
        "(limit: 201)",
        "(limit: 2147483647)",
        "(maxTokens: 2147483647)",
    ] {
        let context = server.context(&key, arguments).await;
        assert_eq!(
            (
                context["messages"].as_array().unwrap().len(),
                &context["truncated"]
            ),
            (101, &json!(true)),
            "{arguments}"
        );
    }
}

async fn a_message_that_did_not_say_is_estimated_at_one_token_for_4_bytes(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let turn = Turn::new("t")
        .says("USER", "hello, you")
        .says("ASSISTANT", "hi")
        .costing(3);
    let stored = server.append(&key, &turn).await;
    let estimate = stored["messages"][0]["content"].to_string().len().div_ceil(4);
    let context = server
        .context(&key, &format!("(maxTokens: {})", estimate + 3))
        .await;
    assert_eq!((turns(&context), &context["tokens"]), (vec!["t"], &Value::Null));
    let context = server
        .context(&key, &format!("(maxTokens: {})", estimate + 2))
        .await;
    assert_eq!((turns(&context), &context["truncated"]), (vec![], &json!(true)));
}

async fn the_summary_counts_in_the_budget(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let old = server.say(&key, "old", &["x"]).await;
    let summary = "s".repeat(41);
    server
        .compact(&server.thread_id(&key).await, &summary, &old[0])
        .await
        .data("/compactThread");
    server.append(&key, &costing("new", &[10])).await;
    let context = server.context(&key, "(maxTokens: 21)").await;
    assert_eq!(
        (turns(&context), context["summary"].as_str()),
        (vec!["new"], Some(summary.as_str()))
    );
    assert_eq!(
        (&context["tokens"], &context["truncated"]),
        (&json!(10), &json!(false))
    );
    let context = server.context(&key, "(maxTokens: 20)").await;
    assert_eq!(
        (
            turns(&context),
            context["summary"].as_str(),
            &context["truncated"]
        ),
        (vec![], Some(summary.as_str()), &json!(true))
    );
    // A budget too small for the summary still holds.
    let context = server.context(&key, "(maxTokens: 10)").await;
    assert_eq!(
        (turns(&context), &context["summary"], &context["truncated"]),
        (vec![], &Value::Null, &json!(true))
    );
}

async fn a_budget_under_1_is_refused(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    server.say(&key, "t", &["x"]).await;
    for arguments in ["(limit: 0)", "(limit: -1)", "(maxTokens: 0)", "(maxTokens: -1)"] {
        let query = format!(
            "query($key: ThreadKeyInput!) {{ threadByKey(key: $key) {{ id context{arguments} {{ truncated }} }} }}"
        );
        let answer = server.graphql(&query, json!({ "key": key.json() })).await;
        assert_eq!(answer.code(), "BAD_USER_INPUT", "{arguments}");
        assert!(answer.body["data"]["threadByKey"]["context"].is_null());
        assert!(
            answer.body["data"]["threadByKey"]["id"].is_string(),
            "its siblings are answered: {}",
            answer.raw
        );
    }
}

async fn a_context_is_truncated_only_by_turns_after_the_boundary(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    server.say(&key, "old", &["x"; 50]).await;
    server
        .reset(&server.thread_id(&key).await)
        .await
        .data("/resetThread");
    server
        .append(&key, &Turn::of_texts("late", &["x", "y"]).began_under(None))
        .await;
    server.say(&key, "new", &["1", "2"]).await;
    let context = server.context(&key, "(limit: 2)").await;
    assert_eq!(
        (turns(&context), &context["truncated"]),
        (vec!["new"], &json!(false))
    );
}
