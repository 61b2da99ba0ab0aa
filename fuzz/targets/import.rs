//! A file to import, of anybody: refused with its line, or read to whole turns that an export gives back.
#![no_main]

use chrono::DateTime;
use libfuzzer_sys::fuzz_target;
use threadline::chat::{
    export,
    gateway::GatewayLimits,
    import::{Check, ImportedTurn, Plan, Rules, Turns},
    model::Thread,
};

fuzz_target!(|input: &[u8]| {
    let lines: Vec<_> = input
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii_end)
        .collect();
    let Some(plan) = check(&lines) else {
        return;
    };
    let turns = turns(&lines, &plan);
    let exported = export(turns);
    let lines: Vec<_> = exported.iter().map(|line| line.as_bytes()).collect();
    let plan = check(&lines).expect("an export can be imported");
    assert_eq!(export(self::turns(&lines, &plan)), exported);
});

fn rules() -> Rules {
    Rules {
        limits: GatewayLimits::default().write,
        team: [0; 16],
        latest: DateTime::from_timestamp(1_800_000_000, 0).expect("a time"),
    }
}

fn check(lines: &[&[u8]]) -> Option<Plan> {
    let mut check = Check::new(rules());
    for line in lines {
        check.line(line).ok()?;
    }
    check.finish().ok()
}

fn turns(lines: &[&[u8]], plan: &Plan) -> Vec<ImportedTurn> {
    let mut reading = Turns::new(rules(), plan);
    let ended = lines
        .iter()
        .filter_map(|line| reading.line(line).expect("a checked line"));
    let turns: Vec<_> = ended.collect();
    assert!(reading.is_complete());
    assert_eq!(turns.len() as u64, plan.turns);
    turns
}

/// As `threadline export` writes them: thread by thread, in the order of ids.
fn export(mut turns: Vec<ImportedTurn>) -> Vec<String> {
    turns.sort_by_key(|turn| (turn.key.clone(), turn.first_id()));
    let mut lines = Vec::new();
    let mut last = None;
    for turn in turns {
        if last.as_ref() != Some(&turn.key) {
            lines.push(export::thread_line(&thread_of(&turn)));
            last = Some(turn.key.clone());
        }
        let messages = turn.messages.iter();
        lines.extend(messages.map(|message| export::message_line(&turn.key, message)));
    }
    lines
}

fn thread_of(turn: &ImportedTurn) -> Thread {
    let first = &turn.messages[0];
    Thread {
        id: turn.thread_id,
        key: turn.key.clone(),
        created_at: turn.thread_created_at,
        last_message_at: first.created_at,
        message_count: 0,
        first_message_id: first.id,
        last_message_id: first.id,
        boundary_id: None,
        reset_id: None,
        context_after: None,
    }
}
