//! The administrator's floor binds every flag. The administrator is emulated: in a mount namespace of the test's own,
//! `/etc/palisade` is another directory.

use super::plain;
use crate::support::{House, Said};

/// Runs a line on a machine whose administrator wrote this floor.
fn with_floor(house: &House, floor: &str, line: &str) -> Option<Said> {
    house.write(
        "etc/palisade/policy.toml",
        &format!("version = 1\n[floor]\n{floor}\n"),
    );
    // Laid over the real one, which may be there or not, and belongs to somebody else.
    let script = format!(
        "set -e; mkdir -p ../over; mount -t tmpfs none ../over; mkdir ../over/up ../over/work; \
         cp -r ../etc/palisade ../over/up/; \
         mount -t overlay none -o lowerdir=/etc,upperdir=../over/up,workdir=../over/work /etc || exit 99; \
         set +e; {line}"
    );
    let said = Said::of(
        house
            .command("unshare")
            .args([
                "--user",
                "--map-root-user",
                "--mount",
                "--",
                "bash",
                "-c",
                &script,
            ])
            .output()
            .ok()?,
    );
    match said.code == 99 || said.err.contains("unshare:") || said.err.contains("mount:") {
        true => {
            eprintln!(
                "skipped: nothing can be mounted over /etc here: {}",
                said.err
            );
            None
        }
        false => Some(said),
    }
}

#[test]
fn each_flag_that_goes_below_it_is_refused_by_name() {
    let house = House::new();
    house.write("shared/there", "");
    let shared = house.home().join("shared");
    let program = house
        .palisade()
        .get_program()
        .to_string_lossy()
        .into_owned();
    let rows: &[(&str, &str)] = &[
        ("no-network = true", "--net"),
        ("no-network = true", "--net=example.org"),
        ("no-network = true", "--mode open"),
        ("no-unsandboxed = true", "--mode open"),
        ("no-accepted-losses = true", "--accept-loss tree-kill"),
        ("preset = \"read-only\"", "--mode workspace"),
        ("preset = \"read-only\"", "-w ../shared"),
        ("preset = \"read-only\"", "--git full"),
        (
            "preset = \"read-only\"",
            &format!("--grant write:{}", shared.display()),
        ),
    ];
    let mut text = String::new();
    for (floor, flags) in rows {
        let line = format!("{program} run {flags} -- true");
        let Some(said) = with_floor(&house, floor, &line) else {
            return;
        };
        assert_eq!(said.code, 126, "{floor} {flags}: {said:?}");
        let told = format!("{floor}: {flags}\n{}", said.err);
        text.push_str(&plain(&house, &told));
    }
    insta::assert_snapshot!(text);
    let said = with_floor(
        &house,
        "no-network = true",
        &format!("{program} run -- true"),
    )
    .unwrap();
    assert_eq!(said.code, 0, "{said:?}");
}
