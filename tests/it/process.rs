//! The server as a process: how it starts. How it ends is in `faults`.

use crate::support::{Database, on_both, process};

on_both! {
    a_server_without_auth_listens_on_loopback_only,
}

async fn a_server_without_auth_listens_on_loopback_only(db: &Database) {
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let output = process::threadline(db)
            .args(["serve", "--listen", listen])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{listen}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("listen") && said.contains("loopback"), "{said}");
    }
}
