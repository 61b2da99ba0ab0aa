mod cost;

use std::time::Duration;

use async_graphql::{Name, ServerError, Value, Variables};

use super::{Limits, check};

/// The code of the refusal, or "" when the document passes.
fn verdict(query: &str) -> String {
    code(
        check(query, None, &mut Variables::default(), &Limits::default())
            .err()
            .as_ref(),
    )
}

fn code(error: Option<&ServerError>) -> String {
    let code = error
        .and_then(|error| error.extensions.as_ref())
        .and_then(|extensions| extensions.get("code"));
    match code {
        Some(Value::String(code)) => code.clone(),
        _ => String::new(),
    }
}

fn message(query: &str) -> String {
    check(query, None, &mut Variables::default(), &Limits::default())
        .unwrap_err()
        .message
}

const PASSES: &str = "";
const TOO_MUCH: &str = "QUERY_TOO_COMPLEX";
const INVALID: &str = "GRAPHQL_VALIDATION_FAILED";
const BAD_INPUT: &str = "BAD_USER_INPUT";

#[test]
fn a_document_may_have_64_kib_and_not_a_byte_more() {
    let with = |bytes: usize| format!("{{a}}{}", " ".repeat(bytes - 3));
    assert_eq!(verdict(&with(65_536)), PASSES);
    assert_eq!(verdict(&with(65_537)), TOO_MUCH);
}

#[test]
fn a_document_may_have_4000_tokens_and_not_one_more() {
    // A token an item and nine around them.
    let with = |items: usize, more: &str| format!("{{a(x:[{}{more}])}}", "1 ".repeat(items));
    assert_eq!(verdict(&with(3_991, "")), PASSES);
    assert_eq!(verdict(&with(3_992, "")), TOO_MUCH);
    assert_eq!(verdict(&with(10, &"-1".repeat(4_000))), TOO_MUCH);
    assert_eq!(
        verdict(&with(3_991, "\n# a comment is no token: 1 2 3")).len(),
        INVALID.len()
    );
}

#[test]
fn brackets_nest_64_deep_and_not_65() {
    let with = |lists: usize| format!("{{a(x:{}1{})}}", "[".repeat(lists), "]".repeat(lists));
    assert_eq!(verdict(&with(62)), PASSES);
    assert_eq!(verdict(&with(63)), TOO_MUCH);
}

#[test]
fn nested_values_never_reach_the_parser() {
    for query in [
        format!("{{n(x:{}1{})}}", "{a:".repeat(2_000), "}".repeat(2_000)),
        format!("{{n(x:{}1{})}}", "[".repeat(2_000), "]".repeat(2_000)),
        format!("query($v: {}Int{}) {{n}}", "[".repeat(2_000), "]".repeat(2_000)),
        format!(
            "query($v: J = {}1{}) {{n}}",
            "{a:".repeat(1_900),
            "}".repeat(1_900)
        ),
        "{a".repeat(2_000),
        // Quotes and comments that end where the parser ends them hide nothing.
        format!("{{n(s:\"\\\"\", x:{}", "[".repeat(2_000)),
        format!("{{n(s:\"\"\"\\\"\"\" \"\"\", x:{}", "[".repeat(2_000)),
        format!("{{n # \"\r(x:{}", "[".repeat(2_000)),
    ] {
        assert_eq!(verdict(&query), TOO_MUCH, "{}", &query[..40]);
    }
}

#[test]
fn brackets_in_strings_and_comments_do_not_count() {
    let deep = "[".repeat(100);
    assert_eq!(verdict(&format!("{{a(x:\"{deep}\")}}")), PASSES);
    assert_eq!(verdict(&format!("{{a(x:\"\\\"{deep}\\\\\")}}")), PASSES);
    assert_eq!(
        verdict(&format!("{{a(x:\"\"\"{deep}\" \\\"\"\"{deep}\n\"\"\")}}")),
        PASSES
    );
    assert_eq!(verdict(&format!("{{a #{deep}\n}}")), PASSES);
}

