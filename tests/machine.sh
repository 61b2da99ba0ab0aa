# shellcheck shell=bash
# What tests/run, benches/run, fuzz/run and .ci/run share: installing what is missing, and a private PostgreSQL.
# Sourced, not run.

# Whoever sources this says which command the user ran.
: "${PROGRAM:?}"

say() { printf '\n\033[1m==> %s\033[0m\n' "$*" >&2; }
die() { printf '%s: %s\n' "$PROGRAM" "$*" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

# --- what is missing ---------------------------------------------------------------------------

readonly MIN_POSTGRES=15

# Prints the folder with initdb and pg_ctl of the newest PostgreSQL that is new enough.
postgres_bin() {
    local dir version best='' best_version=0
    for dir in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /opt/homebrew/opt/postgresql@*/bin \
        "$(dirname "$(command -v pg_ctl || echo /none/pg_ctl)")"; do
        [[ -x $dir/initdb && -x $dir/pg_ctl && -x $dir/postgres ]] || continue
        version=$("$dir/postgres" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/')
        if ((version >= MIN_POSTGRES && version > best_version)); then
            best=$dir best_version=$version
        fi
    done
    [[ -n $best ]] && echo "$best"
}

# Installing Debian's `postgresql` also creates and starts a cluster. We only want its programs.
without_a_cluster() {
    local conf=/etc/postgresql-common/createcluster.conf
    if [[ -e $conf ]] || ! "${AS_ROOT[@]}" mkdir -p /etc/postgresql-common; then
        "$@"
        return
    fi
    echo 'create_main_cluster = false' | "${AS_ROOT[@]}" tee "$conf" >/dev/null
    local result=0
    "$@" || result=$?
    "${AS_ROOT[@]}" rm -f "$conf"
    # Where the package has put its own file meanwhile.
    [[ ! -e $conf.ucf-dist ]] || "${AS_ROOT[@]}" mv "$conf.ucf-dist" "$conf"
    return $result
}

# install PACKAGE…  Debian's names; as root or by a sudo that asks for no password, else it says what to run.
install() {
    (($#)) || return 0
    local command="apt-get update && apt-get install -y --no-install-recommends $*"
    if ! has apt-get; then
        die "missing: $* (these are Debian's names). Install them with your package manager, then run this again."
    fi
    if ((EUID == 0)); then
        AS_ROOT=(env DEBIAN_FRONTEND=noninteractive)
    elif has sudo && sudo -n true 2>/dev/null; then
        AS_ROOT=(sudo -n env DEBIAN_FRONTEND=noninteractive)
    else
        local who=' as root'
        ! has sudo || who='' command="sudo sh -c '$command'"
        die "missing: $*. Run this$who, then $PROGRAM again:
    $command"
    fi
    say "Installing $*"
    "${AS_ROOT[@]}" apt-get update -q
    without_a_cluster "${AS_ROOT[@]}" apt-get install -y -q --no-install-recommends "$@"
}

# tool CRATE VERSION  puts a tool from crates.io into target/tools, and that folder into PATH.
tool() {
    local root=$PWD/target/tools
    [[ :$PATH: == *:$root/bin:* ]] || export PATH=$root/bin:$PATH
    ! grep -qs "^\"$1 $2 " "$root/.crates.toml" || return 0
    say "Installing $1 $2 into target/tools"
    # They run for a second: it is compiling them that takes long.
    cargo install --quiet --locked --debug --root "$root" --version "$2" "$1" ||
        die "$1 cannot be installed. See what cargo says above, then run this again."
}

# --- a PostgreSQL of our own -------------------------------------------------------------------

POSTGRES_DIR=''
POSTGRES_BIN=''
POSTGRES_KEPT=''
POSTGRES_URL=''
AS_POSTGRES=()

# PostgreSQL refuses to run as root: its own user does it then, or nobody.
choose_postgres_user() {
    ((EUID == 0)) || return 0
    local user=nobody
    ! id -u postgres >/dev/null 2>&1 || user=postgres
    chown "$user" "$POSTGRES_DIR"
    if has setpriv; then
        AS_POSTGRES=(setpriv "--reuid=$user" "--regid=$(id -g "$user")" --clear-groups)
    else
        AS_POSTGRES=(runuser -u "$user" --)
    fi
}

as_postgres() { (cd "$POSTGRES_DIR" && HOME=$POSTGRES_DIR "${AS_POSTGRES[@]}" "$@"); }

is_free() { ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# run_postgres USER SETTINGS [DIR]  starts one and sets POSTGRES_URL. Without DIR its folder is gone when it stops.
run_postgres() {
    local user=$1 settings=$2 dir=${3:-} attempt port
    POSTGRES_BIN=$(postgres_bin) || die "PostgreSQL $MIN_POSTGRES or later is needed and this system's packages have none. See https://www.postgresql.org/download/"
    if [[ -n $dir ]]; then
        mkdir -p "$dir"
        POSTGRES_DIR=$(cd "$dir" && pwd) POSTGRES_KEPT=yes
    else
        POSTGRES_DIR=$(mktemp -d "/tmp/threadline-$user.XXXXXX")
    fi
    choose_postgres_user

    say "Starting a private $("$POSTGRES_BIN/postgres" --version)"
    if [[ ! -e $POSTGRES_DIR/data/PG_VERSION ]]; then
        as_postgres sh -c "umask 077 && od -An -N16 -tx1 /dev/urandom | tr -d ' \n' > password"
        as_postgres "$POSTGRES_BIN/initdb" --pgdata=data --username="$user" --pwfile=password \
            --auth=password --encoding=UTF8 --locale=C --no-sync >"$POSTGRES_DIR/initdb.log" 2>&1 ||
            { cat "$POSTGRES_DIR/initdb.log" >&2; die "initdb failed"; }
        as_postgres tee -a data/postgresql.conf >/dev/null <<<"$settings"
    fi
    for attempt in 1 2 3 4 5; do
        port=$((20000 + RANDOM % 12000))
        is_free "$port" || continue
        if as_postgres "$POSTGRES_BIN/pg_ctl" start --wait --silent --pgdata=data --log=server.log --options="-p $port"; then
            POSTGRES_URL="postgres://$user:$(<"$POSTGRES_DIR/password")@127.0.0.1:$port/postgres"
            return
        fi
    done
    cat "$POSTGRES_DIR/server.log" >&2 || true
    die "PostgreSQL did not start after $attempt attempts"
}

stop_postgres() {
    [[ -n $POSTGRES_DIR ]] || return 0
    if [[ -e $POSTGRES_DIR/data/postmaster.pid ]]; then
        local mode=immediate
        [[ -z $POSTGRES_KEPT ]] || mode=fast
        as_postgres "$POSTGRES_BIN/pg_ctl" stop --silent --mode=$mode --pgdata=data || true
    fi
    [[ -n $POSTGRES_KEPT ]] || rm -rf "$POSTGRES_DIR"
    POSTGRES_DIR=''
}
