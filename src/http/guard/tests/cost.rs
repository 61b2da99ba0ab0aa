//! What a parsed document may ask for.

use std::fmt::Write;
use std::time::{Duration, Instant};

use async_graphql::{Name, Value, Variables};

use super::*;

/// `count` levels of `field` around `leaf`.
fn nested(field: &str, count: usize, leaf: &str) -> String {
    format!(
        "{}{leaf}{}",
        format!("{field}{{").repeat(count),
        "}".repeat(count)
    )
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
    // Unmemoised it takes minutes; a debug build on a busy machine takes some milliseconds.
    assert!(began.elapsed() < Duration::from_millis(500));
}

#[test]
fn what_was_said_costs_more_under_another_name() {
    let with = |copies: usize| {
        let copies: String = (0..copies).map(|n| format!("c{n}: content ")).collect();
        format!("{{agent(id:1){{messages(limit:31){{items{{content text {copies}}}}}}}}}")
    };
    assert_eq!(verdict(&with(6)), PASSES);
    assert_eq!(verdict(&with(7)), TOO_MUCH);
    assert_eq!(
        verdict("{agent(id:1){messages(limit:50){items{body: text}}}}"),
        PASSES
    );
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
fn a_large_variable_is_not_copied_at_will() {
    let limits = Limits {
        body_bytes: 1_000,
        ..Limits::default()
    };
    let verdict = |query: &str| {
        let mut variables = Variables::default();
        variables.insert(Name::new("v"), Value::from("x".repeat(980)));
        variables.insert(Name::new("w"), Value::from(vec![1; 989]));
        code(check(query, None, &mut variables, &limits).err().as_ref())
    };
    for passes in [
        "{a(x:$v) b(x:$w)}",
        "{a(x:[$v $v])}",
        "{a(x:{k:$v}) @d(x:$v)}",
        "{context(limit:2){...f}} fragment f on T{a @d(x:$v)}",
    ] {
        assert_eq!(verdict(passes), PASSES, "{passes}");
    }
    for refused in [
        "{a(x:[$v $v $v])}",
        "{a(x:{k:$v l:{m:[$v] n:$w}})}",
        "{a(x:$v) @d(x:$v) ... @d(x:$v){b}}",
        "{...f ...f @d(x:$w)} fragment f on T{a(x:$v)}",
        "{messages(limit:3){a(x:$v)}}",
        "{a} fragment f on T{a(x:$v y:$v z:$v)}",
        "query @d(x:[$v $v $v]) {a}",
        "{...f} fragment f on T @d(x:[$v $v $v]) {a}",
    ] {
        assert_eq!(verdict(refused), TOO_MUCH, "{refused}");
    }
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