#[test]
fn what_is_no_graphql_is_a_validation_error() {
    for query in [
        "",
        "{",
        "}",
        "{a(x:\"",
        "{a(x:\"\n\")}",
        "{a(x:\"\"\"\")}",
        "{a(x:\"\\\")}",
        "\u{1F600}",
        "{ü}",
        "\"\\",
        "{a(b:.5)}",
    ] {
        assert_eq!(verdict(query), INVALID, "{query}");
    }
}

#[test]
fn a_syntax_error_tells_its_place_and_not_the_text() {
    let query = "{ a(x: \"a secret = \\n  = \") } }";
    let error = check(query, None, &mut Variables::default(), &Limits::default()).unwrap_err();
    assert_eq!(
        error.message,
        "syntax error: expected EOI or executable_definition"
    );
    assert_eq!(error.locations.len(), 1);
}

#[test]
fn an_input_object_has_each_key_once() {
    for query in [
        "{a(x:{k:1 k:2})}",
        "{a(x:{k:1, j:{k:2}, k:3})}",
        "{a(x:[{k:b c:d}, {k:1 k:2}])}",
        "query($v: T = {k:1 k:1}) {a}",
        "{a @d(x:{k:1 k:2})}",
    ] {
        assert_eq!(verdict(query), BAD_INPUT, "{query}");
    }
    for query in [
        "{a(x:{k:j j:k l:{k:1}})}",
        "{a(x:[{k:1}{k:1}])}",
        "{k:a(k:{k:1}) b{k:a} c{k:a}}",
        "query($k:Int=1){a{k:k}b{k:k}}",
    ] {
        assert_eq!(verdict(query), PASSES, "{query}");
    }
}

#[test]
fn every_number_is_kept_as_it_was_written() {
    let numbers = [
        "1e5",
        "1E5",
        "1E+5",
        "1e-5",
        "1e+5",
        "-1.5e400",
        "-0",
        "0E0",
        "1.0",
        "-1.50e+400",
        "9007199254740993",
        "123456789012345678901234567890",
    ];
    let list = numbers.join(" ");
    let query = format!(
        "fragment f on T @d(x: {list:?}) {{ a @d(x: [{list}]) }} \
         query q($v: T @d(x: [{list}]) = {{ k: [{list}] }}, $w: T = 2e2) @d(x: [{list}]) {{ \
         b(x: {{ l: [{list}] s: \"1e1\" }} y: [{list}]) @d(x: [{list}]) {{ ... @d(x: [{list}]) {{ ...f @d(x: 3e3) }} }} }} \
         fragment g on T {{ c(x: [{list} 4E4]) # 5e5\n }}"
    );
    let limits = Limits {
        directives: 9,
        ..Limits::default()
    };
    let document = check(&query, None, &mut Variables::default(), &limits).unwrap();
    let parsed = format!("{:?}", document.parsed);
    let all = numbers
        .map(|number| format!("Number(Number({number}))"))
        .join(", ");
    assert_eq!(parsed.matches(&all).count(), 9, "{parsed}");
    for one in ["Number(2e2)", "Number(3e3)", "Number(4E4)", "String(\"1e1\")"] {
        assert_eq!(parsed.matches(one).count(), 1, "{one} in {parsed}");
    }
}

#[test]
fn what_is_no_number_is_left_to_the_parser() {
    for (number, expected) in [
        ("01e5", PASSES),
        ("1e", INVALID),
        ("1e5x", INVALID),
        ("-", INVALID),
        ("1.", INVALID),
    ] {
        assert_eq!(verdict(&format!("{{a(x:[{number}])}}")), expected, "{number}");
    }
    for merged in ["[null1e5]", "[null1 1E5]", "{k:true7}"] {
        assert_eq!(verdict(&format!("{{a(x:{merged})}}")), INVALID, "{merged}");
    }
    // Two numbers to the parser, and so to us.
    let document = check(
        "{a(x:[01e5 7E7])}",
        None,
        &mut Variables::default(),
        &Limits::default(),
    )
    .unwrap();
    let parsed = format!("{:?}", document.parsed);
    assert!(
        parsed.contains("[Number(Number(0)), Number(Number(1e5)), Number(Number(7E7))]"),
        "{parsed}"
    );
}

