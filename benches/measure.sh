# shellcheck shell=bash
# What benches/run measures, and how. Sourced, not run.

# A seed whose thread of 100 messages has a first page of about as many bytes as the long thread's.
readonly SHORT_SEED=2
readonly FIELDS='items { id turnId role content tokens stopped inContext createdAt } nextCursor hasMore'
declare -A RESULTS=() PIDS=() ADDRESS=()

sql() { "$(postgres_bin)/psql" "$POSTGRES_URL" -v ON_ERROR_STOP=1 -qAtX -c "$1"; }

# --- servers -----------------------------------------------------------------------------------

# start_server NAME URL
start_server() {
    local name=$1 url=$2 port
    port=$((20000 + RANDOM % 12000))
    while ! is_free "$port"; do port=$((port + 1)); done
    # Away from the folder of whoever runs this, and from its threadline.toml.
    (cd "$WORK" && exec "$THREADLINE" serve --listen "127.0.0.1:$port" --database-url "$url") 2>"$WORK/$name.log" &
    PIDS[$name]=$! ADDRESS[$name]=127.0.0.1:$port
    local attempt
    for ((attempt = 0; attempt < 200; attempt++)); do
        ! curl -sf "http://127.0.0.1:$port/readyz" >/dev/null || return 0
        sleep 0.05
    done
    cat "$WORK/$name.log" >&2
    die "the server over $name did not start"
}

stop_server() {
    kill "${PIDS[$1]}" 2>/dev/null || true
    wait "${PIDS[$1]}" 2>/dev/null || true
    unset "PIDS[$1]"
}

stop_servers() {
    local name
    for name in "${!PIDS[@]}"; do stop_server "$name"; done
}

# post NAME BODY_FILE  one request; its answer, which has to be without errors.
post() {
    local answer
    answer=$(curl -sS "http://${ADDRESS[$1]}/graphql" -H 'content-type: application/json' --data-binary "@$2")
    [[ $answer != *'"errors"'* && $answer == *'"data"'* ]] || die "a request failed: ${answer:0:500}"
    printf '%s' "$answer"
}

# member NAME JSON  the first string of that name.
member() { sed -E "s/.*\"$1\":\"([^\"]+)\".*/\1/" <<<"$2"; }

# --- requests ----------------------------------------------------------------------------------

# Writes WORK/NAME.KIND: the bodies of the requests for the rows of one database.
write_requests() {
    local name=$1 page="query(\$id: ID!, \$cursor: String) { thread(id: \$id) { messages(limit: 50, cursor: \$cursor) { $FIELDS } } }"
    local long short cursor
    long=$(thread_id "$name" "$LONG_PERSON")
    short=$(thread_id "$name" "$SHORT_PERSON")
    page_of() { printf '{"query":"%s","variables":{"id":"%s","cursor":%s}}' "$page" "$1" "$2"; }
    page_of "$long" null >"$WORK/$name.first"
    page_of "$short" null >"$WORK/$name.short"
    printf '{"query":"query($id: ID!, $cursor: String) { thread(id: $id) { messages(limit: 200, cursor: $cursor) { nextCursor } } }","variables":{"id":"%s","cursor":@CURSOR@}}' "$long" >"$WORK/walk"
    cursor=$(wrk -t1 -c1 -d10s -s benches/walk.lua "http://${ADDRESS[$name]}/graphql" -- "$WORK/walk" $((LONG / 400)) | sed -n 's/^CURSOR //p')
    [[ -n $cursor ]] || die "the walk through the long thread found no cursor"
    page_of "$long" "\"$cursor\"" >"$WORK/$name.deep"
    printf '{"query":"{ agent(id: \\"support\\") { threads(limit: 50) { items { id personId messages(limit: 5) { items { id role content createdAt } hasMore } } } } }"}' >"$WORK/$name.nested"
    write_turn >"$WORK/$name.turn"
    local kind
    for kind in first deep short nested; do post "$name" "$WORK/$name.$kind" >"$WORK/$name.$kind.json"; done
}

write_turn() {
    local query='mutation($turn: AppendTurnInput!) { appendTurn(input: $turn) { replayed messages { id createdAt } } }'
    local text='Where is my order? It was meant to be here two days ago, and the page says nothing but that it left.'
    local said='It is on its way: the courier has it since this morning and brings it between two and four in the afternoon. I have asked them to ring twice, as you wished. Is there anything else that I can look up for you?'
    printf '{"query":"%s","variables":{"turn":{"thread":{"agentId":"bench","channel":"api","personId":"@PERSON@"},"turnId":"@TURN@","messages":[{"role":"USER","content":{"parts":[{"type":"text","text":"%s"}]}},{"role":"ASSISTANT","tokens":61,"content":{"parts":[{"type":"text","text":"%s"}]}}]}}}' "$query" "$text" "$said"
}

