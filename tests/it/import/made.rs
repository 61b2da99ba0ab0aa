//! History without ids, and history of long ago.

use crate::support::command::{export, import};
use crate::support::{Database, Key, List, Process, on_both};

use super::{line, turns};

on_both! {
    lines_without_ids_land_in_the_threads_past_in_the_files_order,
    history_of_ten_years_ago_finds_its_place,
    many_lines_of_one_instant_keep_the_files_order,
    turns_may_stand_in_any_order_and_between_those_of_other_threads,
}

async fn lines_without_ids_land_in_the_threads_past_in_the_files_order(db: &Database) {
    let key = Key::of("p");
    let server = Process::start(db, &[]).await;
    server.say(&key, "live", &["now", "indeed"]).await;
    let thread = server.thread_id(&key).await;
    let said = |second, text: &str| line(&key, second, &format!(r#""role":"user","text":"{text}""#));
    import(
        db,
        &[said(2, "first"), said(2, "second"), said(7, "third")].concat(),
    )
    .ok();
    import(db, &said(5, "between")).ok();
    let list = List::of_thread(&key.agent, &thread);
    let texts = server.page(&list, 50, None).await.texts();
    assert_eq!(texts, ["first", "second", "between", "third", "now", "indeed"]);
    let thread = server.thread(&key, "messageCount lastMessageAt createdAt").await;
    assert_eq!(thread["messageCount"], 6);
}

async fn history_of_ten_years_ago_finds_its_place(db: &Database) {
    let key = Key::of("p");
    let old = turns(&key, 1..4).replace("2026-03", "2016-03");
    import(db, &[turns(&key, 5..6), old].concat()).ok();
    let server = Process::start(db, &[]).await;
    let page = server.page(&List::of_agent(&key.agent), 50, None).await;
    assert_eq!(page.items.len(), 8);
    assert_eq!(page.items[0]["createdAt"], "2016-03-01T10:00:01.000000Z");
}

async fn many_lines_of_one_instant_keep_the_files_order(db: &Database) {
    let key = Key::of("p");
    let lines: String = (0..2_500)
        .map(|n| line(&key, 3, &format!(r#""role":"user","text":"{n}""#)))
        .collect();
    import(db, &lines).ok();
    let exported = export(db);
    let texts = exported.lines().skip(1).enumerate();
    for (index, line) in texts {
        assert!(line.contains(&format!("\"text\":\"{index}\"")), "{line}");
    }
    import(db, &lines).ok();
    assert_eq!(export(db), exported);
}

async fn turns_may_stand_in_any_order_and_between_those_of_other_threads(db: &Database) {
    let (one, other) = (Key::of("p1"), Key::of("p2"));
    let (ones, others) = (turns(&one, [30, 20, 10]), turns(&other, [1, 3, 2]));
    let mixed: String = ones
        .lines()
        .zip(others.lines())
        .flat_map(|(one, other)| [one, "\n", other, "\n"])
        .collect();
    import(db, &mixed).ok();
    let server = Process::start(db, &[]).await;
    let list = List::of_thread(&one.agent, &server.thread_id(&one).await);
    let texts = server.page(&list, 50, None).await.texts();
    let expected = [10, 20, 30].map(|n| [format!("question {n}"), format!("answer {n}")]);
    assert_eq!(texts, expected.concat());
}
