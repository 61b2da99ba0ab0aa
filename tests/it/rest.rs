//! The three lists over REST.

use serde_json::{Value, json};

use crate::support::{Client, Database, Key, TestServer, Turn, id, on_both};

/// Asserts a problem: its status, its code and its form.
async fn is_a_problem(server: &Client, path: &str, status: u16, code: &str) {
    let answer = server.get(path).await;
    assert_eq!(
        (answer.status, answer.code()),
        (status, code),
        "{path}: {}",
        answer.raw
    );
    assert!(
        answer.content_type.starts_with("application/problem+json"),
        "{path}: {}",
        answer.content_type
    );
    assert_eq!(answer.body["status"], status, "{path}: {}", answer.raw);
}

fn keys(item: &Value) -> Vec<&str> {
    item.as_object().unwrap().keys().map(String::as_str).collect()
}

on_both! {
    a_message_has_these_fields_and_lower_case_enums,
    a_thread_has_these_fields,
    a_limit_that_is_no_integer_of_at_least_1_is_refused,
    an_integer_of_any_size_above_200_is_200,
    an_unknown_or_repeated_parameter_is_refused,
    a_thread_of_another_agent_is_not_found_as_a_random_one_is,
    an_odd_agent_id_in_the_path_is_just_another_agent,
    what_is_no_path_is_404_and_what_is_no_get_is_405,
}

