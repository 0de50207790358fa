//! Replies made to hurt a reader: each is a value or an error, found in one pass over it.
//!
//! Nothing is timed. The replies are so long that a reader that goes over one again for each of its characters would
//! not end in any time that a test may take, and so deep that one that recurses with them would run out of stack.

use imp::{Adapter, Chat, Dialect, Fields, Json, ParseError, Signature, SignatureSpec};
use imp_tests::plain::data;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

#[derive(Debug, Signature)]
struct Anything {
    x: Value,
}

#[derive(Debug, Signature)]
struct Object {
    x: Map<String, Value>,
}

#[derive(Debug, Signature)]
struct Texts {
    x: Vec<String>,
}

#[derive(Debug, Signature)]
struct Number {
    x: i64,
}

#[derive(Debug, Signature)]
struct Deep {
    x: Tree,
}

#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
struct Tree {
    a: Option<Box<Tree>>,
}

const KILOBYTE: usize = 1 << 10;
const MEGABYTE: usize = 1 << 20;

fn all(unit: &str, len: usize) -> String {
    unit.repeat(len / unit.len())
}

/// Those that are read as few types, so that they can be long.
fn long_texts() -> Vec<(&'static str, String)> {
    vec![
        ("quotes", all("\"", 10 * MEGABYTE)),
        ("markers that begin", all("[[ ## ", MEGABYTE)),
        ("backslashes", all("\\", MEGABYTE)),
        ("backslashes in a string", format!("{{\"x\": \"{}\"}}", all("\\", MEGABYTE))),
        ("braces", all("{", MEGABYTE)),
    ]
}

