//! What belongs to others is as absent as what never was: the same answer by the same statements.

use serde_json::{Value, json};

use crate::support::issuer::{claims_of, token, widget_claims};
use crate::support::rows::Rows;
use crate::support::wire::Wire;
use crate::support::{
    Answer, Backend, Client, Database, Key, List, TestServer, Turn, on_both, with_database,
};

on_both! {
    what_another_team_or_a_sibling_has_reads_as_absent_and_cannot_be_written,
    a_cursor_is_good_for_its_viewer_only,
    teams_share_no_thread_though_their_keys_are_the_same,
}

/// Each door that takes a thread's id or key, asked for one.
async fn every_door(viewer: &Client, thread: &str, key: &Key, message: &str) -> Vec<(&'static str, Answer)> {
    let by_id = "query($id: ID!) { thread(id: $id) { id messages { items { text } } context { tokens } } }";
    let by_key = "query($key: ThreadKeyInput!) { threadByKey(key: $key) { id messageCount } }";
    let rest = format!("/agents/{}/chat/threads/{thread}/messages", key.agent);
    vec![
        ("thread", viewer.graphql(by_id, json!({ "id": thread })).await),
        (
            "threadByKey",
            viewer.graphql(by_key, json!({ "key": key.json() })).await,
        ),
        ("REST thread", viewer.get(&rest).await),
        ("reset", viewer.reset(thread).await),
        ("compact", viewer.compact(thread, "so far", message).await),
    ]
}

struct Chats {
    server: TestServer,
    /// A thread of the team `other` with its newest message.
    foreign: (String, String),
    /// A thread of the team `acme` with another agent, and its newest message.
    sibling: (String, String),
}