async fn a_message_has_these_fields_and_lower_case_enums(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    let turn = Turn::new("t")
        .says("USER", "hello")
        .costing(3)
        .says("ASSISTANT", "hi")
        .says("TOOL", "x")
        .says("SYSTEM", "y")
        .stopped();
    let stored = server.append(&key, &turn).await;
    let thread = server.thread_id(&key).await;
    server.reset(&thread).await.data("/resetThread");
    for path in [
        "/agents/support/chat/messages".to_owned(),
        format!("/agents/support/chat/threads/{thread}/messages"),
    ] {
        let answer = server.get(&path).await;
        assert_eq!(
            (answer.status, answer.content_type.as_str()),
            (200, "application/json"),
            "{path}"
        );
        assert_eq!(keys(&answer.body), ["items", "nextCursor", "hasMore"]);
        let items = answer.body["items"].as_array().unwrap();
        assert_eq!(
            keys(&items[0]),
            [
                "id",
                "threadId",
                "turnId",
                "role",
                "content",
                "text",
                "tokens",
                "stopped",
                "boundary",
                "inContext",
                "createdAt"
            ]
        );
        let roles: Vec<_> = items.iter().map(|item| item["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["user", "assistant", "tool", "system", "system"]);
        assert_eq!(items[0]["threadId"], thread);
        assert_eq!(
            (&items[0]["tokens"], &items[1]["stopped"], &items[0]["boundary"]),
            (&json!(3), &json!(true), &Value::Null)
        );
        assert_eq!(
            items[4]["boundary"],
            json!({ "reason": "reset", "summary": null, "throughMessageId": stored["messages"][3]["id"] })
        );
        assert_eq!(
            (&items[4]["turnId"], items[4]["content"].to_string().as_str()),
            (&Value::Null, r#"{"parts":[]}"#)
        );
    }
}

async fn a_thread_has_these_fields(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::new("support", "telegram", "p");
    server.say(&key, "t", &["hello", "hi"]).await;
    let answer = server.get("/agents/support/chat/threads").await;
    let item = &answer.body["items"][0];
    assert_eq!(
        keys(item),
        [
            "id",
            "agentId",
            "channel",
            "personId",
            "createdAt",
            "lastMessageAt",
            "messageCount"
        ]
    );
    let thread = server.thread(&key, "id createdAt lastMessageAt").await;
    assert_eq!(
        *item,
        json!({
            "id": thread["id"], "agentId": "support", "channel": "telegram", "personId": "p",
            "createdAt": thread["createdAt"], "lastMessageAt": thread["lastMessageAt"], "messageCount": 2,
        })
    );
}

async fn a_limit_that_is_no_integer_of_at_least_1_is_refused(db: &Database) {
    let server = TestServer::start(db).await;
    let thread = {
        server.say(&Key::of("p"), "t", &["x"]).await;
        server.thread_id(&Key::of("p")).await
    };
    for list in [
        "messages".to_owned(),
        "threads".to_owned(),
        format!("threads/{thread}/messages"),
    ] {
        for limit in [
            "0",
            "-1",
            "",
            "abc",
            "1.0",
            "50.0",
            "1e2",
            "0x10",
            "%205",
            "5%20",
            "null",
            "NaN",
            "-99999999999999999999999",
            "%D9%A5",
            "1_0",
            "1,0",
        ] {
            is_a_problem(
                &server,
                &format!("/agents/support/chat/{list}?limit={limit}"),
                400,
                "BAD_USER_INPUT",
            )
            .await;
        }
    }
}

async fn an_integer_of_any_size_above_200_is_200(db: &Database) {
    let server = TestServer::start(db).await;
    server.say_many(&Key::of("p"), 205).await;
    let thread = server.thread_id(&Key::of("p")).await;
    for list in ["messages".to_owned(), format!("threads/{thread}/messages")] {
        for limit in ["201", "2147483648", "99999999999999999999", &"9".repeat(500)] {
            let answer = server
                .get(&format!("/agents/support/chat/{list}?limit={limit}"))
                .await;
            assert_eq!(
                (answer.status, answer.body["items"].as_array().map(Vec::len)),
                (200, Some(200)),
                "{limit:.30}"
            );
        }
    }
    assert_eq!(
        server
            .get("/agents/support/chat/threads?limit=99999999999999999999")
            .await
            .status,
        200
    );
}

async fn an_unknown_or_repeated_parameter_is_refused(db: &Database) {
    let server = TestServer::start(db).await;
    let thread = {
        server.say(&Key::of("p"), "t", &["x"]).await;
        server.thread_id(&Key::of("p")).await
    };
    for list in [
        "messages".to_owned(),
        "threads".to_owned(),
        format!("threads/{thread}/messages"),
    ] {
        for query in [
            "limits=5",
            "Limit=5",
            "offset=0",
            "limit=5&limit=5",
            "limit=5&foo",
            "cursor=a&cursor=a",
            "limit=5&lim%69t=6",
            "token=x",
            "channel=api",
        ] {
            is_a_problem(
                &server,
                &format!("/agents/support/chat/{list}?{query}"),
                400,
                "BAD_USER_INPUT",
            )
            .await;
        }
    }
}

async fn a_thread_of_another_agent_is_not_found_as_a_random_one_is(db: &Database) {
    let server = TestServer::start(db).await;
    server.say(&Key::of("p"), "t", &["x"]).await;
    let thread = server.thread_id(&Key::of("p")).await;
    let random = id::unused_thread();
    for path in [
        format!("/agents/sales/chat/threads/{thread}/messages"),
        format!("/agents/support/chat/threads/{random}/messages"),
        format!("/agents/sales/chat/threads/{random}/messages"),
        "/agents/support/chat/threads/x/messages".to_owned(),
        format!("/agents/support/chat/threads/{}/messages", thread.to_uppercase()),
        "/agents/support/chat/threads/..%2f..%2fetc%2fpasswd/messages".to_owned(),
    ] {
        is_a_problem(&server, &path, 404, "NOT_FOUND").await;
    }
    let other = server
        .get(&format!("/agents/sales/chat/threads/{thread}/messages"))
        .await
        .raw;
    let none = server
        .get(&format!("/agents/sales/chat/threads/{random}/messages"))
        .await
        .raw;
    assert_eq!(other.replace(&thread, ""), none.replace(&random, ""));
}

async fn an_odd_agent_id_in_the_path_is_just_another_agent(db: &Database) {
    let server = TestServer::start(db).await;
    for (agent, path) in [
        ("a b", "a%20b"),
        ("a/b", "a%2Fb"),
        ("../x", "..%2Fx"),
        ("é😀", "%C3%A9%F0%9F%98%80"),
        ("100%", "100%25"),
        ("a+b", "a+b"),
    ] {
        server.say(&Key::new(agent, "api", "p"), "t", &["hello"]).await;
        let answer = server.get(&format!("/agents/{path}/chat/messages")).await;
        assert_eq!(
            (answer.status, answer.body["items"].as_array().map(Vec::len)),
            (200, Some(1)),
            "{agent}"
        );
        let threads = server.get(&format!("/agents/{path}/chat/threads")).await;
        assert_eq!(threads.body["items"][0]["agentId"], agent);
    }
    let long = "x".repeat(201);
    for path in [long.as_str(), "a%00b", "a%0Ab", "%FF"] {
        let answer = server.get(&format!("/agents/{path}/chat/messages")).await;
        assert_eq!(
            (answer.status, answer.code()),
            (400, "BAD_USER_INPUT"),
            "{path:.10}: {}",
            answer.raw
        );
    }
}

async fn what_is_no_path_is_404_and_what_is_no_get_is_405(db: &Database) {
    let server = TestServer::start(db).await;
    for path in [
        "/agents",
        "/agents/support",
        "/agents/support/chat",
        "/agents/support/chat/messages/1",
        "/nothing",
    ] {
        let answer = server.get(path).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.raw);
    }
    for method in [
        reqwest::Method::POST,
        reqwest::Method::PUT,
        reqwest::Method::DELETE,
        reqwest::Method::PATCH,
    ] {
        let url = server.url("/agents/support/chat/messages");
        let response = server.http().request(method.clone(), url).send().await.unwrap();
        assert_eq!(response.status(), 405, "{method}");
        assert!(response.headers().contains_key("allow"), "{method}");
    }
}
