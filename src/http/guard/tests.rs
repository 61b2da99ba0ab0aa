use std::fmt::Write;
use std::time::{Duration, Instant};

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

/// `count` levels of `field` around `leaf`.
fn nested(field: &str, count: usize, leaf: &str) -> String {
    format!(
        "{}{leaf}{}",
        format!("{field}{{").repeat(count),
        "}".repeat(count)
    )
}

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
fn a_number_is_kept_as_written_or_refused() {
    for number in ["1e5", "1E5", "1E+5", "1E-5", "-1.5e400", "01e5"] {
        assert_eq!(verdict(&format!("{{a(x:[{number}])}}")), BAD_INPUT, "{number}");
    }
    for number in [
        "1e+5",
        "1e-5",
        "-0",
        "1.0",
        "-1.50e+400",
        "123456789012345678901234567890",
        "9007199254740993",
    ] {
        let query = format!("{{a(x:{number})}}");
        assert_eq!(verdict(&query), PASSES, "{number}");
        let document = check(&query, None, &mut Variables::default(), &Limits::default()).unwrap();
        assert!(
            format!("{:?}", document.parsed).contains(&format!("Number({number})")),
            "{number}"
        );
    }
}

#[test]
fn a_document_may_define_20_fragments_and_not_21() {
    let with = |count: usize| {
        (0..count).fold("{...f0}".to_owned(), |query, n| {
            query + &format!(" fragment f{n} on T{{a}}")
        })
    };
    assert_eq!(verdict(&with(20)), PASSES);
    assert_eq!(verdict(&with(21)), TOO_MUCH);
}

#[test]
fn a_fragment_bomb_of_a_million_fields_is_refused_at_once() {
    let mut bomb = "{...f0}".to_owned();
    for n in 0..19 {
        write!(bomb, " fragment f{n} on T{{...f{next} ...f{next}}}", next = n + 1).unwrap();
    }
    bomb += " fragment f19 on T{a b}";
    let began = Instant::now();
    assert_eq!(verdict(&bomb), TOO_MUCH);
    assert_eq!(
        verdict(&bomb.replace("{...f0}", "{a}")),
        TOO_MUCH,
        "also when nothing spreads it"
    );
    assert!(began.elapsed() < Duration::from_millis(50));
}

#[test]
fn fragment_cycles_are_invalid() {
    for query in [
        "{...a} fragment a on T{...a}",
        "{...a} fragment a on T{x{...b}} fragment b on T{...on T{...a}}",
        "{x} fragment a on T{...b} fragment b on T{...a}",
    ] {
        assert_eq!(verdict(query), INVALID, "{query}");
    }
}

#[test]
fn a_document_asks_for_500_fields_and_not_501() {
    let with = |more: usize| {
        let fields = "a ".repeat(99);
        format!(
            "{{a{{...f}} b{{...f}} c{{...f}} d{{...f}} e{{...f {}}}}} fragment f on T{{{fields}}}",
            "a ".repeat(more)
        )
    };
    assert_eq!(verdict(&with(0)), PASSES);
    assert_eq!(verdict(&with(1)), TOO_MUCH);
    // Every operation counts, not only the one that runs.
    let two = format!("query A{{x{{{0}}}}} query B{{x{{{0}}}}}", "a ".repeat(250));
    let limits = Limits::default();
    assert_eq!(
        code(
            check(&two, Some("A"), &mut Variables::default(), &limits)
                .err()
                .as_ref()
        ),
        TOO_MUCH
    );
}

#[test]
fn fields_nest_16_deep_and_not_17() {
    assert_eq!(verdict(&format!("{{{}}}", nested("a", 15, "a"))), PASSES);
    assert_eq!(verdict(&format!("{{{}}}", nested("a", 16, "a"))), TOO_MUCH);
    let spread = |depth| {
        format!(
            "{{{}}} fragment f on T{{{}}}",
            nested("a", 8, "...f"),
            nested("a", depth, "a")
        )
    };
    assert_eq!(verdict(&spread(7)), PASSES);
    assert_eq!(verdict(&spread(8)), TOO_MUCH);
}

#[test]
fn a_query_costs_5000_and_not_5001() {
    // 1 + 1 + 200 × (1 + 23) = 4802, and what stands beside it.
    let exactly = |rest: usize| {
        let page = format!("messages(limit:200){{items{{{}}}}}", "a ".repeat(23));
        format!("{{b{{{}}} agent{{{page}}}}}", "a ".repeat(rest))
    };
    assert_eq!(verdict(&exactly(197)), PASSES);
    assert_eq!(verdict(&exactly(198)), TOO_MUCH);
}