/// The texts, each with what it is.
fn texts() -> Vec<(&'static str, String)> {
    let len = 32 * KILOBYTE;
    vec![
        ("nested lists", all("[", 100_000)),
        ("nested lists that are closed", all("[", 100_000) + &all("]", 100_000)),
        ("nested objects", all(r#"{"a":"#, 500_000)),
        ("nested objects that are closed", all(r#"{"a":"#, 500_000) + "1" + &all("}", 100_000)),
        ("nested objects in '", all("{'a':", 500_000)),
        ("lists and objects by turns", all(r#"[{"a":"#, len)),
        ("lists behind each other", all("[]", len)),
        ("objects behind each other", all("{}", len)),
        ("objects that are wrong behind each other", all("{x} ", len)),
        ("what one repairer never ends on", r#""a"/t"#.to_owned()),
        ("the same in an object", r#"{"ratio": "3"/4}"#.to_owned()),
        ("the same, often", all(r#""a"/t"#, len)),
        ("quotes", all("\"", len)),
        ("single quotes", all("'", len)),
        ("quotes in an object", format!("{{\"x\": {}", all("\"", len))),
        ("smart quotes", all("“", len)),
        ("markers that begin", all("[[ ## ", len)),
        ("markers that begin, in lines", all("[[ ## x\n", len)),
        ("markers of no output", all("[[ ## y ## ]]\n", len)),
        ("markers of the output", all("[[ ## x ## ]]\n", len)),
        ("markers inside each other", all("[[ ## [[ ## x ## ]] ## ]]\n", len)),
        ("escaped markers", all("\\[[ ## x ## ]]\n", len)),
        ("backslashes", all("\\", len)),
        ("backslashes in a string", format!("{{\"x\": \"{}\"}}", all("\\", len))),
        ("backslashes in front of a marker", all("\\", len) + "[[ ## x ## ]]\n1"),
        ("half escapes", format!("[\"{}\"]", all("\\u12", len))),
        ("half characters", format!("[\"{}\"]", all("\\ud83d", len))),
        ("braces", all("{", len)),
        ("closing braces", all("}", len)),
        ("closing brackets behind a value", format!("[1]{}", all("]", len))),
        ("commas", format!("[{}]", all(",", len))),
        ("colons", format!("{{{}}}", all(":", len))),
        ("comments", all("/*", len)),
        ("comments in a list", format!("[{}1]", all("/* */ ", len))),
        ("comments that do not end", format!("[{}", all("# ", len))),
        ("slashes", format!("[1 {}", all("/", len))),
        ("fences", all("```json\n", len)),
        ("thoughts", all("<think>", len) + "{}"),
        ("thoughts that end", all("<think></think>", len) + "{\"x\": 1}"),
        ("blanks", all(" ", len)),
        ("blanks in a list", format!("[1{}", all(" ", len))),
        ("line breaks", all("\n", len)),
        ("line breaks of two kinds", all("\r\n\r", len)),
        ("digits", all("9", len)),
        ("digits in a list", format!("[{}]", all("9", len))),
        ("an exponent", format!("[1e{}]", all("9", len))),
        ("signs", format!("[{}1]", all("-", len))),
        ("words", format!("[{}]", all("a ", len))),
        ("words and numbers", format!("[{}]", all("1 a ", len))),
        ("words and numbers without a list", all("true 1 ", len)),
        ("bare keys", format!("{{{}", all("a:", len))),
        ("bare texts", format!("{{\"x\": {}", all("a: b ", len))),
        ("strings that nothing separates", format!("[{}]", all("\"a\" ", len))),
        ("quotes in strings", format!("[\"{}\"]", all("a\"b ", len))),
        ("one key, often", format!("{{{}\"x\": 1}}", all("\"x\": [],", len))),
        ("keys of an object", {
            let keys: Vec<_> = (0..5_000).map(|at| format!("\"k{at}\": {at}")).collect();
            format!("{{{}}}", keys.join(", "))
        }),
        ("strings in strings", (0..14).fold("1".to_owned(), |text, _| Value::from(text).to_string())),
        ("characters of three bytes", all("東", len)),
        ("zeros", all("\0", len)),
    ]
}

fn adapters() -> Vec<Box<dyn Adapter>> {
    let mut adapters: Vec<Box<dyn Adapter>> = Vec::new();
    for dialect in [Dialect::Plain, Dialect::Dspy] {
        adapters.push(Box::new(Chat::new().dialect(dialect)));
        adapters.push(Box::new(Json::new().dialect(dialect)));
    }
    adapters
}

/// That an error is about the reply that it came of.
fn check<O>(read: Result<O, ParseError>, reply: &str) -> bool {
    match read {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error.reply().len(), reply.len());
            assert!(!error.retry_message().is_empty());
            for failure in error.failures() {
                assert!(reply.get(failure.span.clone()).is_some(), "{:?}", failure.span);
            }
            if let Some(syntax) = error.syntax() {
                assert!(reply.get(syntax.span()).is_some(), "{:?}", syntax.span());
            }
            false
        }
    }
}

fn read<O: imp::OutputSignature>(adapter: &dyn Adapter, reply: &str) -> bool {
    let spec = O::output_spec().unwrap();
    check(imp::read_reply::<O, _>(adapter, spec, reply.into()), reply)
}

fn read_fields(adapter: &dyn Adapter, spec: &SignatureSpec, reply: &str) -> bool {
    check(imp::read_reply::<Fields, _>(adapter, spec, reply.into()), reply)
}

/// Each text as a whole reply, as the text of a section, and as the value of a key.
fn replies(text: &str) -> [String; 3] {
    [text.to_owned(), format!("[[ ## x ## ]]\n{text}\n\n[[ ## completed ## ]]"), format!("{{\"x\": {text}}}")]
}

fn described(ty: &Value) -> SignatureSpec {
    data(&json!({ "inputs": [{ "name": "q" }], "outputs": [{ "name": "x", "type": ty }] }))
}

#[test]
fn typed() {
    for (_, text) in texts() {
        for reply in replies(&text) {
            for adapter in adapters() {
                read::<Anything>(&*adapter, &reply);
                read::<Object>(&*adapter, &reply);
                read::<Texts>(&*adapter, &reply);
                read::<Number>(&*adapter, &reply);
                read::<Deep>(&*adapter, &reply);
            }
        }
    }
}

#[test]
fn by_description() {
    let specs = ["str", "any", "object", "array[str]", "code"].map(|ty| described(&ty.into()));
    let union =
        described(&json!({ "union": ["int", "object", { "list": "float" }, { "optional": "bool" }] }));
    for (_, text) in texts() {
        for reply in replies(&text) {
            for adapter in adapters() {
                for spec in specs.iter().chain([&union]) {
                    read_fields(&*adapter, spec, &reply);
                }
            }
        }
    }
}

#[test]
fn long() {
    let spec = described(&"object".into());
    for (_, text) in long_texts() {
        for reply in replies(&text) {
            for adapter in adapters() {
                match adapter.dialect() {
                    Dialect::Plain => read::<Anything>(&*adapter, &reply),
                    Dialect::Dspy => read_fields(&*adapter, &spec, &reply),
                };
            }
        }
    }
}

/// 128 levels are read and the next is not, whether they are lists or objects, and whatever reads them.
#[test]
fn depth() {
    for (open, close) in [("[", "]"), ("{\"a\": ", "}")] {
        for (levels, fits) in [(1, true), (127, true), (128, true), (129, false), (100_000, false)] {
            let text = format!("{}1{}", open.repeat(levels), close.repeat(levels));
            let reply = format!("[[ ## x ## ]]\n{text}");
            let value = Chat::new().parse::<Anything>(reply.as_str()).map(|outputs| outputs.x);
            // Where anything is welcome, a text that cannot be read is the value.
            let is_text = value.as_ref().is_ok_and(Value::is_string);
            assert_eq!((value.is_ok(), is_text), (true, !fits), "{levels} {open}");
            let ty = if open == "[" { "array" } else { "object" };
            assert_eq!(read_fields(&Chat::new(), &described(&ty.into()), &reply), fits, "{levels} {open}");
        }
    }
}
