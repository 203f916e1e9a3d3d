//! Random strings that try to be misread.

/// A small deterministic generator, so that a printed seed repeats a run.
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound).unwrap()).unwrap()
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// Programs that record their arguments; `f0` fails. Nothing here names a real program that could do harm.
const PROGRAMS: &[&str] = &[
    "p0", "p1", "p2", "f0", "p0", "'p1'", "\"p0\"", "p''0", "p\"1\"",
];
const BUILTINS: &[&str] = &[
    ":",
    "true",
    "echo",
    "[",
    "test",
    "cd dir",
    "cd sub",
    "export",
    "set -u",
    "command p0",
    "exec p1",
    "time p0",
    "env p0",
    "env A=1 p0",
    "nice p1",
    "nice -n 5 p0",
    "env -S 'p0 x'",
    "command -v",
    "unset A",
    "builtin",
];
const WORDS: &[&str] = &[
    "a", "b1", "-n", "--x=y", "a.txt", "dir/c", "x:y", "a~b", "HEAD~1", "1", "22", "a,b", "+x",
    "@", "%1", "]", "a]b", "'a b'", "\"c d\"", "''", "\"\"", "'*'", "\"?\"", "'$x'", "'`p2`'",
    "'{a,b}'", "'a\nb'", "'!'", "'~'", "\"it's\"", "'\\'", "a'b'c", "x\"y\"", "a=b", "=", "A",
    "B=c", "-", "--", "2", "a/b", "'#'", "'='", "..a", "'a'=b", "a:b=c", "end", "in", "}", "i]",
    "'if'", "'\"'", "\"'\"", "a=~", "x:~", "a='~'", "--a=b~c", "_", "a+b", "a@b",
];
const GLOBS: &[&str] = &[
    "*",
    "?",
    "a*",
    "*.txt",
    "[ab]*",
    "a[",
    "[",
    "[!a]*",
    "'a'*",
    "*'*'",
    "dir/*",
    "a?b",
    "**",
    "[a-c]1",
    "x*~y",
    "[[:alpha:]]*",
    "*/",
    "a]*",
    "\"*\"?",
];
const REDIRECTS: &[&str] = &[
    ">out",
    "> out",
    ">>out",
    ">|out",
    "2>&1",
    ">&2",
    "2>/dev/null",
    ">/dev/null",
    "<a.txt",
    "< a.txt",
    "1>out",
    "2>>out",
    "0<a.txt",
    ">'o t'",
    ">\"out\"",
    "12>out",
    "<1-5>",
    "<->",
    ">&out",
    "&>out",
    "<<<a",
    "<>a.txt",
    "{fd}>out",
    ">&-",
    "2>&1-",
    "> ~",
    ">=p0",
    "> a*",
    "1<&0",
    ">&12",
    ">!out",
    ">>|out",
    "<&2",
    "2>&1>out",
    "a>out",
    "a1>out",
    "''>out",
];
const HEREDOCS: &[&str] = &[
    "<<'E'\nbody $x `p1`\nE\n",
    "<<\"E\"\np1; p2\nE\n",
    "<<E\nbody\nE\n",
    "<<'E' p1\nx\nE\n",
    "<<-'E'\n\tx\n\tE\n",
    "<<'E'\n E\nE\n",
    "<<'E' | p1\nx\nE",
    "<<'E'\nx\n",
    "<<'E' 'q\nq'\nx\nE\n",
    "<<'E' <<'F'\nx\nE\ny\nF\n",
    "<<'E'; p1\nx\nE\np2",
    "<<'E' && p2\nE\n",
    "<<'E F'\nx\nE F\n",
];
const ASSIGNMENTS: &[&str] = &[
    "A=1",
    "B=x",
    "A='x y'",
    "A=",
    "A=\"\"",
    "A=b~c",
    "A=~",
    "A=x:~",
    "A==p0",
    "A=x:=p0",
    "A+=1",
    "1A=x",
    "A[0]=x",
    "A='$x'",
    "'A'=x",
    "A=*",
    "A=a,b",
    "A=(x)",
    "B=a=b",
    "C_1=--x",
    "A=']'",
    "A=%1",
    "SECONDS='a[$(p2)]'",
    "A=x/y",
];
const OPERATORS: &[&str] = &[
    "&&", "||", ";", "|", "\n", " && ", " || ", "; ", " | ", "\n\n", " |& ", "|&", ";\n", "&&\n",
    " |\n", "; ;", ";;", "&", "\n;", "||&&", " \n ", "\t;\t", "&&\n\n", ";|",
];
const NASTY: &[&str] = &[
    "\\",
    "$",
    "`",
    "{",
    "}",
    "(",
    ")",
    "!",
    "#",
    "^",
    "~",
    "=",
    "'",
    "\"",
    "*",
    "?",
    "[",
    "]",
    "<",
    ">",
    "|",
    "&",
    ";",
    "\n",
    " ",
    "\t",
    "\r",
    "\u{b}",
    "\u{c}",
    "\\\n",
    "$x",
    "${x}",
    "$(p2)",
    "`p2`",
    "{p0,x}",
    "$'\\x70'",
    "!!",
    "=p0",
    "~+",
    "#x",
    "^a^b",
    "\u{a0}",
    "\u{200b}",
    "é",
    "0",
    "1",
    "9",
    "-",
    "+",
    ":",
    ",",
    "%",
    "@",
    "''",
    "\"\"",
    "if",
    "do",
    "time",
    "!",
    "[[",
    "function",
    "repeat 2",
    "noglob",
    "nocorrect",
    "coproc",
    "select",
    "foreach",
    "end",
    "then",
    "case",
    "p0()",
    "{ p0; }",
    "(p0)",
    "/dev/null",
];