thread_id() {
    printf '{"query":"{ threadByKey(key: { agentId: \\"research\\", channel: \\"api\\", personId: \\"%s\\" }) { id } }"}' "$2" >"$WORK/key"
    member id "$(post "$1" "$WORK/key")"
}

# What the same requests are in SQL, as PostgreSQL logs it: WORK/KIND.sql with WORK/KIND.args for pgbench.
write_statements() {
    local kind before
    sql "ALTER ROLE bench SET log_statement = 'all'"
    start_server logged "$POSTGRES_URL"
    for kind in first deep nested turn; do
        sed "s/@TURN@/logged-$RANDOM-$RANDOM/; s/@PERSON@/bench-1/" "$WORK/postgres.$kind" >"$WORK/logged"
        before=$(stat -c %s "$POSTGRES_DIR/server.log")
        post logged "$WORK/logged" >/dev/null
        tail -c +$((before + 1)) "$POSTGRES_DIR/server.log" >"$WORK/$kind.log"
        local rules=()
        if [[ $kind == turn ]]; then
            local id="(lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 3) || '8' || substr(md5(random()::text), 1, 15))::uuid"
            rules=("chat.person_id='bench-' || :person" turn.chat_id=:id message.chat_id=:id chat.id=:id
                'turn.turn_key=gen_random_uuid()' "message.id=$id" "chat.last_message_id=$id"
                chat.first_message_id=:first_message_id 'chat.message_count=:message_count + 2')
            echo "\\set person random(1, $PERSONS)" >"$WORK/$kind.sql"
        else
            : >"$WORK/$kind.sql"
        fi
        perl benches/statements.pl pgbench "$WORK/$kind.args" "${rules[@]}" <"$WORK/$kind.log" >>"$WORK/$kind.sql"
        perl benches/statements.pl explain <"$WORK/$kind.log" >"$WORK/$kind.explain"
    done
    stop_server logged
    sql 'ALTER ROLE bench RESET log_statement'

    THREADLINE_LOG_FORMAT=json THREADLINE_LOG_LEVEL=info,sqlx=debug start_server logged "$SQLITE_URL"
    before=$(stat -c %s "$WORK/logged.log")
    post logged "$WORK/sqlite.first" >/dev/null
    tail -c +$((before + 1)) "$WORK/logged.log" | sed -nE 's/.*"db.statement":"((\\.|[^"\\])*)".*/\1/p' |
        sed 's/\\n//g; s/\\"/"/g' | grep '^SELECT' >"$WORK/sqlite.sql"
    stop_server logged
}

# --- numbers -----------------------------------------------------------------------------------

# keep NAME VALUE  one more measurement of that name.
keep() { RESULTS[$1]+="$2 "; }

# http NAME KIND [CONNECTIONS]  requests a second, and p50 and p99 in µs, of one request over and over.
http() {
    local name=$1 kind=$2 connections=${3:-$CONNECTIONS} result
    result=$(wrk -t1 "-c$connections" "-d${SECONDS_EACH}s" --latency -s benches/load.lua "http://${ADDRESS[$name]}/graphql" -- \
        "$WORK/$name.$kind" $([[ $kind != turn ]] || echo "run-$RANDOM-$RANDOM $PERSONS") | sed -n 's/^RESULT //p')
    read -r rate p50 p99 bytes lost <<<"$result"
    ((lost == 0)) || die "$lost of the requests for $kind failed"
    local label=$name.$kind
    ((connections == CONNECTIONS)) || label+=.$connections
    keep "$label.rate" "$rate"
    keep "$label.p50" "$p50"
    keep "$label.p99" "$p99"
    keep "$label.bytes" "$bytes"
    printf '  %-24s %10s /s\n' "$label" "$rate" >&2
}

