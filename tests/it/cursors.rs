//! Cursors: good for one list of one viewer, refused to the bit for anything else.

use serde_json::Value;

use crate::support::{Client, Database, Key, List, Process, TestServer, on_both};

/// A list with a page, its cursor and the ids of the page behind it.
async fn a_cursor(server: &Client, list: &List) -> (String, Vec<String>) {
    let page = server.page(list, 3, None).await;
    let cursor = page.next_cursor.expect("there is more");
    let behind = server.page(list, 3, Some(&cursor)).await;
    (cursor, behind.ids())
}

async fn is_refused(server: &Client, list: &List, cursor: &str) {
    let answer = server.try_page(list, 3, Some(cursor)).await;
    assert_eq!(
        answer.code(),
        "INVALID_CURSOR",
        "{list:?} {cursor:?}: {}",
        answer.raw
    );
    let page = answer.body["data"].pointer(list.pointer());
    assert!(page.is_some_and(Value::is_null), "{}", answer.raw);
}

async fn is_refused_by_rest(server: &Client, list: &List, cursor: &str) {
    let mut url: reqwest::Url = server.url(&list.path(3, None)).parse().unwrap();
    url.query_pairs_mut().append_pair("cursor", cursor);
    let response = server.http().get(url).send().await.unwrap();
    let status = response.status();
    let text = response.text().await.unwrap();
    assert_eq!(status, 400, "{cursor:?}: {text}");
    assert!(text.contains("\"INVALID_CURSOR\""), "{cursor:?}: {text}");
}

on_both! {
    a_cursor_with_any_one_bit_changed_is_refused,
    a_cursor_spelled_in_another_way_is_refused,
    a_cursor_of_another_list_is_refused,
    a_cursor_is_good_in_rest_and_graphql_for_the_same_list,
    an_empty_cursor_is_refused_and_a_null_one_is_none,
    a_cursor_lives_through_a_restart_and_is_good_at_another_process,
    a_cursor_leads_to_the_same_rows_after_more_messages_came,
    the_limit_may_change_between_pages,
    a_cursor_of_a_server_with_another_key_is_refused_and_a_rotated_one_is_good,
}

async fn a_cursor_with_any_one_bit_changed_is_refused(db: &Database) {
    let server = TestServer::start(db).await;
    server.say_many(&Key::of("p"), 10).await;
    let list = List::of_agent("support");
    let (cursor, behind) = a_cursor(&server, &list).await;
    assert!(cursor.len() <= 256);
    let mut tried = 0;
    for bit in 0..cursor.len() * 8 {
        let mut bytes = cursor.clone().into_bytes();
        bytes[bit / 8] ^= 1 << (bit % 8);
        // A changed high bit is no text any more; nothing but text can be sent.
        if let Ok(changed) = String::from_utf8(bytes) {
            is_refused(&server, &list, &changed).await;
            is_refused_by_rest(&server, &list, &changed).await;
            tried += 1;
        }
    }
    assert_eq!(tried, cursor.len() * 7);
    assert_eq!(server.page(&list, 3, Some(&cursor)).await.ids(), behind);
}

async fn a_cursor_spelled_in_another_way_is_refused(db: &Database) {
    let server = TestServer::start(db).await;
    server.say_many(&Key::of("p"), 10).await;
    let list = List::of_agent("support");
    let (cursor, _) = a_cursor(&server, &list).await;
    let mut others = vec![
        String::new(),
        " ".to_owned(),
        "0".to_owned(),
        "null".to_owned(),
        "x".repeat(257),
        "A".repeat(10_000),
        format!("{cursor}A"),
        format!("{cursor}="),
        format!("{cursor}=="),
        format!("{cursor}\0"),
        format!("{cursor} "),
        format!(" {cursor}"),
        format!("{cursor}\n"),
        format!("A{cursor}"),
        format!("{cursor}{cursor}"),
        cursor[1..].to_owned(),
        cursor[..cursor.len() - 1].to_owned(),
        cursor.to_lowercase(),
        cursor.to_uppercase(),
        cursor.chars().rev().collect(),
        format!("\u{feff}{cursor}"),
    ];
    let standard = cursor.replace('-', "+").replace('_', "/");
    if standard != cursor {
        others.push(standard);
    }
    // The last character of base64 has bits that no byte uses.
    let last = cursor.chars().last().unwrap();
    others.extend(
        ('a'..='z')
            .chain('A'..='Z')
            .chain('0'..='9')
            .chain(['-', '_'])
            .filter(|c| *c != last)
            .map(|c| format!("{}{c}", &cursor[..cursor.len() - 1])),
    );
    for other in &others {
        is_refused(&server, &list, other).await;
        is_refused_by_rest(&server, &list, other).await;
    }
}

