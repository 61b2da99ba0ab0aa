"""What schemathesis does not know of Threadline: what a content looks like, and what every answer has to be."""

import graphql
import schemathesis
from hypothesis import strategies as st
from schemathesis.graphql import nodes

# Any other code means that the server failed.
REFUSALS = {
    "FORBIDDEN",
    "NOT_FOUND",
    "INVALID_CURSOR",
    "BAD_USER_INPUT",
    "CONFLICT",
    "GRAPHQL_VALIDATION_FAILED",
    "QUERY_TOO_COMPLEX",
}


@schemathesis.check
def answers_or_refuses(ctx, response, case):
    # `not_a_server_error` would take NOT_FOUND and CONFLICT for failures.
    assert response.status_code < 500, f"status {response.status_code}"
    answer = response.json()
    assert answer.get("data") is not None or answer.get("errors"), "neither data nor errors"
    for error in answer.get("errors", []):
        code = error.get("extensions", {}).get("code")
        assert code in REFUSALS, f"an error with the code {code}: {error['message']}"
        assert 0 < len(error["message"]) <= 300, "a message that is empty or too long"


def node(value):
    """A JSON value as GraphQL spells it."""
    match value:
        case None:
            return nodes.Null
        case bool():
            return nodes.Boolean(value)
        case int():
            return nodes.Int(value)
        case float():
            return nodes.Float(value)
        case str():
            return nodes.String(value)
        case list():
            return nodes.List([node(item) for item in value])
        case dict():
            members = ((graphql.NameNode(value=name), node(member)) for name, member in value.items())
            return nodes.Object([graphql.ObjectFieldNode(name=name, value=member) for name, member in members])


NAMES = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,9}", fullmatch=True)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
PARTS = st.one_of(
    st.fixed_dictionaries({"type": st.sampled_from(["text", "reasoning"]), "text": st.text()}),
    st.fixed_dictionaries({"type": st.just("tool-call"), "toolCallId": st.text(), "toolName": st.text(), "input": ANYTHING}),
    st.fixed_dictionaries({"type": st.text(), "url": st.text(), "x": ANYTHING}),
)
CONTENTS = st.fixed_dictionaries({"parts": st.lists(PARTS, min_size=1, max_size=3)})
schemathesis.graphql.scalar("JSON", (CONTENTS | ANYTHING).map(node))
