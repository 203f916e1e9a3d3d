//! What the kernel demands of a program before it runs it.

use super::Fault;
use crate::seccomp::Instruction;

/// The longest program.
const LONGEST: usize = 4096;
/// The size of what a filter may load from.
const DATA: u32 = 64;
/// How many memory cells there are.
pub(super) const CELLS: u32 = 16;

/// Checks a program as the kernel does.
///
/// # Errors
/// The kernel would refuse it with `EINVAL`.
pub fn check(program: &[Instruction]) -> Result<(), Fault> {
    if program.is_empty() || program.len() > LONGEST {
        return Err(Fault::Length(program.len()));
    }
    for (at, instruction) in program.iter().enumerate() {
        check_operation(at, instruction)?;
        // What is left after this instruction: how far a jump may skip, exclusive.
        let left = program.len() - at - 1;
        let inside = |skip: usize| skip < left;
        let jumps_inside = match instruction.code {
            0x05 => inside(instruction.k as usize),
            code if code & 0x07 == 0x05 => {
                inside(usize::from(instruction.jt)) && inside(usize::from(instruction.jf))
            }
            _ => true,
        };
        if !jumps_inside {
            return Err(Fault::Jump(at));
        }
    }
    if !program
        .last()
        .is_some_and(|last| matches!(last.code, 0x06 | 0x16))
    {
        return Err(Fault::NoReturn);
    }
    check_cells(program)
}

/// An operation that filters have, with an operand in range.
fn check_operation(at: usize, instruction: &Instruction) -> Result<(), Fault> {
    let in_range = match instruction.code {
        // Load a word of the data: aligned, and inside.
        0x20 => instruction.k < DATA && instruction.k.is_multiple_of(4),
        // Memory cells: load into A or X, store from A or X.
        0x60 | 0x61 | 0x02 | 0x03 => instruction.k < CELLS,
        // Divide by a constant.
        0x34 => instruction.k != 0,
        // Shift by a constant.
        0x64 | 0x74 => instruction.k < 32,
        // Length, constants, transfers, returns.
        0x80 | 0x81 | 0x00 | 0x01 | 0x07 | 0x87 | 0x06 | 0x16 => true,
        // Arithmetic: add, subtract, multiply, divide, or, and, shifts, exclusive or; with a constant or X; negate.
        0x04 | 0x0c | 0x14 | 0x1c | 0x24 | 0x2c | 0x3c | 0x44 | 0x4c | 0x54 | 0x5c | 0x6c
        | 0x7c | 0xa4 | 0xac | 0x84 => true,
        // Jumps: always, equal, greater, at least, any bit; with a constant or X.
        0x05 | 0x15 | 0x1d | 0x25 | 0x2d | 0x35 | 0x3d | 0x45 | 0x4d => true,
        _ => return Err(Fault::Operation(at)),
    };
    if in_range {
        Ok(())
    } else {
        Err(Fault::Operand(at))
    }
}

/// No cell is read on any way that has not written it.
fn check_cells(program: &[Instruction]) -> Result<(), Fault> {
    // Bit n: cell n is written on every way that leads here. Jumps only go forward, so one pass is enough.
    let mut written = vec![u16::MAX; program.len()];
    let mut here = 0;
    for (at, instruction) in program.iter().enumerate() {
        here &= written.get(at).copied().unwrap_or(0);
        let cell = 1_u16.checked_shl(instruction.k).unwrap_or(0);
        let mut meet = |skip: usize, ways: u16| {
            if let Some(there) = written.get_mut(at + 1 + skip) {
                *there &= ways;
            }
        };
        match instruction.code {
            0x02 | 0x03 => here |= cell,
            0x60 | 0x61 if here & cell == 0 => return Err(Fault::Unwritten(at)),
            0x05 => {
                meet(instruction.k as usize, here);
                here = u16::MAX;
            }
            0x06 | 0x16 => here = u16::MAX,
            code if code & 0x07 == 0x05 => {
                meet(usize::from(instruction.jt), here);
                meet(usize::from(instruction.jf), here);
                here = u16::MAX;
            }
            _ => {}
        }
    }
    Ok(())
}
