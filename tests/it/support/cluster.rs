//! A PostgreSQL that the test owns, so that it may kill it: with fsync on, in a folder and on a port of its own.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sea_orm::ConnectionTrait;
use tempfile::TempDir;

use super::{Database, database};

/// Who owns the files and runs the programs.
#[derive(Clone, Copy)]
struct User {
    id: u32,
    group: u32,
}

/// A PostgreSQL of one test, gone with it.
pub struct Cluster {
    folder: TempDir,
    programs: PathBuf,
    user: Option<User>,
    password: String,
    port: u16,
}

const SETTINGS: &str = "
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 100
shared_buffers = 64MB
fsync = on
synchronous_commit = on
full_page_writes = on
log_min_messages = fatal
";

/// How long PostgreSQL may take to come back on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);

impl Cluster {
    /// Makes one and starts it.
    pub async fn start() -> Self {
        let folder = TempDir::with_prefix("threadline-postgres-").unwrap();
        let cluster = Self {
            user: other_user(),
            programs: programs(),
            password: format!("{:032x}", rand::random::<u128>()),
            // Below those that the system gives to clients, so that it is free again after a crash.
            port: rand::random_range(20_000..32_000),
            folder,
        };
        fs::write(cluster.folder.path().join("password"), &cluster.password).unwrap();
        if let Some(User { id, group }) = cluster.user {
            for path in [cluster.folder.path(), &cluster.folder.path().join("password")] {
                chown(path, Some(id), Some(group)).unwrap();
            }
        }
        let arguments =
            "--pgdata=data --username=tests --pwfile=password --auth=password --encoding=UTF8 --locale=C";
        let made = cluster
            .program("initdb")
            .args(arguments.split(' '))
            .stdout(Stdio::null())
            .status();
        assert!(made.unwrap().success(), "initdb");
        let settings = cluster.folder.path().join("data/postgresql.auto.conf");
        fs::write(settings, format!("{SETTINGS}port = {}\n", cluster.port)).unwrap();
        cluster.run();
        cluster.accepts().await;
        cluster
    }

    /// Starts it again; when it was killed it recovers from its log first.
    pub fn run(&self) {
        // What was there before has to be gone, its shared memory too.
        let began = Instant::now();
        loop {
            let started = self
                .program("pg_ctl")
                .args([
                    "start",
                    "--no-wait",
                    "--silent",
                    "--pgdata=data",
                    "--log=server.log",
                ])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            assert!(started.unwrap().success(), "pg_ctl: {}", self.log());
            std::thread::sleep(Duration::from_millis(200));
            if self.postmaster().is_some_and(|id| exists(&id)) {
                return;
            }
            assert!(
                began.elapsed() < PATIENCE,
                "PostgreSQL does not start: {}",
                self.log()
            );
        }
    }

    /// Waits until a connection is accepted, and says when it was.
    pub async fn accepts(&self) -> Instant {
        let began = Instant::now();
        loop {
            if let Ok(db) = sea_orm::Database::connect(self.url()).await
                && db.execute_unprepared("SELECT 1").await.is_ok()
            {
                db.close().await.unwrap();
                return Instant::now();
            }
            assert!(
                began.elapsed() < PATIENCE,
                "PostgreSQL does not accept: {}",
                self.log()
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Ends all its processes without warning.
    pub fn kill9(&self) {
        let postmaster = self.postmaster().expect("it runs");
        let all = Command::new("ps")
            .args(["-A", "-o", "pid=,ppid="])
            .output()
            .unwrap();
        let all = String::from_utf8(all.stdout).unwrap();
        let pairs = all.lines().filter_map(|line| line.trim().split_once(' '));
        let children = pairs.filter(|(_, parent)| parent.trim() == postmaster);
        // The postmaster first, so that it starts no more of them.
        let mut doomed = vec![postmaster.as_str()];
        doomed.extend(children.map(|(child, _)| child));
        // Some may end by themselves meanwhile.
        let _ = Command::new("kill")
            .arg("-9")
            .args(&doomed)
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let began = Instant::now();
        while doomed.iter().any(|id| exists(id)) {
            assert!(began.elapsed() < PATIENCE, "PostgreSQL lives on");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// The database of the chats in it.
    pub fn database(&self) -> Database {
        database::at(self.url())
    }

    fn url(&self) -> String {
        format!(
            "postgres://tests:{}@127.0.0.1:{}/postgres",
            self.password, self.port
        )
    }

    fn postmaster(&self) -> Option<String> {
        let file = fs::read_to_string(self.folder.path().join("data/postmaster.pid")).ok()?;
        file.lines().next().map(|id| id.trim().to_owned())
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("server.log")).unwrap_or_default()
    }

    /// One of PostgreSQL's programs, which refuse to be run by root.
    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        if let Some(User { id, group }) = self.user {
            command.uid(id).gid(group);
        }
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let stop = ["stop", "--silent", "--mode=immediate", "--pgdata=data"];
        // It fails when it is down already.
        let _ = self.program("pg_ctl").args(stop).stderr(Stdio::null()).status();
    }
}

/// Whether a process lives; one that nobody has buried yet does not.
fn exists(id: &str) -> bool {
    let state = Command::new("ps")
        .args(["-o", "stat=", "-p", id])
        .output()
        .unwrap();
    let state = String::from_utf8(state.stdout).unwrap();
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

/// The newest PostgreSQL that is installed, as `tests/machine.sh` finds it.
pub fn programs() -> PathBuf {
    let found = Command::new("bash")
        .args(["-c", "PROGRAM=tests; . tests/machine.sh; postgres_bin"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .output()
        .unwrap();
    let found = String::from_utf8(found.stdout).unwrap();
    assert!(
        !found.trim().is_empty(),
        "no PostgreSQL is installed: run tests/run"
    );
    PathBuf::from(found.trim())
}

/// PostgreSQL's own user, or nobody, when this is root.
fn other_user() -> Option<User> {
    let id = |arguments: &[&str]| -> Option<u32> {
        let found = Command::new("id")
            .args(arguments)
            .stderr(Stdio::null())
            .output()
            .unwrap();
        String::from_utf8(found.stdout).unwrap().trim().parse().ok()
    };
    if id(&["-u"]) != Some(0) {
        return None;
    }
    let name = if id(&["-u", "postgres"]).is_some() {
        "postgres"
    } else {
        "nobody"
    };
    Some(User {
        id: id(&["-u", name]).expect("a user"),
        group: id(&["-g", name]).expect("a group"),
    })
}
