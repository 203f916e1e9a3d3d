//! The interpreter itself: it takes what the kernel takes, and nothing makes it panic.

use palisade_linux_landlock::seccomp::Instruction;
use palisade_linux_landlock::seccomp::model::{Fault, SyscallData, Verdict, check, run};
use proptest::prelude::*;

const DATA: SyscallData = SyscallData {
    nr: 7,
    arch: 0xc000_003e,
    instruction_pointer: 0x1111_2222_3333_4444,
    args: [0x0a0a_0a0a_0101_0101, 2, 3, 4, 5, 0xdead_beef_cafe_f00d],
};

const fn op(code: u16, k: u32) -> Instruction {
    jump(code, 0, 0, k)
}

const fn jump(code: u16, jt: u8, jf: u8, k: u32) -> Instruction {
    Instruction { code, jt, jf, k }
}

const ALLOW: Instruction = op(0x06, 0x7fff_0000);

#[test]
fn what_the_kernel_refuses() {
    let nothing: [Instruction; 0] = [];
    assert_eq!(check(&nothing), Err(Fault::Length(0)));
    assert_eq!(check(&vec![ALLOW; 4097]), Err(Fault::Length(4097)));
    assert_eq!(check(&vec![ALLOW; 4096]), Ok(()));
    for (program, fault) in [
        (vec![op(0x20, 64), ALLOW], Fault::Operand(0)),
        (vec![op(0x20, 2), ALLOW], Fault::Operand(0)),
        (vec![op(0x28, 0), ALLOW], Fault::Operation(0)),
        (vec![op(0x30, 0), ALLOW], Fault::Operation(0)),
        (vec![op(0x94, 3), ALLOW], Fault::Operation(0)),
        (vec![op(0x34, 0), ALLOW], Fault::Operand(0)),
        (vec![op(0x64, 32), ALLOW], Fault::Operand(0)),
        (vec![op(0x02, 16), ALLOW], Fault::Operand(0)),
        (vec![op(0x60, 3), ALLOW], Fault::Unwritten(0)),
        (vec![op(0x05, 1), ALLOW], Fault::Jump(0)),
        (vec![op(0x05, u32::MAX), ALLOW], Fault::Jump(0)),
        (vec![jump(0x15, 0, 1, 0), ALLOW], Fault::Jump(0)),
        (vec![ALLOW, op(0x20, 0)], Fault::NoReturn),
        // Written on one of two ways only.
        (
            vec![jump(0x15, 0, 1, 0), op(0x02, 1), op(0x60, 1), ALLOW],
            Fault::Unwritten(2),
        ),
    ] {
        assert_eq!(check(&program), Err(fault), "{program:?}");
        assert_eq!(run(&program, &DATA), Err(fault), "{program:?}");
    }
}

#[test]
fn loads_see_every_word() {
    for (offset, word) in [
        (0, 7),
        (4, 0xc000_003e),
        (8, 0x3333_4444),
        (12, 0x1111_2222),
        (16, 0x0101_0101),
        (20, 0x0a0a_0a0a),
        (24, 2),
        (28, 0),
        (56, 0xcafe_f00d),
        (60, 0xdead_beef),
    ] {
        let equal = jump(0x15, 0, 1, word);
        let program = [op(0x20, offset), equal, ALLOW, op(0x06, 0x0005_0001)];
        assert_eq!(run(&program, &DATA), Ok(Verdict::Allow), "{offset}");
    }
}

#[test]
fn returned_values_are_read_as_the_kernel_does() {
    for (value, verdict) in [
        (0x7fff_1234, Verdict::Allow),
        (0x7ffc_0000, Verdict::Log),
        (0x7ff0_0007, Verdict::Trace(7)),
        (0x7fc0_0000, Verdict::Notify),
        (0x0005_0026, Verdict::Errno(38)),
        (0x0005_ffff, Verdict::Errno(4095)),
        (0x0003_0002, Verdict::Trap(2)),
        (0x0000_0000, Verdict::KillThread),
        (0x8000_0000, Verdict::KillProcess),
        (0x1234_0000, Verdict::KillProcess),
    ] {
        assert_eq!(run(&[op(0x06, value)], &DATA), Ok(verdict), "{value:#x}");
        // The same through the accumulator.
        let program = [op(0x00, value), op(0x16, 0)];
        assert_eq!(run(&program, &DATA), Ok(verdict), "{value:#x}");
    }
}

#[test]
fn division_by_an_empty_register_ends_the_program() {
    let program = [op(0x01, 0), op(0x3c, 0), ALLOW];
    assert_eq!(run(&program, &DATA), Ok(Verdict::KillThread));
}

fn instruction() -> impl Strategy<Value = Instruction> {
    let code = prop_oneof![
        prop::sample::select(vec![
            0x20_u16, 0x60, 0x61, 0x02, 0x03, 0x34, 0x64, 0x74, 0x80, 0x81, 0x00, 0x01, 0x07, 0x87,
            0x06, 0x16, 0x04, 0x0c, 0x14, 0x1c, 0x24, 0x2c, 0x3c, 0x44, 0x4c, 0x54, 0x5c, 0x6c,
            0x7c, 0xa4, 0xac, 0x84, 0x05, 0x15, 0x1d, 0x25, 0x2d, 0x35, 0x3d, 0x45, 0x4d,
        ]),
        any::<u16>(),
    ];
    let small = prop_oneof![0_u32..8, (0_u32..16).prop_map(|k| k * 4), any::<u32>()];
    (code, 0_u8..4, 0_u8..4, small).prop_map(|(code, jt, jf, k)| jump(code, jt, jf, k))
}

proptest! {
    #[test]
    fn nothing_panics(mut program in prop::collection::vec(instruction(), 0..40)) {
        let _ = run(&program, &DATA);
        program.push(ALLOW);
        let ran = run(&program, &DATA);
        prop_assert_eq!(ran.is_err(), check(&program).is_err());
        prop_assert_ne!(ran, Err(Fault::NoReturn));
    }
}
