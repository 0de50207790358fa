//! spec/imp.md §§2.1, 4 and 8.4: source code. Rows 14 and 87.

use imp::language::{Elixir, Python, Rust};
use imp::{Adapter, Chat, Code, Dialect, FormatOptions, Json, ParseErrorKind, Signature, Xml};

#[derive(Signature)]
#[signature(output = Program)]
struct Task {
    old: Code<Rust>,
}

#[derive(Debug, PartialEq, Signature)]
struct Program {
    code: Code<Elixir>,
}

#[derive(Signature)]
#[signature(output = Several)]
struct Ask {
    q: String,
}

#[derive(Debug, PartialEq, Signature)]
struct Several {
    all: Vec<Code<Python>>,
    perhaps: Option<Code<Python>>,
}

fn adapters(dialect: Dialect) -> [Box<dyn Adapter>; 3] {
    [
        Box::new(Chat::new().dialect(dialect)),
        Box::new(Json::new().dialect(dialect)),
        Box::new(Xml::new().dialect(dialect)),
    ]
}

/// Row 14: what a prompt says of code, and an input's fence that is taken off.
#[test]
fn code_in_prompts() {
    let task = Task { old: Code::new("```rust\nfn main() {}\n```") };
    let description = |language: &str| {
        format!(
            "Code represented in a string, specified in the `code` field. If this is an output field, the code \
             field should follow the markdown code block format, e.g. \n```{language}\n{{code}}\n```\n\
             Programming language: {language}"
        )
    };
    for (dialect, label, own) in [
        (Dialect::Plain, "code in elixir", "Type description: "),
        (Dialect::Dspy, "Code_elixir", "Type description of Code_elixir: "),
    ] {
        for adapter in adapters(dialect) {
            let spec = Task::spec().unwrap();
            let messages = adapter.messages(spec, &task, &FormatOptions::new()).unwrap();
            let entry = format!("1. `code` ({label}): \n    {own}{}", description("elixir"));
            let system = messages[0].text();
            assert!(system.contains(&entry), "{} {dialect:?}: {system}", adapter.name());
            assert!(system.contains(&description("rust")), "{} {dialect:?}: {system}", adapter.name());
            let user = messages[1].text();
            assert!(user.contains("\nfn main() {}\n") && !user.contains("```"), "{}: {user}", adapter.name());
        }
    }
}

/// Row 87: a fence is taken off in all adapters; what is no text is no code.
#[test]
fn code_in_replies() {
    for dialect in [Dialect::Plain, Dialect::Dspy] {
        let (chat, json, xml) =
            (Chat::new().dialect(dialect), Json::new().dialect(dialect), Xml::new().dialect(dialect));
        let code = Program { code: "IO.puts(:ok)".into() };
        for fenced in [
            "```elixir\nIO.puts(:ok)\n```",
            "Here:\n```\nIO.puts(:ok)\n```\nIt prints.",
            "```IO.puts(:ok)```",
            "IO.puts(:ok)",
        ] {
            let text = serde_json::to_string(fenced).unwrap();
            assert_eq!(chat.parse::<Program>(&*format!("[[ ## code ## ]]\n{fenced}")).unwrap(), code);
            assert_eq!(json.parse::<Program>(&*format!("{{\"code\": {text}}}")).unwrap(), code);
            assert_eq!(json.parse::<Program>(&*format!("{{\"code\": {{\"code\": {text}}}}}")).unwrap(), code);
            assert_eq!(xml.parse::<Program>(&*format!("<code>{fenced}</code>")).unwrap(), code);
        }
        // What looks like something else is code too.
        for text in ["123", "{\"code\": 1}", "\"a\"", "[]"] {
            let read: Program = chat.parse(&*format!("[[ ## code ## ]]\n{text}")).unwrap();
            assert_eq!(read.code.source(), text, "{dialect:?}");
        }
        for reply in ["{\"code\": 123}", "{\"code\": [\"a\"]}", "{\"code\": true}"] {
            let error = json.parse::<Program>(reply).unwrap_err();
            assert_eq!(error.kind(), ParseErrorKind::InvalidFields, "{error}");
            assert_eq!(error.failures()[0].message, "expected code");
        }
    }
    let reply = r#"{"all": ["```python\na\n```", "b"], "perhaps": null}"#;
    let several = Several { all: vec!["a".into(), "b".into()], perhaps: None };
    assert_eq!(Json::new().parse::<Several>(reply).unwrap(), several);
    let reply = "[[ ## all ## ]]\n[\"```a```\", \"b\"]\n[[ ## perhaps ## ]]\n```python\nc\n```";
    let several = Several { perhaps: Some("c".into()), ..several };
    assert_eq!(Chat::new().parse::<Several>(reply).unwrap(), several);
}

/// It is a text everywhere else.
#[test]
fn code_alone() {
    let code: Code<Rust> = serde_json::from_str(r#""```\nfn f() {}\n```""#).unwrap();
    assert_eq!(&*code, "fn f() {}");
    assert_eq!(serde_json::to_string(&code).unwrap(), r#""fn f() {}""#);
    assert!(serde_json::from_str::<Code<Rust>>("1").unwrap_err().to_string().contains("expected code"));
    assert_eq!(Code::<Rust>::LANGUAGE, "rust");
    assert_eq!(Code::<Rust>::new("```a```").source(), "```a```");
}