#[test]
fn a_page_costs_its_clamped_limit_wherever_the_limit_comes_from() {
    let costs = |query: &str, variables: &[(&str, Value)]| {
        let mut given = Variables::default();
        for (name, value) in variables {
            given.insert(Name::new(name), value.clone());
        }
        let error = check(
            query,
            None,
            &mut given,
            &Limits {
                complexity: 0,
                ..Limits::default()
            },
        )
        .unwrap_err();
        error
            .message
            .split(['s', ','])
            .nth(2)
            .unwrap()
            .trim()
            .parse::<u64>()
            .unwrap()
    };
    assert_eq!(costs("{messages{a}}", &[]), 51);
    assert_eq!(costs("{messages(limit:10){a}}", &[]), 11);
    assert_eq!(costs("{messages(limit:9999999999999999999999){a}}", &[]), 201);
    assert_eq!(costs("{messages(limit:-5){a}}", &[]), 2);
    assert_eq!(costs("{messages(limit:\"x\"){a}}", &[]), 201);
    assert_eq!(costs("{messages(limit:null){a}}", &[]), 51);
    assert_eq!(costs("query($n:Int=20){messages(limit:$n){a}}", &[]), 21);
    assert_eq!(
        costs(
            "query($n:Int=20){messages(limit:$n){a}}",
            &[("n", Value::from(3))]
        ),
        4
    );
    assert_eq!(costs("query($n:Int){messages(limit:$n){a}}", &[]), 51);
    assert_eq!(costs("{context{a}}", &[]), 201);
    assert_eq!(costs("{context(limit:10){messages{a}}}", &[]), 21);
    assert_eq!(costs("{appendTurn{messages{a}}}", &[]), 3);
    assert_eq!(costs("{appendTurn{thread{messages{a}}}}", &[]), 53);
    assert_eq!(
        costs(
            "{context(limit:1){...f} messages(limit:2){...f}} fragment f on X{messages{a}}",
            &[]
        ),
        106
    );
}

#[test]
fn the_refusal_says_which_limit_to_lower() {
    let two = "{agent(id:\"a\"){threads{items{id messages{items{id}}}}}}";
    assert_eq!(
        message(two),
        "the query costs 5152, more than 5000: lower the `limit` of `threads` from 50 to 48, or that of a list inside it"
    );
    let hopeless = "{agent(id:\"a\"){threads(limit:200){items{messages(limit:200){items{a b c d e f g h i j k l m n o p q r s t u v w x y z}}}}}}";
    assert!(
        message(hopeless).ends_with("lower the `limit` of `threads` (now 200) and of the lists inside it")
    );
    let ten = (0..10).fold(String::new(), |all, n| {
        all + &format!("m{n}:messages(limit:200){{items{{a b c}}}} ")
    });
    assert!(message(&format!("{{agent{{{ten}}}}}")).contains("lower the `limit` of `messages`"));
}

#[test]
fn cost_never_overflows() {
    let query = format!("{{{}}}", nested("threads(limit:200)", 15, "a"));
    assert_eq!(verdict(&query), TOO_MUCH);
}

#[test]
fn a_document_has_30_aliases_and_not_31() {
    let with =
        |count: usize| (0..count).fold("{x{".to_owned(), |query, n| query + &format!("a{n}:a ")) + "}}";
    assert_eq!(verdict(&with(30)), PASSES);
    assert_eq!(verdict(&with(31)), TOO_MUCH);
    assert_eq!(verdict(&with(200_000)), TOO_MUCH);
    let spread = "{x{...f} y{...f} z{...f}} fragment f on T{a:a b:a c:a d:a e:a f:a g:a h:a i:a j:a k:a}";
    assert_eq!(verdict(spread), TOO_MUCH);
}

#[test]
fn an_operation_has_10_root_fields_and_not_11() {
    let with = |count: usize| {
        format!(
            "{{{}...f}} fragment f on Query{{a ...on Query{{a}}}}",
            "a ".repeat(count)
        )
    };
    assert_eq!(verdict(&with(8)), PASSES);
    assert_eq!(verdict(&with(9)), TOO_MUCH);
}

#[test]
fn a_place_has_5_directives_and_not_6() {
    for place in [
        "{a D}",
        "{...f D} fragment f on T{a}",
        "{...f} fragment f on T D{a}",
        "{...D{a}}",
        "{...on T D{a}}",
        "query D{a}",
        "query($v:Int D){a}",
    ] {
        assert_eq!(verdict(&place.replace('D', &"@d ".repeat(5))), PASSES, "{place}");
        assert_eq!(
            verdict(&place.replace('D', &"@d ".repeat(6))),
            TOO_MUCH,
            "{place}"
        );
    }
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

/// What GraphiQL and graphql-js ask for, with nine levels of `ofType`.
pub(crate) const INTROSPECTION: &str = "query IntrospectionQuery{__schema{description queryType{name kind}mutationType{name kind}\
    subscriptionType{name kind}types{...FullType}directives{name description isRepeatable locations \
    args(includeDeprecated:true){...InputValue}}}}\
    fragment FullType on __Type{kind name description specifiedByURL isOneOf fields(includeDeprecated:true){name description \
    args(includeDeprecated:true){...InputValue}type{...TypeRef}isDeprecated deprecationReason}\
    inputFields(includeDeprecated:true){...InputValue}interfaces{...TypeRef}\
    enumValues(includeDeprecated:true){name description isDeprecated deprecationReason}possibleTypes{...TypeRef}}\
    fragment InputValue on __InputValue{name description type{...TypeRef}defaultValue isDeprecated deprecationReason}\
    fragment TypeRef on __Type{kind name ofType{kind name ofType{kind name ofType{kind name ofType{kind name ofType{kind name \
    ofType{kind name ofType{kind name ofType{kind name ofType{kind name}}}}}}}}}}";

#[test]
fn the_standard_introspection_query_passes_and_ten_levels_of_it_do_not() {
    assert_eq!(verdict(INTROSPECTION), PASSES);
    for lists in [2, 3, 6, 10] {
        let nest = format!("{}name{}", "fields{type{".repeat(lists), "}}".repeat(lists));
        let expected = if lists <= 2 { PASSES } else { TOO_MUCH };
        assert_eq!(
            verdict(&format!("{{__schema{{types{{{nest}}}}}}}")),
            expected,
            "{lists}"
        );
    }
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
