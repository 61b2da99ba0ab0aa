//! A file system of 32 MiB, for one command and the processes that it starts.

use std::fs::{create_dir_all, remove_file, write};
use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{cluster, id};

/// What is taken up for good, so that a test need not write so much, and how large a piece is that can be freed.
const TAKEN_UP: usize = 12 << 20;
const PIECE: usize = 2 << 20;

/// In a namespace of its own, so that nothing has to be unmounted.
const MOUNT: &str = r#"mount -t tmpfs -o size=32m,mode=0777 threadline-test "$0" && exec "$@""#;

/// Makes a cluster, its write-ahead log elsewhere and without checkpoints: PostgreSQL ends itself when it has no room for
/// those, and takes no connections then. Then makes room for rows: two thirds of a new cluster are templates. PostgreSQL
/// refuses to run as root.
const CLUSTER: &str = r#"
set -eu
bin=$1 port=$2
user=postgres
id "$user" >/dev/null 2>&1 || user=nobody
[ "$(id -u)" != 0 ] || exec setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups sh -c "$0" "$0" "$@"
"$bin/initdb" --pgdata=disk/data --waldir="$PWD/wal" --username=tests --auth=password --pwfile=password \
    --encoding=UTF8 --locale=C --no-sync --wal-segsize=1 >initdb.log
echo "UPDATE pg_database SET datistemplate = false;
DROP DATABASE template0;
DROP DATABASE template1;" | while read -r sql; do
    echo "$sql" | "$bin/postgres" --single -D disk/data postgres >>initdb.log
done
exec "$bin/postgres" -D disk/data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= \
    -c shared_buffers=8MB -c fsync=off -c max_wal_size=1GB -c checkpoint_timeout=1h -c autovacuum=off -c log_min_messages=fatal
"#;

/// The small file system of a running process, at `disk` in a folder.
pub struct SmallDisk {
    path: PathBuf,
    pieces: usize,
}

impl SmallDisk {
    /// The same command, with a small file system at `disk` in this folder.
    pub fn under(command: &Command, folder: &Path) -> Command {
        let disk = folder.join("disk");
        create_dir_all(&disk).unwrap();
        let mut under = Command::new("unshare");
        if !is_root() {
            under.args(["--user", "--map-root-user"]);
        }
        let allowed = Command::new("unshare")
            .args(under.get_args())
            .args(["--mount", "true"])
            .status();
        assert!(
            allowed.is_ok_and(|status| status.success()),
            "a small file system cannot be mounted here: run the tests as root, or allow user namespaces \
             (sysctl kernel.unprivileged_userns_clone=1)"
        );
        under.args(["--mount", "sh", "-c", MOUNT]).arg(&disk);
        if !is_root() && command.get_program() == "sh" {
            // Back to who we are: PostgreSQL does not like to be root.
            under.args(["unshare", "--user", "--map-user=1000"]);
        }
        under.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            under.env(name, value.unwrap_or_default());
        }
        under.current_dir(folder);
        under
    }

    /// The file system of a process that was started so, with some of its room taken up.
    pub fn of(pid: u32, folder: &Path, pieces: usize) -> Self {
        let mut path = PathBuf::from(format!("/proc/{pid}/root"));
        path.extend(folder.join("disk").components().skip(1));
        write(path.join("taken-up"), vec![1; TAKEN_UP]).unwrap();
        for piece in 0..pieces {
            write(path.join(format!("piece.{piece}")), vec![1; PIECE]).unwrap();
        }
        Self { path, pieces }
    }

    /// Frees some room.
    pub fn free(&mut self) {
        self.pieces = self.pieces.checked_sub(1).expect("a piece is left");
        remove_file(self.path.join(format!("piece.{}", self.pieces))).unwrap();
    }
}

/// A PostgreSQL whose rows are on a small file system; ended when dropped.
pub struct SmallPostgres {
    postmaster: Child,
    url: String,
}

impl SmallPostgres {
    pub fn start(folder: &Path) -> Self {
        let password = id::unused().simple().to_string();
        write(folder.join("password"), &password).unwrap();
        open_to_all(folder);
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let mut command = Command::new("sh");
        command
            .args(["-c", CLUSTER, CLUSTER])
            .arg(cluster::programs())
            .arg(port.to_string());
        let mut command = SmallDisk::under(&command, folder);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut postgres = Self {
            postmaster: command.spawn().unwrap(),
            url: format!("postgres://tests:{password}@127.0.0.1:{port}/postgres"),
        };
        let began = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Some(status) = postgres.postmaster.try_wait().unwrap() {
                let mut said = String::new();
                let _ = postgres
                    .postmaster
                    .stderr
                    .take()
                    .expect("piped")
                    .read_to_string(&mut said);
                panic!("PostgreSQL ended with {status}: {said}");
            }
            assert!(began.elapsed() < Duration::from_secs(60), "PostgreSQL starts");
            sleep(Duration::from_millis(50));
        }
        postgres
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn pid(&self) -> u32 {
        self.postmaster.id()
    }
}

impl Drop for SmallPostgres {
    fn drop(&mut self) {
        // SIGQUIT: at once, its children with it.
        let _ = Command::new("kill")
            .args(["-QUIT", &self.pid().to_string()])
            .status();
        let _ = self.postmaster.wait();
    }
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout.trim_ascii() == b"0"
}

/// PostgreSQL's user has to write here.
fn open_to_all(folder: &Path) {
    let opened = Command::new("chmod").args(["-R", "a+rwX"]).arg(folder).status();
    assert!(opened.unwrap().success());
}
