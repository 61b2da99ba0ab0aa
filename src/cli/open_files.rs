//! How many files the process may have open: each connection is one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What is open beside connections: the database's files and connections, and those that are told to come back.
const OTHERS: u64 = 512;

/// Lets the process open as many files as its connections need. Most systems start one with 1,024, and let it ask for
/// more.
pub(super) fn allow(connections: usize) {
    let needed = (connections as u64).saturating_add(OTHERS);
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let Some(current) = current.filter(|current| *current < needed) else {
        return;
    };
    let asked = maximum.map_or(needed, |maximum| maximum.min(needed));
    let raised = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: Some(asked),
            maximum,
        },
    );
    let allowed = if raised.is_ok() { asked } else { current };
    if allowed < needed {
        tracing::warn!(
            allowed,
            needed,
            "limits.connections needs more open files than the system allows: raise the hard limit (LimitNOFILE= of \
             systemd, nofile of ulimit) or lower limits.connections"
        );
    }
}
