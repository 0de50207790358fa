//! Law 6 for source code: code with Markdown fences, markers and tags in it comes back as it was.

use imp::language::Rust;
use imp::{Adapter, Chat, Code, Dialect, FormatOptions, Json, Missing, OutputSignature, Signature, Xml};
use imp_tests::generate::{Rng, hostile};

#[derive(Signature)]
#[signature(output = Program)]
struct Task {
    old: Code<Rust>,
}

#[derive(Debug, PartialEq, Signature)]
struct Program {
    code: Code<Rust>,
    perhaps: Option<Code<Rust>>,
    all: Vec<Code<Rust>>,
}

const PIECES: [&str; 24] = [
    "```",
    "````",
    "```rust",
    "`",
    "\n",
    "\n",
    "\n",
    "/// ",
    "//! ",
    "# ",
    "    ",
    "fn f() {}",
    "let md = \"",
    "\";",
    "text of several words",
    "\n```\n",
    "\n```rust\n",
    "\n/// ```\n/// x\n/// ```\nfn f() {}\n",
    "[[ ## code ## ]]\n",
    "[[ ## completed ## ]]",
    "</code>",
    "<all>",
    "{\"code\": \"x\"}",
    "null",
];

fn source(rng: &mut Rng) -> String {
    match rng.below(8) {
        0 => hostile(rng),
        _ => (0..=rng.below(7)).map(|_| rng.pick(&PIECES)).collect(),
    }
}

/// Without what a section may lose: outer white space, and the line ends of other systems.
fn clean(source: &str) -> Code<Rust> {
    let lines = source.replace("\r\n", "\n").replace('\r', "\n");
    Code::new(lines.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')))
}

fn program(rng: &mut Rng) -> Program {
    let perhaps = if rng.once_in(3) { None } else { Some(clean(&source(rng))) };
    Program {
        code: clean(&source(rng)),
        // An optional text that says `null` is none.
        perhaps: perhaps.filter(|code| code.source() != "null"),
        all: (0..rng.below(3)).map(|_| clean(&source(rng))).collect(),
    }
}

fn comes_back<A: Adapter>(adapter: &A, parse: impl Fn(&str) -> Result<Program, imp::ParseError>) {
    let spec = Program::output_spec().unwrap();
    let mut wrong = Vec::new();
    for seed in 0..3000 {
        let value = program(&mut Rng::new(seed));
        let written = adapter.assistant_content(spec, &value, Missing::LeaveOut).unwrap();
        match parse(&written) {
            Ok(read) if read == value => {}
            other => wrong
                .push(format!("seed {seed}\n  given {value:?}\n  read  {other:?}\n--- written\n{written}")),
        }
    }
    let some: Vec<_> = wrong.iter().take(3).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{}: {} did not come back\n{}", adapter.name(), wrong.len(), some.join("\n\n"));
}

#[test]
fn code_comes_back_in_chat() {
    comes_back(&Chat::new(), |reply| Chat::new().parse(reply));
}

#[test]
fn code_comes_back_in_json() {
    comes_back(&Json::new(), |reply| Json::new().parse(reply));
}

#[test]
fn code_comes_back_in_xml() {
    comes_back(&Xml::new(), |reply| Xml::new().parse(reply));
}

#[test]
fn code_comes_back_alone() {
    for seed in 0..3000 {
        let code = clean(&source(&mut Rng::new(seed)));
        let text = serde_json::to_string(&code).unwrap();
        assert_eq!(serde_json::from_str::<Code<Rust>>(&text).unwrap(), code, "{text}");
    }
}

/// What an input has inside is shown, what it has around it is not (§2.1).
#[test]
fn an_input_shows_its_source() {
    let documented = "/// ```\n/// f();\n/// ```\nfn f() {}";
    let readme = "# f\n\n```\nf();\n```\n\nEnd.";
    for (source, expected) in
        [(documented, documented), (readme, readme), ("```rust\nfn f() {}\n```", "fn f() {}")]
    {
        for adapter in [&Chat::new() as &dyn Adapter, &Json::new(), &Xml::new()] {
            let spec = Task::spec().unwrap();
            let messages =
                adapter.messages(spec, &Task { old: Code::new(source) }, &FormatOptions::new()).unwrap();
            let user = messages[1].text();
            assert!(user.contains(&format!("\n{expected}\n")), "{}: {user}", adapter.name());
            assert!(!user.contains("````") && !user.contains("```rust"), "{}: {user}", adapter.name());
        }
    }
}

/// A model's reply that has a fence in a comment and none around it is not cut.
#[test]
fn a_fence_in_a_comment_is_code() {
    let code = "/// Adds.\n///\n/// ```\n/// assert_eq!(add(1, 2), 3);\n/// ```\nfn add() {}";
    for dialect in [Dialect::Plain, Dialect::Dspy] {
        for reply in
            [code.to_owned(), format!("```rust\n{code}\n```"), format!("Here it is:\n```\n{code}\n```")]
        {
            let chat = Chat::new().dialect(dialect);
            let reply = format!("[[ ## code ## ]]\n{reply}\n\n[[ ## all ## ]]\n[]\n\n[[ ## completed ## ]]");
            let read: Program = chat.parse(&*reply).unwrap();
            assert_eq!(read.code.source(), code, "{reply}");
        }
    }
}
