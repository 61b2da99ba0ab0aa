# shellcheck shell=bash
# The table of benches/run. Sourced, not run.

median() {
    tr ' ' '\n' <<<"${RESULTS[$1]:?nothing was measured as $1}" | sed '/^$/d' | sort -g |
        awk '{ value[NR] = $1 } END { print NR % 2 ? value[(NR + 1) / 2] : (value[NR / 2] + value[NR / 2 + 1]) / 2 }'
}

# ratio NAME OTHER  the median of each round's ratio, so that a slow round weighs no more than another.
ratio() {
    local one other index
    read -ra one <<<"${RESULTS[$1]}"
    read -ra other <<<"${RESULTS[$2]}"
    for index in "${!one[@]}"; do
        awk -v a="${one[index]}" -v b="${other[index]}" 'BEGIN { print a / b }'
    done | sort -g | awk '{ value[NR] = $1 } END { print NR % 2 ? value[(NR + 1) / 2] : (value[NR / 2] + value[NR / 2 + 1]) / 2 }'
}

# Never in our favour: what is to be large is cut off, what is to be small goes up.
down() { awk -v x="$1" -v scale="$2" 'BEGIN { print int(x * scale) / scale }'; }
up() { awk -v x="$1" -v scale="$2" 'BEGIN { y = int(x * scale); if (y < x * scale) y++; print y / scale }'; }
percent() { awk -v x="$1" 'BEGIN { printf "%d %%", int(x * 100) }'; }

at_least() { awk -v x="$1" -v goal="$2" 'BEGIN { print x >= goal ? "yes" : "**no**" }'; }
at_most() { awk -v x="$1" -v goal="$2" 'BEGIN { print x <= goal ? "yes" : "**no**" }'; }

row() { printf '| %s | %s | %s | %s |\n' "$@"; }

against_pgbench() {
    local what=$1 kind=$2 goal=$3 share
    share=$(ratio "postgres.$kind.rate" "pgbench.$kind.rate")
    row "$what" "${goal:+≥ $(percent "$goal") of pgbench}" \
        "$(down "$(median "postgres.$kind.rate")" 1)/s of $(down "$(median "pgbench.$kind.rate")" 1)/s: $(percent "$share"); p99 $(up "$(median "postgres.$kind.p99")" 0.001 | awk '{ print $1 / 1000 }') ms" \
        "${goal:+$(at_least "$share" "$goal")}"
}

name_of() { [[ $1 == postgres ]] && echo PostgreSQL || echo SQLite; }

report() {
    local share latency start kind value
    say "Done"
    cat <<TABLE
PostgreSQL $(sql 'SHOW server_version' | cut -d' ' -f1) and SQLite, $LONG messages in one thread and $OTHERS in $THREADS others; $CONNECTIONS connections; medians of $ROUNDS rounds of $SECONDS_EACH s.
$(nproc) × $(awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo), shared by load, server and database; $(awk '/^MemTotal/ { printf "%d", $2 / 1048576 }' /proc/meminfo) GiB; Linux $(uname -r); $(rustc --version | cut -d' ' -f1,2); load average before $LOAD_BEFORE, after $(cut -d' ' -f1 /proc/loadavg).

| what | goal | measured | reached |
|---|---|---|---|
TABLE
    against_pgbench "first page of 50 of the long thread, PostgreSQL" first 0.15
    against_pgbench "deep page of it, by cursor" deep 0.15
    against_pgbench "50 threads with 5 messages each" nested ''
    against_pgbench "turn of 2 messages" turn 0.40
    latency=$(ratio postgres.first.1.p50 postgres.short.1.p50)
    row "page latency (p50), long thread / thread of 100" "≤ 1.1" \
        "$(median postgres.first.1.p50) / $(median postgres.short.1.p50) µs: $(up "$latency" 100)" "$(at_most "$latency" 1.1)"
    for kind in first deep; do
        value=$(median $kind.buffers)
        row "buffers of the $kind page" "≤ $((50 + 10 + 3 * $(median $kind.partitions)))" "$value, in $(median $kind.partitions) partition(s)" \
            "$(at_most "$value" $((50 + 10 + 3 * $(median $kind.partitions))))"
    done
    for kind in postgres sqlite; do
        row "memory of the server at 64 connections, at its peak after all of the above, $(name_of $kind)" "≤ 40 MiB" \
            "$(up "$(median $kind.memory)" 1) MiB" "$(at_most "$(median $kind.memory)" 40)"
    done
    share=$(ratio sqlite.first.rate driver.first.rate)
    row "first page of 50 of the long thread, SQLite" "≥ 20 % of the driver" \
        "$(down "$(median sqlite.first.rate)" 1)/s of $(down "$(median driver.first.rate)" 1)/s: $(percent "$share")" "$(at_least "$share" 0.20)"
    row "deep page; nested list; turn, SQLite" '' \
        "$(down "$(median sqlite.deep.rate)" 1)/s; $(down "$(median sqlite.nested.rate)" 1)/s; $(down "$(median sqlite.turn.rate)" 1)/s" ''
    start=$(median start.ms)
    row "start to first answer, embedded default" "≤ 200 ms" "$(up "$start" 1) ms" "$(at_most "$start" 200)"
    printf '\nA page is %s kB of JSON (the thread of 100: %s kB).\n' \
        "$(awk "BEGIN { printf \"%.1f\", $(median postgres.first.bytes) / 1000 }")" "$(awk "BEGIN { printf \"%.1f\", $(median postgres.short.1.bytes) / 1000 }")"
}
