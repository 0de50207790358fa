//! The cases of macro crates' issue trackers: what a derive must compile, in two structs. Those that must
//! not compile are `ui/case/ID_*.rs`.

#![allow(dead_code, reason = "most are only compiled")]

use imp::{Chat, Signature};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The system message and the request.
fn prompt<I: Signature>(input: &I) -> String {
    let messages = Chat::new().format(input).expect("it can be written");
    messages.iter().map(|message| message.text().into_owned()).collect::<Vec<_>>().join("\n")
}

fn section(name: &str, text: &str) -> String {
    format!("[[ ## {name} ## ]]\n{text}\n\n[[ ## completed ## ]]\n")
}

#[test]
fn ma001_raw_identifier_as_a_field_name() {
    /// Sort mail.
    #[derive(Signature)]
    #[signature(output = Sorted)]
    struct Sort {
        text: String,
    }

    #[derive(Signature)]
    struct Sorted {
        r#type: String,
    }

    let prompt = prompt(&Sort { text: "hello".to_owned() });
    assert!(prompt.contains("[[ ## type ## ]]"), "{prompt}");
    assert!(!prompt.contains("r#"), "{prompt}");
    let sorted: Sorted = Chat::new().parse(&*section("type", "spam")).expect("it is there");
    assert_eq!(sorted.r#type, "spam");
}

// ma003, a crate renamed in Cargo.toml, is the package `renamed` beside these tests.

#[test]
fn ma005_own_result_alias_in_scope() {
    type Result<T> = std::result::Result<T, ()>;

    #[derive(Signature)]
    #[signature(output = Answer)]
    struct Ask {
        q: String,
    }

    #[derive(Signature)]
    struct Answer {
        a: String,
    }

    let answer: Result<Answer> = Chat::new().parse(&*section("a", "b")).map_err(drop);
    assert_eq!(answer.map(|answer| answer.a), Ok("b".to_owned()));
}

#[allow(unused_qualifications, reason = "that is the case")]
mod ma007 {
    use super::{Deserialize, JsonSchema, Serialize};

    #[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub(super) struct Row(u8);

    #[derive(imp::Signature)]
    #[signature(output = self::Answer)]
    pub(super) struct Ask {
        pub(super) q: std::string::String,
    }

    #[derive(imp::Signature)]
    pub(super) struct Answer {
        pub(super) a: std::vec::Vec<self::Row>,
        pub(super) m: std::collections::HashMap<String, u32>,
        pub(super) o: core::option::Option<super::ma007::Row>,
    }
}

#[test]
fn ma007_types_written_with_a_path() {
    let reply = "[[ ## a ## ]]\n[1, 2]\n\n[[ ## m ## ]]\n{\"x\": 3}\n\n[[ ## completed ## ]]\n";
    let answer: ma007::Answer = Chat::new().parse(reply).expect("a list and a map");
    assert_eq!((answer.a.len(), answer.m["x"], answer.o), (2, 3, None));
}

#[test]
fn ma009_type_parameter_with_an_inline_bound() {
    #[derive(Signature)]
    #[signature(output = Answer)]
    struct Ask<T: Serialize + JsonSchema> {
        ctx: T,
    }

    #[derive(Signature)]
    struct Answer {
        answer: String,
    }

    let text = prompt(&Ask { ctx: 42_u8 });
    assert!(text.contains("[[ ## ctx ## ]]\n42"), "{text}");
    // Each type has its own spec.
    assert!(text.contains("`ctx` (integer)"), "{text}");
    assert!(prompt(&Ask { ctx: true }).contains("`ctx` (true or false)"));
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Act {
    PayNow,
    #[serde(rename = "later", alias = "defer")]
    PayLater,
}

#[test]
fn ma011_serde_rename_on_an_enum_used_as_output() {
    #[derive(Signature)]
    #[signature(output = Answer)]
    struct Ask {
        bill: String,
    }

    #[derive(Debug, Signature)]
    struct Answer {
        act: Act,
    }

    let prompt = prompt(&Ask { bill: String::new() });
    assert!(prompt.contains("one of: pay_now, later"), "{prompt}");
    for (text, expected) in [("pay_now", Act::PayNow), ("later", Act::PayLater), ("defer", Act::PayLater)] {
        let answer: Answer = Chat::new().parse(&*section("act", text)).expect(text);
        assert_eq!(answer.act, expected, "{text}");
    }
    for text in ["PayNow", "pay now", "never", ""] {
        assert!(Chat::new().parse::<Answer>(&*section("act", text)).is_err(), "{text}");
    }
}

#[test]
fn ma013_serde_rename_on_a_signature_field() {
    #[derive(Signature)]
    #[signature(output = Answer)]
    struct Ask {
        q: String,
    }

    #[derive(Signature)]
    struct Answer {
        #[serde(rename = "finalAnswer")]
        answer: String,
    }

    let prompt = prompt(&Ask { q: "?".to_owned() });
    assert!(prompt.contains("[[ ## finalAnswer ## ]]") && prompt.contains("`finalAnswer`"), "{prompt}");
    assert!(!prompt.contains("answer ") && !prompt.contains("`answer`"), "{prompt}");
    let answer: Answer = Chat::new().parse(&*section("finalAnswer", "42")).expect("one name everywhere");
    assert_eq!(answer.answer, "42");
    assert!(Chat::new().parse::<Answer>(&*section("answer", "42")).is_err());
}

#[test]
fn ma019_map_with_keys_that_are_not_strings() {
    #[derive(Signature)]
    struct Answer {
        m: std::collections::HashMap<u32, String>,
    }

    let answer: Answer = Chat::new().parse(&*section("m", r#"{"1": "a"}"#)).expect("keys are read");
    assert_eq!(answer.m[&1], "a");
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Tree {
    name: String,
    kids: Vec<Tree>,
    best: Option<Box<Tree>>,
}

#[test]
fn ma021_recursive_type_through_box() {
    #[derive(Signature)]
    #[signature(output = Answer)]
    struct Ask {
        q: String,
    }

    #[derive(Signature)]
    struct Answer {
        tree: Tree,
    }

    let spec = <Ask as Signature>::spec().expect("a finite description");
    let schema = spec.outputs().next().map(|field| field.schema().to_string()).unwrap_or_default();
    assert!(schema.contains("$ref") && schema.len() < 2_000, "{schema}");
    assert!(prompt(&Ask { q: String::new() }).len() < 4_000);
    let reply = section("tree", r#"{"name":"a","kids":[],"best":null}"#);
    let answer: Answer = Chat::new().parse(&*reply).expect("a tree");
    assert_eq!((&*answer.tree.name, answer.tree.kids.len(), answer.tree.best.is_none()), ("a", 0, true));
}

#[test]
fn ma023_fields_called_instructions_and_demos() {
    #[derive(Signature)]
    #[signature(output = Answer)]
    struct Ask {
        instructions: String,
        signature: String,
    }

    #[derive(Signature)]
    struct Answer {
        demos: String,
        fields: String,
        write: String,
        output: String,
    }

    let ask = Ask { instructions: "a".to_owned(), signature: "b".to_owned() };
    assert!(prompt(&ask).contains("[[ ## instructions ## ]]\na"));
    let reply =
        section("demos", "1") + &section("fields", "2") + &section("write", "3") + &section("output", "4");
    let answer: Answer = Chat::new().parse(&*reply).expect("four fields");
    assert_eq!([&*answer.demos, &answer.fields, &answer.write, &answer.output].concat(), "1234");
}
