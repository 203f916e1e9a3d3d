//! That the tests' own terminal is one.

use crate::support::House;
use crate::support::terminal::Terminal;

#[test]
fn a_shell_on_the_terminal_controls_it_and_sees_its_size() {
    let house = House::new();
    let mut shell = house.command("sh");
    let mut terminal = Terminal::start_sized(&mut shell, 33, 101);
    terminal.type_keys("test -t 2 && echo yes > /dev/tty; stty size | tr ' ' x\n");
    terminal.expect("yes\r\n");
    terminal.expect("33x101");
    terminal.resize(20, 20);
    terminal.type_keys("stty size | tr ' ' x\n");
    terminal.expect("20x20");
    assert!(terminal.is_cooked());
    terminal.type_keys("trap 'echo caught-$((1 + 1))' INT; kill -INT $$; echo\n");
    terminal.expect("caught-2");
    terminal.type_keys("exit 5\n");
    assert_eq!(terminal.end().code(), Some(5));
}

#[test]
fn a_closed_window_ends_the_program() {
    use std::os::unix::process::ExitStatusExt as _;
    let house = House::new();
    let mut terminal = Terminal::start(&mut house.command("cat"));
    terminal.type_keys("hello\n");
    terminal.expect("hello\r\nhello");
    terminal.hang_up();
    assert_eq!(terminal.end().signal(), Some(1));
}