async fn a_cursor_of_another_list_is_refused(db: &Database) {
    let server = TestServer::start(db).await;
    for agent in ["support", "sales"] {
        for channel in ["api", "widget"] {
            for person in ["a", "b", "c", "d", "e"] {
                server.say_many(&Key::new(agent, channel, person), 8).await;
            }
        }
    }
    let thread = server.thread_id(&Key::new("support", "api", "a")).await;
    let other_thread = server.thread_id(&Key::new("support", "api", "b")).await;
    let lists = [
        List::of_agent("support"),
        List::of_agent("sales"),
        List::threads("support"),
        List::threads("sales"),
        List::threads_by("support", "orderBy: ACTIVITY"),
        List::threads_by("support", "channel: \"api\""),
        List::threads_by("support", "channel: \"widget\""),
        List::threads_by("support", "channel: \"api\", orderBy: ACTIVITY"),
        List::of_thread("support", &thread),
        List::context_of("support", &thread),
        List::of_thread("support", &other_thread),
    ];
    for (at, made_for) in lists.iter().enumerate() {
        let (cursor, behind) = a_cursor(&server, made_for).await;
        for (other, used_for) in lists.iter().enumerate() {
            if at == other {
                assert_eq!(server.page(used_for, 3, Some(&cursor)).await.ids(), behind);
            } else {
                is_refused(&server, used_for, &cursor).await;
            }
        }
    }
}

async fn a_cursor_is_good_in_rest_and_graphql_for_the_same_list(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    server.say_many(&key, 10).await;
    for person in ["a", "b", "c", "d"] {
        server.say_many(&Key::of(person), 1).await;
    }
    let thread = server.thread_id(&key).await;
    for list in [
        List::of_agent("support"),
        List::threads("support"),
        List::of_thread("support", &thread),
    ] {
        let by_rest = server.rest_page(&list, 3, None).await.next_cursor;
        let by_graphql = server.page(&list, 3, None).await.next_cursor;
        let expected = server.page(&list, 3, by_graphql.as_deref()).await.ids();
        assert_eq!(server.page(&list, 3, by_rest.as_deref()).await.ids(), expected);
        assert_eq!(
            server.rest_page(&list, 3, by_graphql.as_deref()).await.ids(),
            expected
        );
    }
}

async fn an_empty_cursor_is_refused_and_a_null_one_is_none(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    server.say_many(&key, 5).await;
    let thread = server.thread_id(&key).await;
    for list in [
        List::of_agent("support"),
        List::threads("support"),
        List::of_thread("support", &thread),
    ] {
        is_refused(&server, &list, "").await;
        is_refused_by_rest(&server, &list, "").await;
        let newest = server.page(&list, 3, None).await;
        let query = list
            .query()
            .replace("cursor: $cursor", "cursor: null")
            .replace(", $cursor: String", "");
        let mut variables = list.variables(3, None);
        variables.as_object_mut().unwrap().shift_remove("cursor");
        let answer = server.graphql(&query, variables).await;
        assert_eq!(crate::support::Page::new(answer.data(list.pointer())), newest);
    }
}

async fn a_cursor_lives_through_a_restart_and_is_good_at_another_process(db: &Database) {
    let list = List::of_agent("support");
    let mut one = Process::start(db, &[]).await;
    one.say_many(&Key::of("p"), 10).await;
    let (cursor, behind) = a_cursor(&one, &list).await;
    let other = Process::start(db, &[]).await;
    assert_eq!(other.page(&list, 3, Some(&cursor)).await.ids(), behind);
    one.kill9();
    drop(other);
    let again = Process::start(db, &[]).await;
    assert_eq!(again.page(&list, 3, Some(&cursor)).await.ids(), behind);
}

async fn a_cursor_leads_to_the_same_rows_after_more_messages_came(db: &Database) {
    let server = TestServer::start(db).await;
    let key = Key::of("p");
    server.say_many(&key, 10).await;
    let list = List::of_thread("support", &server.thread_id(&key).await);
    let (cursor, behind) = a_cursor(&server, &list).await;
    for turn in 0..5 {
        server.say(&key, &format!("later {turn}"), &["x", "y"]).await;
    }
    server
        .reset(&server.thread_id(&key).await)
        .await
        .data("/resetThread");
    assert_eq!(server.page(&list, 3, Some(&cursor)).await.ids(), behind);
}

async fn the_limit_may_change_between_pages(db: &Database) {
    let server = TestServer::start(db).await;
    let said = server.say_many(&Key::of("p"), 20).await;
    let list = List::of_agent("support");
    let mut read = Vec::new();
    let mut cursor = None;
    for limit in [1, 2, 3, 5, 200] {
        let page = server.page(&list, limit, cursor.as_deref()).await;
        read.splice(0..0, page.ids());
        cursor = page.next_cursor;
    }
    assert_eq!((read, cursor), (said, None));
}

async fn a_cursor_of_a_server_with_another_key_is_refused_and_a_rotated_one_is_good(db: &Database) {
    let list = List::of_agent("support");
    let old = Process::start_with_env(
        db,
        &[(
            "THREADLINE_CURSOR_SECRETS",
            "an old secret of the server that is long enough",
        )],
    )
    .await;
    old.say_many(&Key::of("p"), 10).await;
    let (cursor, behind) = a_cursor(&old, &list).await;
    let rotated = Process::start_with_env(
        db,
        &[(
            "THREADLINE_CURSOR_SECRETS",
            "a new secret of the server that is long enough,an old secret of the server that is long enough",
        )],
    )
    .await;
    assert_eq!(rotated.page(&list, 3, Some(&cursor)).await.ids(), behind);
    let (new_cursor, _) = a_cursor(&rotated, &list).await;
    is_refused(&old, &list, &new_cursor).await;
    let unset = Process::start(db, &[]).await;
    is_refused(&unset, &list, &cursor).await;
}
