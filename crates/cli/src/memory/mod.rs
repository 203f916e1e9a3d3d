//! The memory of this program. It makes tens of thousands of small pieces before the command begins, and ends when the
//! command has: keeping books about what could be used again costs more than the memory.

mod sys;

#[global_allocator]
static MEMORY: sys::Arena = sys::Arena::new();