impl Chats {
    const FOREIGN: [&'static str; 3] = ["support", "widget", "eve"];
    const SIBLING: [&'static str; 3] = ["sales", "widget", "bob"];

    async fn of(server: TestServer) -> Self {
        let stored = async |team: &str, [agent, channel, person]: [&str; 3]| {
            let admin = server.bearing(&token(&claims_of(team, "admin")));
            let key = Key::new(agent, channel, person);
            let ids = admin.say(&key, "t", &["secret", "words"]).await;
            (admin.thread_id(&key).await, ids[1].clone())
        };
        let foreign = stored("other", Self::FOREIGN).await;
        let sibling = stored("acme", Self::SIBLING).await;
        stored("acme", ["support", "widget", "ann"]).await;
        Self {
            server,
            foreign,
            sibling,
        }
    }

    /// Whoever must see neither of the two.
    fn strangers(&self) -> Vec<(&'static str, Client)> {
        let mut agent = claims_of("acme", "agent");
        agent["agent"] = "support".into();
        let mut person = claims_of("acme", "admin");
        person["person"] = "ann".into();
        [
            ("an agent", agent),
            ("an admin narrowed to a person", person),
            ("a widget", widget_claims("acme", "support", "widget", "ann")),
        ]
        .map(|(name, claims)| (name, self.server.bearing(&token(&claims))))
        .into()
    }
}

const NO_THREAD: &str = "chat-01890000-0000-7000-8000-000000000000";
const NO_MESSAGE: &str = "msg-01890000-0000-7000-8000-000000000000";

async fn what_another_team_or_a_sibling_has_reads_as_absent_and_cannot_be_written(db: &Database) {
    let chats = Chats::of(TestServer::start_with_auth(db.gateway().await).await).await;
    let rows = Rows::of(db).await;
    let before = rows.snapshot().await;
    for (who, stranger) in chats.strangers() {
        for ((thread, message), [agent, channel, person]) in
            [(&chats.foreign, Chats::FOREIGN), (&chats.sibling, Chats::SIBLING)]
        {
            let there = every_door(&stranger, thread, &Key::new(agent, channel, person), message).await;
            let absent = every_door(
                &stranger,
                NO_THREAD,
                &Key::new(agent, channel, "nobody"),
                NO_MESSAGE,
            )
            .await;
            for ((door, there), (_, absent)) in there.iter().zip(&absent) {
                assert_eq!(
                    (there.status, &there.raw),
                    (absent.status, &absent.raw),
                    "{who}, {door}"
                );
                assert!(!there.raw.contains("secret"), "{who}, {door}");
            }
        }
    }
    // Compaction names a message as well: one of another thread is as good as a made up one.
    let admin = chats.server.bearing(&token(&claims_of("acme", "admin")));
    let own = admin.thread_id(&Key::new("support", "widget", "ann")).await;
    let [foreign, sibling, made_up] = [&*chats.foreign.1, &*chats.sibling.1, NO_MESSAGE];
    let conflict = admin.compact(&own, "so far", made_up).await;
    assert_eq!(conflict.code(), "CONFLICT");
    for message in [foreign, sibling] {
        assert_eq!(admin.compact(&own, "so far", message).await.raw, conflict.raw);
    }
    // And a turn may name the boundary that it began under.
    let key = Key::new("support", "widget", "ann");
    let refused = async |boundary: &str| {
        let turn = Turn::of_texts("u", &["x"]).began_under(Some(boundary));
        admin.try_append(&key, &turn).await.raw
    };
    assert_eq!(refused(foreign).await, refused(made_up).await);
    assert_eq!(rows.snapshot().await, before, "nothing was written");
}

async fn a_cursor_is_good_for_its_viewer_only(db: &Database) {
    let server = TestServer::start_with_auth(db.gateway().await).await;
    let key = Key::new("support", "widget", "ann");
    let viewers = [
        claims_of("acme", "admin"),
        widget_claims("acme", "support", "widget", "ann"),
        json!({ "agent": "support", "person": "ann" }),
        json!({ "agent": "support", "channel": "widget" }),
        json!({ "agent": "support" }),
    ]
    .map(|narrowing| {
        let mut claims = claims_of("acme", "dashboard");
        claims
            .as_object_mut()
            .unwrap()
            .extend(narrowing.as_object().unwrap().clone());
        server.bearing(&token(&claims))
    });
    server
        .bearing(&token(&claims_of("acme", "admin")))
        .say_many(&key, 6)
        .await;
    server
        .bearing(&token(&claims_of("other", "admin")))
        .say_many(&key, 6)
        .await;
    let list = List::of_agent("support");
    let other = server.bearing(&token(&claims_of("other", "admin")));
    for (from, viewer) in viewers.iter().enumerate() {
        let cursor = viewer
            .page(&list, 2, None)
            .await
            .next_cursor
            .expect("an older page");
        for (to, reader) in viewers.iter().enumerate() {
            let [graphql, rest] = [
                reader.try_page(&list, 2, Some(&cursor)).await,
                reader.try_rest_page(&list, 2, Some(&cursor)).await,
            ];
            if from == to {
                graphql.data(list.pointer());
                assert_eq!(rest.status, 200);
            } else {
                assert_eq!(
                    (graphql.code(), rest.code()),
                    ("INVALID_CURSOR", "INVALID_CURSOR"),
                    "{from} → {to}"
                );
            }
        }
        assert_eq!(
            other.try_page(&list, 2, Some(&cursor)).await.code(),
            "INVALID_CURSOR",
            "{from} → other team"
        );
    }
}

async fn teams_share_no_thread_though_their_keys_are_the_same(db: &Database) {
    let server = TestServer::start_with_auth(db.gateway().await).await;
    let key = Key::new("support", "widget", "ann");
    let mut threads = Vec::new();
    for team in ["a", "b", "a b"] {
        let admin = server.bearing(&token(&claims_of(team, "admin")));
        admin.say(&key, "t", &[team]).await;
        threads.push(admin.thread_id(&key).await);
        for list in [
            List::of_agent("support"),
            List::of_thread("support", &threads[threads.len() - 1]),
        ] {
            assert_eq!(admin.page(&list, 50, None).await.texts(), [team]);
        }
        assert_eq!(
            admin.page(&List::threads("support"), 50, None).await.items.len(),
            1
        );
    }
    threads.dedup();
    assert_eq!(threads.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_have_costs_the_same_statements_as_what_never_was() {
    with_database(Backend::Postgres, async |database| {
        let wire = Wire::to(database).await;
        let gateway = database.gateway_at(wire.url()).await;
        let chats = Chats::of(TestServer::start_with_auth(gateway).await).await;
        for (who, stranger) in chats.strangers() {
            let count = async |thread: &str, person: &str, message: &str| {
                // The first time opens what connections it needs.
                let key = Key::new("support", "widget", person);
                every_door(&stranger, thread, &key, message).await;
                wire.statements();
                every_door(&stranger, thread, &key, message).await;
                wire.statements()
            };
            let absent = count(NO_THREAD, "nobody", NO_MESSAGE).await;
            assert_eq!(
                count(&chats.foreign.0, "eve", &chats.foreign.1).await,
                absent,
                "{who}"
            );
            assert_eq!(
                count(&chats.sibling.0, "bob", &chats.sibling.1).await,
                absent,
                "{who}"
            );
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_a_token_does_not_name_is_null_and_404() {
    with_database(Backend::Sqlite, async |database| {
        let chats = Chats::of(TestServer::start_with_auth(database.gateway().await).await).await;
        let mut claims = claims_of("acme", "agent");
        claims["agent"] = "support".into();
        let narrowed = chats.server.bearing(&token(&claims));
        for agent in ["sales", "nobody"] {
            let answer = narrowed
                .graphql(
                    "query($id: ID!) { agent(id: $id) { id } }",
                    json!({ "id": agent }),
                )
                .await;
            assert_eq!(answer.data("/agent"), &Value::Null, "{agent}");
            for list in ["messages", "threads"] {
                let rest = narrowed.get(&format!("/agents/{agent}/chat/{list}")).await;
                assert_eq!((rest.status, rest.code()), (404, "NOT_FOUND"), "{agent}");
            }
        }
        let whole_team = chats.server.bearing(&token(&claims_of("acme", "dashboard")));
        let empty = whole_team.page(&List::of_agent("nobody"), 50, None).await;
        assert!(empty.items.is_empty() && !empty.has_more);
    })
    .await;
}
