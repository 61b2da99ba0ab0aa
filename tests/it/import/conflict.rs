//! What cannot be imported changes nothing, and its line is named.

use crate::support::command::{export, import};
use crate::support::{Database, Key, Process, Turn, id, on_both};

use super::{line, turns};

on_both! {
    a_bad_line_at_the_end_changes_nothing,
    a_turn_that_is_stored_with_another_body_is_refused_with_its_line,
    a_turn_may_not_part_one_that_is_stored,
    time_may_not_go_back_along_what_is_stored,
    turns_of_one_file_may_not_part_each_other,
    a_threads_id_may_not_be_another_threads,
}

async fn a_bad_line_at_the_end_changes_nothing(db: &Database) {
    let key = Key::of("p");
    let good = turns(&key, 1..1500);
    for (bad, what) in [
        ("{\"type\":\"message\"}\n".to_owned(), "agentId is missing"),
        (
            line(&key, 3000, r#""role":"user","text":"x","colour":"red""#),
            "colour is no field",
        ),
        (
            line(
                &key,
                3000,
                r#""role":"user","content":{"parts":[{"type":"log"}]}"#,
            ),
            "telemetry",
        ),
        ("{\"type\":".to_owned(), "line 2999"),
    ] {
        let said = import(db, &(good.clone() + &bad)).refused(1);
        assert!(said.contains("line 2999") && said.contains(what), "{said}");
        assert!(said.contains("nothing was imported"), "{said}");
        assert_eq!(export(db), "");
    }
}

async fn a_turn_that_is_stored_with_another_body_is_refused_with_its_line(db: &Database) {
    let (key, other) = (Key::of("p"), Key::of("q"));
    let server = Process::start(db, &[]).await;
    server
        .append(&key, &Turn::of_texts("t2", &["question 2", "something else"]))
        .await;
    let before = export(db);
    let said = import(db, &(turns(&other, 1..1200) + &turns(&key, [1, 2, 3]))).refused(1);
    assert!(
        said.contains("line 2401") && said.contains("another body"),
        "{said}"
    );
    assert_eq!(export(db), before);
}

async fn a_turn_may_not_part_one_that_is_stored(db: &Database) {
    let key = Key::of("p");
    let message = |turn: &str, second| {
        line(
            &key,
            second,
            &format!(r#""turnId":"{turn}","role":"user","text":"{second}""#),
        )
    };
    import(db, &(message("t1", 10) + &message("t1", 30))).ok();
    let before = export(db);
    for lines in [
        message("t2", 5) + &message("t3", 20),
        message("t2", 5) + &message("t3", 20) + &message("t3", 40),
        message("t2", 5) + &message("t3", 6) + &message("t3", 20),
        message("t2", 5) + &line(&key, 20, r#""boundary":{"reason":"reset"}"#),
    ] {
        let said = import(db, &lines).refused(1);
        assert!(said.contains("line 2") && said.contains("part"), "{said}");
        assert_eq!(export(db), before);
    }
    import(db, &(message("t2", 5) + &message("t3", 40))).ok();
}

async fn time_may_not_go_back_along_what_is_stored(db: &Database) {
    let key = Key::of("p");
    let server = Process::start(db, &[]).await;
    let ids = server.say(&key, "live", &["a"]).await;
    let before = export(db);
    // An id right after the newest message, and a time long before it.
    let after = format!("{}{:x}", &ids[0][..ids[0].len() - 1], 15);
    if after == ids[0] {
        return;
    }
    let said = import(
        db,
        &line(&key, 1, &format!(r#""id":"{after}","role":"user","text":"x""#)),
    )
    .refused(1);
    assert!(said.contains("line 1") && said.contains("createdAt"), "{said}");
    let future = id::unused_message().replace("msg-0", "msg-1");
    let said = import(
        db,
        &line(&key, 1, &format!(r#""id":"{future}","role":"user","text":"x""#)),
    )
    .refused(1);
    assert!(said.contains("future"), "{said}");
    assert_eq!(export(db), before);
}

async fn turns_of_one_file_may_not_part_each_other(db: &Database) {
    let key = Key::of("p");
    let message = |turn: &str, second| {
        line(
            &key,
            second,
            &format!(r#""turnId":"{turn}","role":"user","text":"{second}""#),
        )
    };
    let lines = message("t1", 10) + &message("t1", 30) + &turns(&Key::of("q"), 1..1500) + &message("t2", 20);
    let said = import(db, &lines).refused(1);
    assert!(said.contains("line 3001") && said.contains("line 1"), "{said}");
    assert_eq!(export(db), "");
}

async fn a_threads_id_may_not_be_another_threads(db: &Database) {
    import(db, &turns(&Key::of("p"), [1])).ok();
    let before = export(db);
    let taken = before.lines().next().unwrap().replace("\"p\"", "\"q\"");
    let lines = turns(&Key::of("r"), 1..1200) + &taken + "\n" + &turns(&Key::of("q"), [1]);
    let said = import(db, &lines).refused(1);
    assert!(said.contains("line 2400"), "{said}");
    assert_eq!(export(db), before);
}
