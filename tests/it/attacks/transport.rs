//! HTTP as nobody should send it.

use std::io::Write;

use super::{BAD_INPUT, Stage, attack, requests::mutation, sent::Sent};
use crate::support::{Database, on_both};

const MEGABYTE: usize = 1_000_000;

on_both! {
    a_body_that_is_too_large_or_packed_is_refused,
    a_body_of_two_lengths_or_of_bad_chunks_is_refused,
    a_head_that_is_too_large_or_malformed_is_refused,
}

async fn a_body_that_is_too_large_or_packed_is_refused(db: &Database) {
    let stage = Stage::set(db).await;
    let post = |more: &str| format!("POST /graphql HTTP/1.1\r\ncontent-type: application/json\r\n{more}");
    let chunk = [b"f4240\r\n".to_vec(), vec![b' '; MEGABYTE], b"\r\n".to_vec()].concat();
    let mut tiny = Vec::new();
    (0..10_000).for_each(|_| write!(tiny, "1\r\n \r\n").unwrap());
    stage
        .faces([
            attack(
                "60 MB with a length",
                Sent::raw(post("content-length: 60000000"), vec![b' '; MEGABYTE]).times(60),
                413,
                BAD_INPUT,
            ),
            attack(
                "60 MB without",
                Sent::raw(post("transfer-encoding: chunked"), chunk.clone()).times(60),
                413,
                BAD_INPUT,
            ),
            attack(
                "60 MB to a list",
                Sent::raw(
                    "GET /agents/a/chat/threads HTTP/1.1\r\ntransfer-encoding: chunked",
                    chunk,
                )
                .times(60),
                413,
                BAD_INPUT,
            ),
            attack(
                "more than there is to count",
                Sent::raw(post("content-length: 99999999999999999999999"), "x"),
                400,
                "",
            ),
            attack(
                "less than nothing",
                Sent::raw(post("content-length: -1"), "x"),
                400,
                "",
            ),
            attack(
                "gzip",
                Sent::raw(post("content-encoding: gzip\r\ncontent-length: 3"), "abc"),
                415,
                BAD_INPUT,
            ),
            attack(
                "brotli, then nothing",
                Sent::raw(post("content-encoding: br, identity\r\ncontent-length: 3"), "abc"),
                415,
                BAD_INPUT,
            ),
            attack(
                "two encodings",
                Sent::raw(
                    post("content-encoding: identity\r\ncontent-encoding: gzip\r\ncontent-length: 3"),
                    "abc",
                ),
                415,
                BAD_INPUT,
            ),
            attack(
                "a gzip transfer",
                Sent::raw(post("transfer-encoding: gzip, chunked"), "0\r\n\r\n"),
                400,
                "",
            ),
        ])
        .await;
    stage.stays_unharmed().await;
}

