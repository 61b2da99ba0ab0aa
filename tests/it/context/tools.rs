//! Tool calls and their results, in pairs.

use serde_json::{Value, json};

use super::turns;
use crate::content::holds;
use crate::support::{Database, Key, List, TestServer, Turn, on_both, text_part};

fn call(id: &str) -> Value {
    json!({ "type": "tool-call", "toolCallId": id, "toolName": "weather", "input": {} })
}

fn result(id: &str) -> Value {
    json!({ "type": "tool-result", "toolCallId": id, "toolName": "weather", "output": 21 })
}

/// The types and call ids of the parts of each message of a context.
fn shown(context: &Value) -> Vec<Vec<String>> {
    let part = |part: &Value| match part["toolCallId"].as_str() {
        Some(id) => format!("{} {id}", part["type"].as_str().unwrap()),
        None => part["text"].as_str().unwrap().to_owned(),
    };
    let messages = context["messages"].as_array().unwrap();
    messages
        .iter()
        .map(|message| {
            message["content"]["parts"]
                .as_array()
                .unwrap()
                .iter()
                .map(part)
                .collect()
        })
        .collect()
}

on_both! {
    a_call_and_its_result_are_given,
    a_call_without_a_result_is_left_out_and_an_emptied_message_with_it,
    a_result_without_its_call_is_left_out,
    a_result_before_its_call_is_no_pair,
    a_pair_across_turns_is_given_while_both_turns_are,
    a_pair_cut_by_a_compaction_is_left_out,
    the_other_keys_and_digits_of_a_message_that_loses_a_part_stay,
}

async fn a_call_and_its_result_are_given(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let turn = Turn::new("t")
        .says("USER", "weather?")
        .with_parts(
            "ASSISTANT",
            json!([text_part("let me see"), call("1"), call("2")]),
        )
        .with_parts("TOOL", json!([result("2"), result("1")]))
        .says("ASSISTANT", "21°");
    server.append(&key, &turn).await;
    let expected: [&[&str]; 4] = [
        &["weather?"],
        &["let me see", "tool-call 1", "tool-call 2"],
        &["tool-result 2", "tool-result 1"],
        &["21°"],
    ];
    assert_eq!(shown(&server.context(&key, "").await), expected);
}

async fn a_call_without_a_result_is_left_out_and_an_emptied_message_with_it(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let turn = Turn::new("t")
        .says("USER", "weather?")
        .with_parts(
            "ASSISTANT",
            json!([text_part("let me see"), call("1"), call("2")]),
        )
        .with_parts("TOOL", json!([result("1")]))
        .with_parts("ASSISTANT", json!([call("3")]))
        .stopped();
    server.append(&key, &turn).await;
    let context = server.context(&key, "").await;
    let expected: [&[&str]; 3] = [&["weather?"], &["let me see", "tool-call 1"], &["tool-result 1"]];
    assert_eq!(shown(&context), expected);

    // What is stored stays as it is, and so does the view.
    let thread = server.thread_id(&key).await;
    for list in [
        List::of_thread("support", &thread),
        List::context_of("support", &thread),
    ] {
        let page = server.page(&list, 50, None).await;
        assert_eq!(page.items.len(), 4);
        assert_eq!(page.items[1]["content"]["parts"].as_array().unwrap().len(), 3);
        assert!(page.items.iter().all(|item| item["inContext"] == true));
    }
}

async fn a_result_without_its_call_is_left_out(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    server
        .append(
            &key,
            &Turn::new("t")
                .with_parts("TOOL", json!([result("9")]))
                .says("ASSISTANT", "hm"),
        )
        .await;
    server
        .append(
            &key,
            &Turn::new("u").with_parts("TOOL", json!([result("8"), text_part("note")])),
        )
        .await;
    let expected: [&[&str]; 2] = [&["hm"], &["note"]];
    assert_eq!(shown(&server.context(&key, "").await), expected);
}

async fn a_result_before_its_call_is_no_pair(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let turn = Turn::new("t")
        .says("USER", "x")
        .with_parts("TOOL", json!([result("1")]))
        .with_parts("ASSISTANT", json!([call("1")]));
    server.append(&key, &turn).await;
    assert_eq!(shown(&server.context(&key, "").await), [["x"]]);
}

async fn a_pair_across_turns_is_given_while_both_turns_are(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    server
        .append(
            &key,
            &Turn::new("ask")
                .says("USER", "weather?")
                .with_parts("ASSISTANT", json!([call("1")])),
        )
        .await;
    server
        .append(
            &key,
            &Turn::new("answer")
                .with_parts("TOOL", json!([result("1")]))
                .says("ASSISTANT", "21°"),
        )
        .await;
    let both = server.context(&key, "").await;
    assert_eq!(
        (turns(&both), shown(&both).concat().len()),
        (vec!["ask", "answer"], 4)
    );
    let newer = server.context(&key, "(limit: 3)").await;
    assert_eq!(turns(&newer), ["answer"]);
    assert_eq!(shown(&newer), [["21°"]]);
}

async fn a_pair_cut_by_a_compaction_is_left_out(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let asked = server
        .append(
            &key,
            &Turn::new("ask").with_parts("ASSISTANT", json!([call("1")])),
        )
        .await;
    server
        .append(
            &key,
            &Turn::new("answer")
                .with_parts("TOOL", json!([result("1")]))
                .says("ASSISTANT", "21°"),
        )
        .await;
    let through = asked["messages"][0]["id"].as_str().unwrap();
    server
        .compact(&server.thread_id(&key).await, "asked about the weather", through)
        .await
        .data("/compactThread");
    assert_eq!(shown(&server.context(&key, "").await), [["21°"]]);
}

async fn the_other_keys_and_digits_of_a_message_that_loses_a_part_stay(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let content = r#"{"z":1.0,"parts":[{"type":"tool-call","toolCallId":"1","toolName":"x","input":0},{"type":"text","text":"t","n":1e400}],"a":12345678901234567890}"#;
    server
        .try_append_json(&key, "t", &[content])
        .await
        .data("/appendTurn");
    let thread = server.thread_id(&key).await;
    let query = "query($id: ID!) { thread(id: $id) { context { messages { content text } } } }";
    let answer = server.graphql(query, json!({ "id": thread })).await;
    let left = r#"{"z":1.0,"parts":[{"type":"text","text":"t","n":1e400}],"a":12345678901234567890}"#;
    assert!(holds(&answer, left), "{}", answer.raw);
    assert_eq!(answer.data("/thread/context/messages/0/text"), "t");
}
