//! What is not imported, and what is said about it.

use super::*;

#[test]
fn what_is_wrong_with_a_line_is_said_with_its_number() {
    let good = user(0, "t0");
    for (line, what) in [
        ("{", "no JSON that can be kept: incomplete document at column 2"),
        ("[]", "a line is a JSON object"),
        (r#"{"type":"row"}"#, "agentId is missing"),
        (
            r#"{"type":"row","agentId":"a","channel":"b","personId":"c"}"#,
            "type is \"thread\" or",
        ),
        (
            r#"{"type":"thread","agentId":"a","channel":"B","personId":"c"}"#,
            "channel is made of",
        ),
        (&user(1, "t").replace("user", "USER"), "role is \"user\""),
        (
            &user(1, "t").replace("\"text\"", "\"txt\""),
            "content or text is missing",
        ),
        (
            &user(1, "t").replace("\"text\"", "\"content\":{},\"text\""),
            "a line has one of them",
        ),
        (
            &user(1, "t").replace("\"text\"", "\"more\":1,\"text\""),
            "more is no field",
        ),
        (
            &user(1, "t").replace("\"text\"", "\"tokens\":-1,\"text\""),
            "tokens is a whole number",
        ),
        (
            &user(1, "t").replace("\"text\"", "\"tokens\":2147483648,\"text\""),
            "tokens is a whole number",
        ),
        (
            &user(1, "t").replace("\"text\"", "\"outcome\":\"failed\",\"text\""),
            "outcome is",
        ),
        (
            &user(1, "t").replace("\"text\"", "\"stopped\":true,\"text\""),
            "stopped is for the last",
        ),
        (
            &user(1, "t").replace("\"text\"", "\"id\":\"msg-1\",\"text\""),
            "id cannot be used: a message id looks like msg-",
        ),
        (
            &user(1, "t").replace(
                "\"text\"",
                "\"id\":\"msg-6ba7b810-9dad-41d1-80b4-00c04fd430c8\",\"text\"",
            ),
            "version 7",
        ),
        (&user(1, ""), "turnId has 1 to 200"),
        (&user(2_000_000_000, "t"), "createdAt is in the future"),
        (&with_id(1, 2_000_000_000, "t"), "id has its time in the future"),
        (
            &user(1, "t").replace("2023-", "1923-"),
            "createdAt is before 1970",
        ),
        (&user(1, "t").replace("2023-", "23-"), "createdAt is a time like"),
        (
            &said(
                "anna",
                1,
                r#""role":"assistant","content":{"parts":[{"type":"text","text":""}]}"#,
            ),
            "says nothing",
        ),
        (
            &said(
                "anna",
                1,
                r#""role":"user","content":{"parts":[{"type":"span"}]}"#,
            ),
            "content.parts[0] is telemetry",
        ),
    ] {
        let refused = refusal(&[good.clone(), line.to_owned()]);
        assert!(
            refused.starts_with("line 2: ") && refused.contains(what),
            "{line}: {refused}"
        );
    }
}

#[test]
fn a_turn_that_comes_again_or_changes_on_its_way_is_refused() {
    let lines = |more: &[String]| [&[user(1, "t1")], more].concat();
    assert!(refusal(&lines(&[user(2, "t2"), user(3, "t1")])).contains("line 3: turnId \"t1\" came before"));
    let stopped = user(2, "t1").replace("\"text\"", "\"outcome\":\"stopped\",\"text\"");
    assert!(refusal(&lines(&[stopped])).contains("line 2: outcome is another"));
    assert!(refusal(&lines(&[user(0, "t1")])).starts_with("line 2: "));
    let many: Vec<_> = (2..=101).map(|n| user(n, "t1")).collect();
    assert!(refusal(&lines(&many)).contains("line 101: the turn has more than 100"));
    assert!(check(&lines(&many[..99])).is_ok());
}

#[test]
fn turns_that_lie_in_each_other_or_run_back_in_time_are_found_wherever_they_stand() {
    let overlapping = [
        with_id(1, 10, "t1"),
        with_id(1, 30, "t1"),
        with_id(5, 50, "t3"),
        with_id(1, 20, "t2"),
    ];
    assert!(
        refusal(&overlapping)
            .contains("line 4: by its ids the turn lies inside or across the turn of line 1")
    );
    let back = [with_id(3, 30, "t3"), with_id(9, 20, "t2")];
    assert!(refusal(&back).contains("line 2: by the ids and times"));
    let later_first = [with_id(3, 30, "t3"), with_id(2, 20, "t2")];
    assert_eq!(turns(&later_first).len(), 2);
    assert!(refusal(&[with_id(3, 30, "t3"), with_id(3, 30, "t4")]).contains("line 2"));
}

#[test]
fn a_compaction_goes_further_than_the_boundary_before_it() {
    let drawn = |micros, inner: &str| said("anna", micros, &format!(r#""boundary":{inner}"#));
    let compaction = |micros, through: i64| {
        let through = message_id(through);
        drawn(
            micros,
            &format!(r#"{{"reason":"compaction","summary":"s","throughMessageId":"{through}"}}"#),
        )
    };
    let turns = [with_id(1, 1, "t1"), with_id(2, 2, "t2")];
    let with = |boundaries: &[String]| check(&[&turns, boundaries].concat());
    assert!(with(&[compaction(3, 1), compaction(4, 2)]).is_ok());
    for (boundaries, line) in [
        ([compaction(3, 2), compaction(4, 1)], 4),
        ([drawn(3, r#"{"reason":"reset"}"#), compaction(4, 2)], 4),
        ([drawn(3, r#"{"reason":"reset"}"#), compaction(4, 9)], 4),
    ] {
        let refused = with(&boundaries).unwrap_err();
        assert_eq!(refused.line, line, "{refused}");
    }
}