async fn a_body_of_two_lengths_or_of_bad_chunks_is_refused(db: &Database) {
    let stage = Stage::set(db).await;
    let post = |more: &str| format!("POST /graphql HTTP/1.1\r\ncontent-type: application/json\r\n{more}");
    let smuggled = format!(
        "0\r\n\r\nPOST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{}",
        mutation().len(),
        mutation()
    );
    for (name, lengths) in [
        (
            "a length and chunks",
            "content-length: 3\r\ntransfer-encoding: chunked",
        ),
        (
            "chunks and a length",
            "transfer-encoding: chunked\r\ncontent-length: 3",
        ),
    ] {
        // The chunks count, as RFC 9112 has it, and nothing that follows on this connection does.
        let asked = attack(name, Sent::raw(post(lengths), smuggled.clone()), 400, BAD_INPUT);
        let answer = stage.faces_one(&asked).await;
        assert_eq!(
            answer.raw.matches("HTTP/1.1 ").count(),
            1,
            "{name}: {}",
            answer.raw
        );
    }
    let chunked = "transfer-encoding: chunked";
    stage
        .faces([
            attack(
                "two lengths",
                Sent::raw(post("content-length: 3\r\ncontent-length: 4"), "abcd"),
                400,
                "",
            ),
            attack(
                "two lengths in one",
                Sent::raw(post("content-length: 3, 4"), "abcd"),
                400,
                "",
            ),
            attack(
                "a length with a sign",
                Sent::raw(post("content-length: +3"), "abc"),
                400,
                "",
            ),
            attack(
                "chunks that are not last",
                Sent::raw(post("transfer-encoding: chunked, identity"), smuggled.clone()),
                400,
                "",
            ),
            attack(
                "chunks spelled otherwise",
                Sent::raw(post("transfer-encoding: xchunked"), smuggled.clone()),
                400,
                "",
            ),
            attack(
                "chunks of HTTP/1.0",
                Sent::raw(post(chunked).replace("1.1", "1.0"), smuggled.clone()),
                400,
                "",
            ),
            attack(
                "a chunk of no number",
                Sent::raw(post(chunked), "zz\r\n{}\r\n0\r\n\r\n"),
                400,
                BAD_INPUT,
            ),
            attack(
                "a chunk of less than nothing",
                Sent::raw(post(chunked), "-1\r\n{}\r\n0\r\n\r\n"),
                400,
                BAD_INPUT,
            ),
            attack(
                "a chunk of more than there is",
                Sent::raw(post(chunked), "fffffffffffffffff\r\n{}"),
                400,
                BAD_INPUT,
            ),
            attack(
                "a chunk without its end",
                Sent::raw(post(chunked), "2\r\n{}x\r\n0\r\n\r\n"),
                400,
                BAD_INPUT,
            ),
            attack(
                "a megabyte beside a chunk",
                Sent::raw(
                    post(chunked),
                    format!("2;{}\r\n{{}}\r\n0\r\n\r\n", "x".repeat(MEGABYTE)),
                ),
                400,
                BAD_INPUT,
            ),
            attack(
                "a megabyte of trailers",
                Sent::raw(
                    post(chunked),
                    format!("2\r\n{{}}\r\n0\r\n{}\r\n", "x: y\r\n".repeat(MEGABYTE / 6)),
                ),
                400,
                BAD_INPUT,
            ),
        ])
        .await;
    stage.stays_unharmed().await;
}

async fn a_head_that_is_too_large_or_malformed_is_refused(db: &Database) {
    let stage = Stage::set(db).await;
    let many_headers = vec!["x: y"; 1_000].join("\r\n");
    let get = |more: &str| Sent::raw(format!("GET /healthz HTTP/1.1\r\n{more}"), "");
    stage
        .faces([
            attack(
                "a header of 64 KiB",
                get(&format!("x: {}", "a".repeat(64 << 10))),
                431,
                "",
            ),
            attack(
                "a header's name of 64 KiB",
                get(&format!("{}: x", "a".repeat(64 << 10))),
                431,
                "",
            ),
            attack("1,000 headers", get(&many_headers), 431, ""),
            attack(
                "a URL of 1 MB",
                Sent::get(&format!("/graphql?query={}", "a".repeat(MEGABYTE))),
                431,
                "",
            ),
            attack("a folded header", get("x: y\r\n z"), 400, ""),
            attack("a header without a name", get(": x"), 400, ""),
            attack("a space before the colon", get("content-length : 0"), 400, ""),
            attack(
                "a bare line end",
                Sent::raw("GET /healthz HTTP/1.1\rx: y", ""),
                400,
                "",
            ),
            attack("a byte 0", get("x: \u{0}"), 400, ""),
            attack("no HTTP", Sent::raw("EHLO mail.example", ""), 400, ""),
            attack("another version", Sent::raw("GET / HTTP/3.0", ""), 400, ""),
            attack("TLS", Sent::raw("\u{16}\u{3}\u{1}", ""), 400, ""),
            attack(
                "a way up",
                Sent::get("/graphiql/..%2f..%2fCargo.toml"),
                404,
                "NOT_FOUND",
            ),
            attack(
                "a way up, plainly",
                Sent::get("/graphiql/../../etc/passwd"),
                404,
                "NOT_FOUND",
            ),
            attack(
                "another host's path",
                Sent::raw("GET http://169.254.169.254/latest HTTP/1.1", ""),
                421,
                "FORBIDDEN",
            ),
            attack(
                "a tunnel",
                Sent::raw("CONNECT 169.254.169.254:80 HTTP/1.1", ""),
                421,
                "",
            ),
        ])
        .await;
    stage.stays_unharmed().await;
}
