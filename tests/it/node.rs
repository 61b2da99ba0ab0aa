//! Scripts of `tests/web` in Node.js, against a running server.

use std::{path::Path, process::Command, sync::Once};

/// Runs a script and gives what it printed; the test fails when the script does.
pub fn run(script: &str, arguments: &[&str]) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/web");
    install(&folder);
    let output = Command::new("node")
        .arg(script)
        .args(arguments)
        .current_dir(folder)
        .output();
    let output = output.expect("Node.js is installed: tests/run does that");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{printed}");
    assert!(
        output.status.success(),
        "{script}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    printed
}

/// The pinned packages, when they are missing. Another test's process may install them at the same time, so it is
/// done in a folder of its own and moved into place.
fn install(folder: &Path) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if folder.join("node_modules").exists() {
            return;
        }
        let own = folder.join(format!("node_modules.{}", std::process::id()));
        std::fs::create_dir_all(&own).unwrap();
        for file in ["package.json", "package-lock.json", ".npmrc"] {
            std::fs::copy(folder.join(file), own.join(file)).unwrap();
        }
        let npm = Command::new("npm")
            .args(["ci", "--no-audit", "--no-fund"])
            .current_dir(&own)
            .status();
        assert!(npm.expect("npm is installed").success(), "npm ci failed");
        let moved = std::fs::rename(own.join("node_modules"), folder.join("node_modules"));
        assert!(moved.is_ok() || folder.join("node_modules").exists());
        std::fs::remove_dir_all(&own).unwrap();
    });
}