# The same statements from pgbench.
pgbench_of() {
    local kind=$1 args rate
    mapfile -d '' -t args <"$WORK/$kind.args"
    # As the server sets it: without, PostgreSQL would plan anew what it runs, and pgbench were slower.
    rate=$(PGOPTIONS='-c plan_cache_mode=force_generic_plan -c jit=off -c enable_seqscan=off' "$(postgres_bin)/pgbench" "$POSTGRES_URL" -n -M prepared -c "$CONNECTIONS" -j 2 -T "$SECONDS_EACH" \
        -f "$WORK/$kind.sql" "${args[@]}" 2>"$WORK/pgbench.log" | sed -nE 's/^tps = ([0-9.]+).*/\1/p')
    [[ -n $rate ]] || { cat "$WORK/pgbench.log" >&2; die "pgbench failed for $kind"; }
    keep "pgbench.$kind.rate" "$rate"
    printf '  %-24s %10.1f /s\n' "pgbench.$kind" "$rate" >&2
}

driver() {
    local rate
    rate=$("$DRIVER" "$SQLITE_URL" "$(<"$WORK/sqlite.id")" "$WORK/sqlite.sql" "$CONNECTIONS" "$SECONDS_EACH")
    keep driver.first.rate "$rate"
    printf '  %-24s %10.1f /s\n' driver.first "$rate" >&2
}

# Before the rounds.
prepare() {
    LOAD_BEFORE=$(cut -d' ' -f1 /proc/loadavg)
    LONG_PERSON=$(sql "SELECT person_id FROM threadline.chat WHERE agent_id = 'research' ORDER BY message_count DESC LIMIT 1")
    SHORT_PERSON=$(sql "SELECT person_id FROM threadline.chat WHERE agent_id = 'research' AND channel = 'api' AND message_count = 100 AND person_id LIKE '${LONG_PERSON%-*}-%' LIMIT 1")
    sql 'ALTER ROLE bench SET search_path = threadline'
    say "Asking the servers once"
    start_server postgres "$POSTGRES_URL"
    start_server sqlite "$SQLITE_URL"
    write_requests postgres
    write_requests sqlite
    thread_id sqlite "$LONG_PERSON" >"$WORK/sqlite.id"
    write_statements
}

measure_round() {
    local kind
    for kind in first deep nested turn; do
        http postgres $kind
        pgbench_of $kind
    done
    # By turns and twice, so that neither always comes first.
    for kind in first short short first; do http postgres $kind 1; done
    for kind in first deep nested turn; do http sqlite $kind; done
    driver
    start_time
}

# start_time  from nothing to the first answer, in an empty folder, in ms.
start_time() {
    local folder port begin pid
    folder=$(mktemp -d "$WORK/start.XXXXXX")
    port=$((20000 + RANDOM % 12000))
    while ! is_free "$port"; do port=$((port + 1)); done
    begin=$(date +%s%N)
    (cd "$folder" && exec "$THREADLINE" serve --listen "127.0.0.1:$port" 2>/dev/null) &
    pid=$!
    PIDS[start]=$pid
    while is_free "$port"; do :; done
    curl -sf "http://127.0.0.1:$port/graphql" -H 'content-type: application/json' -d '{"query":"{ viewer { role } }"}' >/dev/null
    keep start.ms $((($(date +%s%N) - begin) / 1000000))
    stop_server start
    rm -rf "$folder"
}

# What does not wander: buffers, and memory under 64 connections at the end of everything else.
measure_once() {
    local kind
    say "Buffers and memory"
    for kind in first deep; do
        PGOPTIONS='-c plan_cache_mode=force_generic_plan -c enable_seqscan=off' "$(postgres_bin)/psql" "$POSTGRES_URL" -v ON_ERROR_STOP=1 -qAtX -f "$WORK/$kind.explain" >"$WORK/$kind.plan"
        # The last plan is the page's: the one before it finds the thread.
        keep "$kind.buffers" "$(awk '/Buffers:/ && !seen { seen = 1; n = 0; while (match($0, /(hit|read)=[0-9]+/)) { n += substr($0, RSTART, RLENGTH) ~ /hit/ ? substr($0, RSTART + 4, RLENGTH - 4) : substr($0, RSTART + 5, RLENGTH - 5); $0 = substr($0, RSTART + RLENGTH) } } /^Limit|^Nested|^Subquery/ { seen = 0 } END { print n }' "$WORK/$kind.plan")"
        keep "$kind.partitions" "$(grep -E 'Scan.* on message_[0-9]+' "$WORK/$kind.plan" | grep -vc 'never executed')"
    done
    for kind in postgres sqlite; do
        http $kind first 64
        keep "$kind.memory" "$(awk '/^VmHWM/ { printf "%.1f", $2 / 1024 }' "/proc/${PIDS[$kind]}/status")"
    done
}