#[test]
fn twenty_thousand_operations_or_variables_are_refused() {
    let operations = (0..20_000).fold(String::new(), |query, n| query + &format!("query q{n}{{a}}"));
    assert_eq!(verdict(&operations), TOO_MUCH);
    assert_eq!(verdict(&operations[..60_000]), TOO_MUCH);
    let variables = (0..20_000).fold("query(".to_owned(), |query, n| query + &format!("$v{n}:Int ")) + "){a}";
    assert_eq!(verdict(&variables), TOO_MUCH);
}

#[test]
fn the_operation_that_runs_must_be_named_when_there_are_several() {
    let two = "query A{a} mutation B{b}";
    let chosen = |query: &str, name| check(query, name, &mut Variables::default(), &Limits::default());
    assert_eq!(code(chosen(two, None).err().as_ref()), INVALID);
    assert_eq!(code(chosen(two, Some("C")).err().as_ref()), INVALID);
    assert_eq!(code(chosen("{a}", Some("A")).err().as_ref()), INVALID);
    assert_eq!(chosen(two, Some("B")).unwrap().operation.to_string(), "mutation");
    assert_eq!(chosen("query A{a}", None).unwrap().operation.to_string(), "query");
}

#[test]
fn variables_take_their_defaults_before_the_document_runs() {
    let mut variables = Variables::default();
    check(
        "query($v:Boolean=true){a @include(if:$v)}",
        None,
        &mut variables,
        &Limits::default(),
    )
    .unwrap();
    assert_eq!(variables.get("v"), Some(&Value::from(true)));
}

#[test]
fn a_required_variable_must_be_given() {
    let verdict = |query: &str, given: Option<Value>| {
        let mut variables = Variables::default();
        if let Some(value) = given {
            variables.insert(Name::new("v"), value);
        }
        code(
            check(query, None, &mut variables, &Limits::default())
                .err()
                .as_ref(),
        )
    };
    assert_eq!(verdict("query($v:ID!){a}", None), BAD_INPUT);
    assert_eq!(verdict("query($v:ID!){a}", Some(Value::Null)), BAD_INPUT);
    assert_eq!(verdict("query($v:ID!){a}", Some(Value::from(1))), PASSES);
    assert_eq!(verdict("query($v:ID!=1){a}", None), PASSES);
    assert_eq!(verdict("query($v:ID){a}", None), PASSES);
}

#[test]
fn limits_read_as_people_write_them() {
    let limits: Limits = serde_json::from_str(r#"{"tokens": 10, "body_timeout": "1m"}"#).unwrap();
    assert_eq!(
        limits,
        Limits {
            tokens: 10,
            body_timeout: Duration::from_secs(60),
            ..Limits::default()
        }
    );
    assert_eq!(serde_json::to_value(&limits).unwrap()["request_timeout"], "15s");
}

proptest::proptest! {
    #[test]
    fn no_text_can_make_the_guard_panic(
        pieces in proptest::collection::vec(
            proptest::sample::select(vec![
                "{", "}", "(", ")", "[", "]", ":", "$", "@", "!", "=", "...", ".", "#", "\n", "\r", ",", " ", "\"",
                "\"\"\"", "\\", "\\\"", "\\\"\"\"", "\\u00e9", "é", "😀", "\u{feff}", "a", "b:", "on T", "fragment f",
                "query q", "mutation", "0", "-", "1e5", "01E5", "1.5", "-0", "null", "true", "{a(x:[1e5 {k:2E2}])}",
                "...f", "@d(x:3e3)", "$v:T=4e4", "messages(limit:9){a}",
            ]),
            0..40,
        ),
    ) {
        let text: String = pieces.concat();
        let around = format!("query q($v:T){{a(x:[{text}])}} fragment f on T{{{text}}}");
        for query in [text, around] {
            if let Ok(document) = check(&query, None, &mut Variables::default(), &Limits::default()) {
                // Every exponent is spelled as the text spells it.
                let parsed = format!("{:?}", document.parsed);
                for number in parsed.split("Number(Number(").skip(1).filter_map(|rest| rest.split(')').next()) {
                    proptest::prop_assert!(query.contains(number), "{number} is not in {query}");
                }
            }
        }
    }
}
