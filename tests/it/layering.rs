//! The arrows between the parts, and the size of the files: what the compiler does not check.

mod source;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use self::source::{parts_named, roots_of_paths};

/// What each part may name. `lib.rs` only declares the parts.
const ARROWS: &[(&str, &[&str])] = &[
    ("main", &["cli"]),
    ("lib", &[]),
    ("cli", PARTS),
    ("http", &["graphql", "chat"]),
    ("graphql", &["chat"]),
    ("storage", &["chat"]),
    ("archive", &["chat"]),
    ("chat", &[]),
    ("config", &[]),
    ("telemetry", &[]),
];

const PARTS: &[&str] = &[
    "cli",
    "http",
    "graphql",
    "storage",
    "archive",
    "chat",
    "config",
    "telemetry",
    "migration",
];

/// What the slice must not know: how it is asked, and where its rows are kept.
const NOT_IN_CHAT: &[&str] = &[
    "axum",
    "async_graphql",
    "sea_orm",
    "sea_query",
    "sqlx",
    "object_store",
    "hyper",
    "tower",
    "migration",
];

const MOST_LINES: usize = 400;

struct SourceFile {
    path: PathBuf,
    text: String,
}

impl SourceFile {
    /// The path below the package, for messages.
    fn name(&self) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        self.path
            .strip_prefix(root)
            .expect("the file was found below the package")
            .display()
            .to_string()
    }

    /// The names of the modules the file is in, from the crate's root: `chat`, `page` for src/chat/page.rs.
    fn module(&self) -> Vec<String> {
        let below_src = self
            .path
            .strip_prefix(folder("src"))
            .expect("only asked of files in src");
        let mut names: Vec<String> = below_src
            .with_extension("")
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .collect();
        if names.len() > 1 && names.last().is_some_and(|last| last == "mod") {
            names.pop();
        }
        names
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Every Rust file below a folder, in the order of their paths.
fn rust_files(below: &Path) -> Vec<SourceFile> {
    let mut files = Vec::new();
    let mut folders = vec![below.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                if !path.ends_with("node_modules") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(SourceFile {
                    text: fs::read_to_string(&path).unwrap(),
                    path,
                });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(!files.is_empty(), "no Rust file below {}", below.display());
    files
}

#[test]
fn parts_name_only_the_parts_below_them() {
    let mut wrong = Vec::new();
    for file in rust_files(&folder("src")) {
        let module = file.module();
        let part = module[0].as_str();
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == part) else {
            wrong.push(format!(
                "{}: no arrow is drawn for the part `{part}`",
                file.name()
            ));
            continue;
        };
        for named in parts_named(&file.text, &module, PARTS) {
            if named != part && !allowed.contains(&named) {
                wrong.push(format!("{}: {part} → {named}", file.name()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "arrows that are not in the design:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn the_slice_knows_neither_http_nor_graphql_nor_sql_nor_object_storage() {
    let mut wrong = Vec::new();
    for file in rust_files(&folder("src")) {
        if file.module()[0] != "chat" {
            continue;
        }
        let roots: BTreeSet<String> = roots_of_paths(&file.text).into_iter().collect();
        for foreign in NOT_IN_CHAT.iter().filter(|name| roots.contains(**name)) {
            wrong.push(format!("{}: {foreign}", file.name()));
        }
    }
    assert!(
        wrong.is_empty(),
        "the slice names what it must not know:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn migrations_know_nothing_of_the_crate() {
    for file in rust_files(&folder("migration/src")) {
        let roots = roots_of_paths(&file.text);
        assert!(
            !roots.iter().any(|root| root == "threadline"),
            "{} names the crate",
            file.name()
        );
    }
    let manifest = fs::read_to_string(folder("migration/Cargo.toml")).unwrap();
    assert!(
        !manifest.contains("threadline ="),
        "the migrations depend on the crate"
    );
}

#[test]
fn no_file_is_longer_than_can_be_read_in_one_go() {
    let mut wrong = Vec::new();
    for below in ["src", "migration/src", "tests"] {
        for file in rust_files(&folder(below)) {
            let lines = file.text.lines().count();
            if lines >= MOST_LINES {
                wrong.push(format!("{}: {lines} lines", file.name()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "files of {MOST_LINES} lines or more:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn no_part_is_named_after_nothing() {
    let vague = ["utils", "util", "helpers", "helper", "common", "types", "misc"];
    for file in rust_files(&folder("src")) {
        for name in file.module() {
            assert!(
                !vague.contains(&name.as_str()),
                "{}: `{name}` says nothing",
                file.name()
            );
        }
    }
}
