//! The real binary, as a user runs it.

use std::io::{BufRead, BufReader};
use std::ops::Deref;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::{Client, Database};

/// A running `threadline serve`, killed when dropped.
pub struct Process {
    child: Child,
    client: Client,
    output: Arc<Mutex<String>>,
}

impl Process {
    /// Starts `threadline serve` over a database and waits until it is ready.
    pub async fn start(database: &Database, arguments: &[&str]) -> Self {
        let mut command = threadline(database);
        command.arg("serve").args(arguments);
        Self::run(command).await
    }

    /// Starts a server that waits long for others: a busy machine with a slow build must not look like a database
    /// that hangs.
    pub async fn patient(database: &Database) -> Self {
        let patient = [
            "--database-lock-timeout=60s",
            "--database-acquire-timeout=60s",
            "--database-statement-timeout=60s",
            "--limits-request-timeout=60s",
            "--limits-header-timeout=60s",
        ];
        Self::start(database, &patient).await
    }

    /// Starts two of them over one database.
    pub async fn pair(database: &Database) -> [Self; 2] {
        [Self::patient(database).await, Self::patient(database).await]
    }

    /// Starts a server with settings in its environment, as secrets are given.
    pub async fn start_with_env(database: &Database, variables: &[(&str, &str)]) -> Self {
        let mut command = threadline(database);
        command.arg("serve").envs(variables.iter().copied());
        Self::run(command).await
    }

    /// Starts a server and does not wait for it.
    pub fn spawn(database: &Database, arguments: &[&str]) -> Self {
        let mut command = threadline(database);
        command.arg("serve").args(arguments);
        Self::begin(command)
    }

    fn begin(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = Arc::new(Mutex::new(String::new()));
        keep(child.stdout.take().expect("piped"), &output);
        keep(child.stderr.take().expect("piped"), &output);
        Self {
            child,
            client: Client::new(String::new()),
            output,
        }
    }

    /// Runs a command that serves.
    pub async fn run(command: Command) -> Self {
        let mut process = Self::begin(command);
        let address = process
            .until(|process| address_in(&process.output(), "serving"))
            .await;
        process.client = Client::new(format!("http://{address}"));
        while !process.client.is_ok("/readyz").await {
            process.until(|_| Some(())).await;
        }
        process
    }

    /// Waits for something of a server that is starting.
    async fn until<T>(&mut self, is_there: impl Fn(&Self) -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            tokio::time::sleep(Duration::from_millis(10)).await;
            if let Some(found) = is_there(self) {
                return found;
            }
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("the server ended with {status}:\n{}", self.output());
            }
            let waited = start.elapsed();
            assert!(
                waited < Duration::from_secs(30),
                "not there in 30 s:\n{}",
                self.output()
            );
        }
    }

    /// What the server printed until now.
    pub fn output(&self) -> String {
        self.output.lock().unwrap().clone()
    }

    /// The admin listener, for a server that has one.
    pub fn admin(&self) -> Client {
        let address = address_in(&self.output(), "metrics are at /metrics").expect("an admin listener");
        Client::new(format!("http://{address}"))
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Ends the server without warning, as a power cut or the kernel would.
    pub fn kill9(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks the server to end, as a supervisor would.
    pub fn ask_to_end(&self) {
        let pid = self.child.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(asked.unwrap().success());
    }

    /// The same, and waits until it has ended.
    pub async fn terminate(&mut self) -> ExitStatus {
        self.ask_to_end();
        self.ended().await
    }

    /// Waits until the server has ended.
    pub async fn ended(&mut self) -> ExitStatus {
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

impl Deref for Process {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail when it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The command `threadline` over a database, with no other settings than its defaults, and no admin listener.
pub fn threadline(database: &Database) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadline"));
    command.env_clear().env("DATABASE_URL", database.url());
    command.env("THREADLINE_LISTEN", "127.0.0.1:0");
    // The default port is one for all the servers of this machine.
    command.env("THREADLINE_ADMIN_LISTEN", "off");
    command.current_dir(database.folder()).stdin(Stdio::null());
    command
}

/// The address in the line that says this, as text or as JSON.
fn address_in(output: &str, said: &str) -> Option<String> {
    let line = output.lines().find(|line| line.contains(said))?;
    let (_, address) = line.split_once("address")?;
    let address = address.trim_start_matches(['"', ':', '=']);
    let end = address.find(|c: char| !matches!(c, '0'..='9' | '.' | ':'));
    Some(address[..end.unwrap_or(address.len())].to_owned())
}

fn keep(stream: impl std::io::Read + Send + 'static, output: &Arc<Mutex<String>>) {
    let output = Arc::clone(output);
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let mut output = output.lock().unwrap();
            output.push_str(&line);
            output.push('\n');
        }
    });
}