/// One string: a script from a small grammar, then usually damaged.
pub(super) fn script(rng: &mut Rng) -> String {
    if rng.chance(15) {
        return soup(rng);
    }
    let mut text = list(rng, 2);
    for _ in 0..[0, 0, 0, 1, 1, 2][rng.below(6)] {
        damage(rng, &mut text);
    }
    text
}

fn soup(rng: &mut Rng) -> String {
    let mut text = String::from(if rng.chance(60) { "p0" } else { "" });
    for _ in 0..=rng.below(7) {
        let lists = [
            PROGRAMS,
            WORDS,
            GLOBS,
            REDIRECTS,
            ASSIGNMENTS,
            OPERATORS,
            NASTY,
            NASTY,
            HEREDOCS,
        ];
        text.push_str([" ", " ", "", "\t"][rng.below(4)]);
        let list = lists[rng.below(lists.len())];
        text.push_str(rng.pick(list));
    }
    text
}

fn list(rng: &mut Rng, depth: usize) -> String {
    let mut text = command(rng, depth);
    while rng.chance(45) {
        // Mostly operators that work; the odd ones come after index 10.
        let operator = if rng.chance(85) {
            rng.pick(&OPERATORS[..10])
        } else {
            rng.pick(OPERATORS)
        };
        text.push_str(operator);
        text.push_str(&command(rng, depth));
    }
    if rng.chance(10) {
        text.push_str(rng.pick(&[";", "\n", " ", " ;\n", "&&"]));
    }
    text
}

fn command(rng: &mut Rng, depth: usize) -> String {
    let mut text = String::new();
    if rng.chance(20) {
        text.push_str(rng.pick(ASSIGNMENTS));
        text.push(' ');
    }
    text.push_str(if rng.chance(85) {
        rng.pick(PROGRAMS)
    } else {
        rng.pick(BUILTINS)
    });
    for _ in 0..rng.below(4) {
        text.push_str(if rng.chance(90) { " " } else { "\t" });
        let list = match rng.below(100) {
            0..=69 => WORDS,
            70..=79 => GLOBS,
            80..=91 => REDIRECTS,
            92..=94 => ASSIGNMENTS,
            _ => PROGRAMS,
        };
        text.push_str(rng.pick(list));
    }
    if depth > 0 && rng.chance(4) {
        let body = self::list(rng, depth - 1);
        text.push_str(" <(");
        text.push_str(&body);
        text.push(')');
    }
    if rng.chance(5) {
        text.push(' ');
        text.push_str(rng.pick(HEREDOCS));
    }
    text
}

/// Inserts, deletes, doubles or replaces something.
fn damage(rng: &mut Rng, text: &mut String) {
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    if places.is_empty() {
        return;
    }
    let at = places[rng.below(places.len())];
    match rng.below(4) {
        0 => {
            text.remove(at);
        }
        1 => {
            let character = text.remove(at);
            text.insert(at, character);
            text.insert(at, character);
        }
        _ => text.insert_str(at, rng.pick(NASTY)),
    }
}
