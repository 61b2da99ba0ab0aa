mod refused;

use chrono::{DateTime, Utc};

use super::{Check, ImportError, ImportedTurn, Plan, Rules, Turns};
use crate::chat::{
    export,
    gateway::GatewayLimits,
    id::{self, MessageId, ThreadId},
    model::Thread,
};

fn time(micros: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_micros(1_700_000_000_000_000 + micros).unwrap()
}

fn rules() -> Rules {
    Rules {
        limits: GatewayLimits::default().write,
        latest: time(1_000_000_000),
        team: [0; 16],
    }
}

fn check(lines: &[String]) -> Result<Plan, ImportError> {
    let mut check = Check::new(rules());
    for line in lines {
        check.line(line.as_bytes())?;
    }
    check.finish()
}

fn turns(lines: &[String]) -> Vec<ImportedTurn> {
    let plan = check(lines).unwrap();
    let mut reading = Turns::new(rules(), &plan);
    let turns: Vec<_> = lines
        .iter()
        .filter_map(|line| reading.line(line.as_bytes()).unwrap())
        .collect();
    assert!(reading.is_complete());
    assert_eq!(turns.len() as u64, plan.turns);
    assert_eq!(
        turns.iter().map(|turn| turn.messages.len() as u64).sum::<u64>(),
        plan.messages
    );
    turns
}

fn refusal(lines: &[String]) -> String {
    check(lines).unwrap_err().to_string()
}

/// A message line of a person with more fields.
fn said(person: &str, micros: i64, more: &str) -> String {
    let at = time(micros).to_rfc3339_opts(chrono::SecondsFormat::Micros, true);
    format!(
        r#"{{"type":"message","agentId":"support","channel":"api","personId":"{person}","createdAt":"{at}",{more}}}"#
    )
}

