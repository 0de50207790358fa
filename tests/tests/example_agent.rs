//! The example `agent` as a user runs it, without a server: what the README shows is what it prints.

use std::path::Path;
use std::process::Command;

#[test]
fn what_the_readme_shows_is_what_it_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let output = Command::new(env!("CARGO"))
        .args(["run", "-q", "-p", "imp-examples", "--example", "agent"])
        .current_dir(&root)
        .env_remove("IMP_BASE_URL")
        .output()
        .expect("cargo runs");
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && printed.ends_with("submit after 3 steps\n"), "{printed}");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    assert!(readme.contains(&printed), "{printed}");
}
