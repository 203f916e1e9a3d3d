//! Which prefix is proposed for an approval.

use palisade_exec_policy::approvals::propose;

use crate::offer::words;

#[test]
fn the_shortest_sensible_prefix_is_proposed() {
    for (command, expected) in [
        ("cargo add serde", Some("cargo add")),
        ("cargo test --workspace", Some("cargo test")),
        ("git push origin main", Some("git push")),
        ("git stash pop", Some("git stash pop")),
        ("git -C sub push", None),
        ("git", None),
        ("npm run build", Some("npm run build")),
        ("npm run", None),
        ("npm test", Some("npm test")),
        ("npx eslint src", Some("npx eslint")),
        ("npx ts-node x.ts", None),
        ("uv run pytest tests/unit", Some("uv run pytest")),
        ("uv run python x.py", None),
        ("gh pr view 12", Some("gh pr view")),
        ("docker compose ps", Some("docker compose ps")),
        ("docker compose exec db psql", None),
        ("pytest tests", Some("pytest")),
        ("ls -la /srv/app", Some("ls")),
        ("frobnicate", None),
        ("frobnicate ./input.txt", None),
        ("frobnicate --all", None),
        ("frobnicate run thing", None),
        ("npx cowsay", None),
        ("npx frobnicate sync", Some("npx frobnicate sync")),
        ("rails runner puts", None),
        ("tar xf a.tar", None),
        ("frobnicate sync now", Some("frobnicate sync")),
        ("frobnicate https://example.com", None),
        ("python3 -m pytest -q", Some("python3 -m pytest")),
        ("python3 -m timeit x", None),
        ("python3 x.py", None),
        ("bash -lc ls", None),
        ("./run.sh", None),
        ("rm -rf target", None),
        ("curl https://example.com", None),
        ("make test", Some("make test")),
        ("make -j8", None),
        ("git show 1a2b3c4d", Some("git show")),
        ("", None),
    ] {
        let proposed = propose(&words(command), |_| true);
        assert_eq!(
            proposed
                .map(|amendment| amendment.prefix().join(" "))
                .as_deref(),
            expected,
            "{command}"
        );
    }
}

#[test]
fn a_longer_prefix_is_proposed_where_a_shorter_one_does_not_settle_it() {
    let proposed = propose(&["gh", "pr", "view"], |prefix| prefix.len() >= 3).unwrap();
    assert_eq!(proposed.prefix(), ["gh", "pr", "view"]);
    assert!(propose(&["cargo", "test"], |_| false).is_none());
}