fn user(micros: i64, turn: &str) -> String {
    said(
        "anna",
        micros,
        &format!(r#""turnId":"{turn}","role":"user","text":"hi""#),
    )
}

fn message_id(micros: i64) -> MessageId {
    MessageId(id::at(time(micros), 0))
}

fn with_id(micros: i64, id_micros: i64, turn: &str) -> String {
    let id = message_id(id_micros);
    said(
        "anna",
        micros,
        &format!(r#""id":"{id}","turnId":"{turn}","role":"user","text":"hi""#),
    )
}

#[test]
fn lines_of_one_turn_become_one_turn_also_with_other_threads_between() {
    let lines = [
        user(1, "t1"),
        said("ben", 1, r#""turnId":"t1","role":"user","text":"hello""#),
        said(
            "anna",
            2,
            r#""turnId":"t1","role":"assistant","text":"yes?","tokens":7"#,
        ),
        String::new(),
        user(3, "t2"),
    ];
    let turns = turns(&lines);
    let lengths: Vec<_> = turns
        .iter()
        .map(|turn| (turn.line, turn.messages.len()))
        .collect();
    assert_eq!(lengths, [(2, 1), (1, 2), (5, 1)]);
    assert_eq!(turns[1].messages[1].tokens, Some(7));
    assert_eq!(turns[1].thread_id, turns[2].thread_id);
    assert_ne!(turns[0].thread_id, turns[1].thread_id);
    assert_eq!(turns[1].thread_created_at, time(1));
}

#[test]
fn a_line_without_ids_gets_the_same_ones_in_every_run_in_the_order_of_the_file() {
    let lines: Vec<_> = (0..300)
        .map(|n| said("anna", n / 100, &format!(r#""role":"user","text":"{}""#, n % 3)))
        .collect();
    let turns_once = turns(&lines);
    let ids: Vec<_> = turns_once.iter().map(|turn| turn.messages[0].id).collect();
    assert!(ids.is_sorted_by(|a, b| a < b));
    assert!(ids.iter().all(|id| id::is_time_ordered(id.0)));
    let turn_ids: std::collections::HashSet<_> = turns_once
        .iter()
        .map(|turn| turn.messages[0].turn.as_ref().unwrap().id.clone())
        .collect();
    assert_eq!(turn_ids.len(), 300);
    assert!(turn_ids.iter().all(|id| id.starts_with("import-")));
    let again: Vec<_> = turns(&lines).iter().map(|turn| turn.messages[0].id).collect();
    assert_eq!(ids, again);
    // White space and the spelling of escapes are not part of a line.
    let spaced: Vec<_> = lines
        .iter()
        .map(|line| line.replace(",\"role\"", " , \"r\\u006fle\""))
        .collect();
    let spaced: Vec<_> = turns(&spaced).iter().map(|turn| turn.messages[0].id).collect();
    assert_eq!(ids, spaced);
}

#[test]
fn a_time_may_be_left_out_when_the_id_has_it() {
    let id = message_id(5);
    let line = format!(
        r#"{{"type":"message","id":"{id}","agentId":"a","channel":"api","personId":"p","role":"tool","text":"x"}}"#
    );
    assert_eq!(
        turns(std::slice::from_ref(&line))[0].messages[0].created_at,
        time(5)
    );
    let without = line.replace(&format!(r#""id":"{id}","#), "");
    assert!(refusal(&[without]).contains("createdAt is missing"));
}

#[test]
fn times_are_cut_to_the_microsecond() {
    let line = user(0, "t").replace(".000000Z", ".1234569+02:00");
    let at = turns(&[line])[0].messages[0].created_at;
    assert_eq!(at.timestamp_subsec_nanos(), 123_456_000);
}

#[test]
fn a_threads_line_gives_it_its_id_and_time() {
    let id = ThreadId(id::at(time(0), 9));
    let thread = |more: &str| {
        format!(r#"{{"type":"thread","agentId":"support","channel":"api","personId":"anna"{more}}}"#)
    };
    let full = thread(&format!(r#","id":"{id}""#));
    let turn = &turns(&[full.clone(), full.clone(), user(7, "t")])[0];
    assert_eq!((turn.thread_id, turn.thread_created_at), (id, time(0)));
    let turn = &turns(&[thread(""), user(7, "t")])[0];
    assert_eq!(turn.thread_created_at, time(7));
    assert!(refusal(&[user(7, "t"), full.clone()]).contains("line 2: a thread's line stands before"));
    assert!(refusal(&[full.clone(), thread("")]).contains("line 2: this thread had a line before"));
    let other = said("ben", 1, r#""role":"user","text":"x""#);
    let stolen = full.replace("anna", "ben");
    assert!(refusal(&[full, user(7, "t"), stolen, other]).contains("line 4: another thread had"));
}

#[test]
fn the_last_assistant_message_of_a_stopped_turn_is_the_stopped_one() {
    let lines = |stopped: [&str; 2]| {
        let line = |micros, stopped: &str| {
            said(
                "anna",
                micros,
                &format!(r#""turnId":"t","outcome":"stopped","role":"assistant","text":""{stopped}"#),
            )
        };
        [line(1, stopped[0]), line(2, stopped[1])]
    };
    let marks = |lines: &[String]| -> Vec<bool> {
        turns(lines)[0]
            .messages
            .iter()
            .map(|message| message.stopped)
            .collect()
    };
    assert_eq!(marks(&lines(["", ""])), [false, true]);
    assert_eq!(
        marks(&lines([r#","stopped":false"#, r#","stopped":true"#])),
        [false, true]
    );
    assert!(refusal(&lines([r#","stopped":true"#, ""])).contains("line 2: line 1 says stopped"));
    assert!(refusal(&lines(["", r#","stopped":false"#])).contains("line 2: stopped is true on"));
}

#[test]
fn a_boundary_has_nothing_of_a_message_and_closes_the_turn_before_it() {
    let boundary = |micros, inner: &str| said("anna", micros, &format!(r#""boundary":{inner}"#));
    let through = message_id(1);
    let compaction = boundary(
        3,
        &format!(r#"{{"reason":"compaction","summary":"s","throughMessageId":"{through}"}}"#),
    );
    let parsed = turns(&[
        with_id(1, 1, "t1"),
        compaction.clone(),
        boundary(4, r#"{"reason":"reset"}"#),
        user(5, "t2"),
    ]);
    assert_eq!(parsed.len(), 4);
    let drawn = parsed[1].messages[0].boundary.as_ref().unwrap();
    assert_eq!((drawn.summary(), drawn.through), (Some("s"), Some(through)));
    assert!(refusal(&[user(1, "t"), boundary(2, r#"{"reason":"reset"}"#), user(3, "t")]).contains("line 3"));
    for (inner, what) in [
        (r#"{"reason":"RESET"}"#, "boundary.reason is"),
        (r#"{"reason":"reset","summary":"x"}"#, "boundary.summary is for"),
        (
            r#"{"reason":"compaction","summary":" "}"#,
            "boundary.summary of a compaction",
        ),
        (
            r#"{"reason":"compaction","summary":"x"}"#,
            "boundary.throughMessageId of",
        ),
        (r#"{"reason":"reset","x":1}"#, "boundary.x is no field"),
        ("true", "boundary is an object"),
        (r#"{"reason":"reset"},"tokens":1"#, "tokens of a boundary is null"),
        (r#"{"reason":"reset"},"text":"x""#, "text of a boundary is"),
    ] {
        let refused = refusal(&[boundary(2, inner)]);
        assert!(refused.contains(what), "{inner}: {refused}");
    }
    let inside = [with_id(1, 1, "t1"), with_id(2, 2, "t1"), compaction];
    assert!(
        refusal(&inside).contains("line 3: boundary.throughMessageId has to be the last message of a turn")
    );
}

#[test]
fn an_exported_line_reads_back_as_what_it_was_and_writes_the_same_again() {
    let content =
        r#"{"parts":[{"type":"text","text":"\u0000 é 😀 \"","x":[1.0,1e400,12345678901234567890]}]}"#;
    let lines = [
        said(
            "an\\\"na",
            1,
            &format!(r#""turnId":"t1","role":"user","content":{content},"late":true"#),
        ),
        said(
            "an\\\"na",
            2,
            r#""turnId":"t1","role":"assistant","text":"a","tokens":0"#,
        ),
        said(
            "an\\\"na",
            3,
            r#""turnId":"t2","role":"assistant","text":"","outcome":"stopped""#,
        ),
        said("an\\\"na", 4, r#""boundary":{"reason":"reset"}"#),
    ];
    let export = |turns: &[ImportedTurn]| -> Vec<String> {
        let first = &turns[0];
        let thread = Thread {
            id: first.thread_id,
            key: first.key.clone(),
            created_at: first.thread_created_at,
            last_message_at: first.thread_created_at,
            message_count: 0,
            first_message_id: first.first_id().unwrap(),
            last_message_id: first.last_id().unwrap(),
            boundary_id: None,
            reset_id: None,
            context_after: None,
        };
        let messages = turns.iter().flat_map(|turn| &turn.messages);
        let messages = messages.map(|message| export::message_line(&first.key, message));
        std::iter::once(export::thread_line(&thread))
            .chain(messages)
            .collect()
    };
    let once = export(&turns(&lines));
    let twice = export(&turns(&once));
    assert_eq!(once, twice);
    assert!(once[1].contains(content), "{}", once[1]);
    let id = message_id(0).to_string();
    let mut shape = once[4].clone();
    for (_, found) in once[4]
        .match_indices("msg-")
        .map(|(at, _)| (at, &once[4][at..at + id.len()]))
    {
        shape = shape.replace(found, "ID");
    }
    assert_eq!(
        shape,
        r#"{"type":"message","id":"ID","agentId":"support","channel":"api","personId":"an\"na","turnId":null,"role":"system","content":{"parts":[]},"tokens":null,"outcome":null,"stopped":false,"late":false,"boundary":{"reason":"reset","summary":null,"throughMessageId":null},"createdAt":"2023-11-14T22:13:20.000004Z"}"#
    );
}
