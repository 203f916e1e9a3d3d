//! Running a program.

use super::check::{CELLS, check};
use super::{Fault, SyscallData, Verdict};
use crate::seccomp::Instruction;

/// Runs a program on a call.
///
/// # Errors
/// The kernel would not take the program.
pub fn run(program: &[Instruction], data: &SyscallData) -> Result<Verdict, Fault> {
    run_counted(program, data).map(|(verdict, _)| verdict)
}

/// Runs a program on a call, and counts the instructions that it took.
///
/// # Errors
/// The kernel would not take the program.
pub fn run_counted(program: &[Instruction], data: &SyscallData) -> Result<(Verdict, usize), Fault> {
    check(program)?;
    let mut machine = Machine::default();
    let mut at = 0;
    let mut steps = 0;
    while let Some(instruction) = program.get(at) {
        steps += 1;
        match machine.step(instruction, data) {
            Next::Skip(count) => at += 1 + count,
            Next::Return(value) => return Ok((verdict(value), steps)),
        }
    }
    // A checked program ends in a return and never jumps past it.
    Err(Fault::NoReturn)
}

enum Next {
    Skip(usize),
    Return(u32),
}

#[derive(Default)]
struct Machine {
    a: u32,
    x: u32,
    cells: [u32; CELLS as usize],
}

impl Machine {
    fn step(&mut self, instruction: &Instruction, data: &SyscallData) -> Next {
        let Instruction { code, jt, jf, k } = *instruction;
        // Bit 3 chooses between the constant and X.
        let operand = if code & 0x08 == 0 { k } else { self.x };
        let cell = self.cells.get(k as usize).copied().unwrap_or(0);
        match code {
            0x20 => self.a = word(data, k),
            0x80 => self.a = 64,
            0x81 => self.x = 64,
            0x00 => self.a = k,
            0x01 => self.x = k,
            0x60 => self.a = cell,
            0x61 => self.x = cell,
            0x02 => self.store(k, self.a),
            0x03 => self.store(k, self.x),
            0x07 => self.x = self.a,
            0x87 => self.a = self.x,
            0x06 => return Next::Return(k),
            0x16 => return Next::Return(self.a),
            0x05 => return Next::Skip(k as usize),
            code if code & 0x07 == 0x05 => {
                let holds = match code & 0xf0 {
                    0x10 => self.a == operand,
                    0x20 => self.a > operand,
                    0x30 => self.a >= operand,
                    _ => self.a & operand != 0,
                };
                return Next::Skip(usize::from(if holds { jt } else { jf }));
            }
            _ => match self.arithmetic(code, operand) {
                Some(result) => self.a = result,
                // A division by an X of zero ends the program.
                None => return Next::Return(0),
            },
        }
        Next::Skip(0)
    }

    fn arithmetic(&self, code: u16, operand: u32) -> Option<u32> {
        let a = self.a;
        Some(match code & 0xf0 {
            0x00 => a.wrapping_add(operand),
            0x10 => a.wrapping_sub(operand),
            0x20 => a.wrapping_mul(operand),
            0x30 => return a.checked_div(operand),
            0x40 => a | operand,
            0x50 => a & operand,
            // The kernel's own interpreter takes the low bits of a shift by X.
            0x60 => a.wrapping_shl(operand),
            0x70 => a.wrapping_shr(operand),
            0x80 => a.wrapping_neg(),
            _ => a ^ operand,
        })
    }

    fn store(&mut self, k: u32, value: u32) {
        if let Some(cell) = self.cells.get_mut(k as usize) {
            *cell = value;
        }
    }
}

/// The word at an offset of what the kernel shows a filter, little-endian.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a word is half of what is stored"
)]
fn word(data: &SyscallData, offset: u32) -> u32 {
    let whole = match offset / 8 {
        0 => u64::from(data.nr) | u64::from(data.arch) << 32,
        1 => data.instruction_pointer,
        index => {
            let index = index as usize - 2;
            data.args.get(index).copied().unwrap_or(0)
        }
    };
    if offset.is_multiple_of(8) {
        whole as u32
    } else {
        (whole >> 32) as u32
    }
}

/// What the kernel makes of a returned value; one that it does not know kills.
fn verdict(value: u32) -> Verdict {
    let [low, high, _, _] = value.to_le_bytes();
    let detail = u16::from_le_bytes([low, high]);
    match value & 0xffff_0000 {
        0x7fff_0000 => Verdict::Allow,
        0x7ffc_0000 => Verdict::Log,
        0x7ff0_0000 => Verdict::Trace(detail),
        0x7fc0_0000 => Verdict::Notify,
        // The kernel knows no errno above this.
        0x0005_0000 => Verdict::Errno(detail.min(4095)),
        0x0003_0000 => Verdict::Trap(detail),
        0x0000_0000 => Verdict::KillThread,
        _ => Verdict::KillProcess,
    }
}
