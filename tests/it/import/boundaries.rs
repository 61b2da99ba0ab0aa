//! Boundaries that are imported into a thread which has some: what was out of the context stays out.

use serde_json::json;

use crate::support::command::{export, import};
use crate::support::{Database, Key, Process, on_both};

use super::line;

on_both! {
    an_imported_boundary_gives_the_model_nothing_back_that_a_reset_took,
    an_imported_reset_does_not_lie_inside_a_stored_compactions_context,
    an_imported_boundary_does_not_go_through_the_middle_of_a_stored_turn,
}

/// The id of the message at a second.
fn id(second: u32) -> String {
    format!("msg-019caa60-0000-7000-8000-{second:012x}")
}

fn said(turn: &str, second: u32) -> String {
    let fields = format!(
        r#""id":"{}","turnId":"{turn}","role":"user","text":"at {second}""#,
        id(second)
    );
    line(&Key::of("p"), second, &fields)
}

fn reset(second: u32) -> String {
    let fields = format!(r#""id":"{}","boundary":{{"reason":"reset"}}"#, id(second));
    line(&Key::of("p"), second, &fields)
}

fn compaction(second: u32, through: u32) -> String {
    let fields = format!(
        r#""id":"{}","boundary":{{"reason":"compaction","summary":"so far","throughMessageId":"{}"}}"#,
        id(second),
        id(through)
    );
    line(&Key::of("p"), second, &fields)
}

/// The texts that the model is given.
async fn given(db: &Database) -> Vec<String> {
    let server = Process::start(db, &[]).await;
    let thread = server
        .thread(&Key::of("p"), "context { messages { text } }")
        .await;
    let messages = thread["context"]["messages"].as_array().unwrap();
    messages
        .iter()
        .map(|message| message["text"].as_str().unwrap().to_owned())
        .collect()
}

async fn an_imported_boundary_gives_the_model_nothing_back_that_a_reset_took(db: &Database) {
    import(db, &[said("a", 1), said("b", 2), reset(5), said("c", 8)].concat()).ok();
    let before = export(db);
    for through in [1, 2, 5] {
        let refused = import(db, &[said("d", 9), compaction(10, through)].concat()).refused(1);
        assert!(
            refused.contains("line 2") && refused.contains("boundary"),
            "{refused}"
        );
        assert_eq!(export(db), before);
    }
    assert_eq!(given(db).await, ["at 8"]);
    import(db, &[said("d", 9), compaction(10, 8)].concat()).ok();
    assert_eq!(given(db).await, ["at 9"]);
}

async fn an_imported_reset_does_not_lie_inside_a_stored_compactions_context(db: &Database) {
    import(
        db,
        &[said("a", 1), said("b", 2), said("c", 6), compaction(8, 1)].concat(),
    )
    .ok();
    let before = export(db);
    let refused = import(db, &[said("d", 3), reset(4)].concat()).refused(1);
    assert!(
        refused.contains("line 2") && refused.contains("boundary"),
        "{refused}"
    );
    assert_eq!(export(db), before);
    assert_eq!(given(db).await, ["at 2", "at 6"]);
    // What came before all that is out of the context already.
    import(
        db,
        &[said("y", 10), said("z", 11), compaction(12, 10), reset(14)].concat(),
    )
    .ok();
    assert_eq!(given(db).await, [""; 0]);
}

async fn an_imported_boundary_does_not_go_through_the_middle_of_a_stored_turn(db: &Database) {
    import(db, &[said("a", 1), said("a", 2), said("b", 3)].concat()).ok();
    let before = export(db);
    let refused = import(db, &compaction(9, 1)).refused(1);
    assert!(
        refused.contains("line 1") && refused.contains("turn"),
        "{refused}"
    );
    assert_eq!(export(db), before);
    import(db, &compaction(9, 2)).ok();
    assert_eq!(given(db).await, ["at 3"]);
    let server = Process::start(db, &[]).await;
    let query = "query($key: ThreadKeyInput!) { threadByKey(key: $key) { context { summary } } }";
    let answer = server.graphql(query, json!({ "key": Key::of("p").json() })).await;
    assert_eq!(answer.data("/threadByKey/context/summary"), "so far");
}
