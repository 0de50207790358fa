//! Replies that are still being written: what is said of the front of one stays true, whatever comes behind it.

use imp::{Adapter as _, Chat, Dialect, Fields, Json, Missing, Signature, SignatureSpec, Value};
use imp_tests::fronts::{are_front, has_twins, is_front};
use imp_tests::generate::{Described, Rng, Types, hostile, noise};
use imp_tests::plain::{data, json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// How a reply is read.
#[derive(Debug, Clone)]
enum Reader {
    Chat(Chat),
    Json(Json),
}

impl Reader {
    fn all() -> [Reader; 4] {
        let [plain, dspy] = [Dialect::Plain, Dialect::Dspy];
        [
            Reader::Chat(Chat::new().dialect(plain)),
            Reader::Chat(Chat::new().dialect(dspy)),
            Reader::Json(Json::new().dialect(plain)),
            Reader::Json(Json::new().dialect(dspy)),
        ]
    }

    fn front(&self, spec: &SignatureSpec, front: &str) -> Fields {
        match self {
            Reader::Chat(chat) => chat.partial_fields(spec, front),
            Reader::Json(json) => json.partial_fields(spec, front),
        }
    }

    fn whole(&self, spec: &SignatureSpec, reply: &str) -> Result<Fields, imp::ParseError> {
        match self {
            Reader::Chat(chat) => chat.read_fields(spec, reply),
            Reader::Json(json) => json.read_fields(spec, reply),
        }
    }

    fn write(&self, spec: &SignatureSpec, values: &Fields) -> String {
        match self {
            Reader::Chat(chat) => chat.assistant_content(spec, values, Missing::LeaveOut),
            Reader::Json(json) => json.assistant_content(spec, values, Missing::LeaveOut),
        }
        .unwrap()
    }

    /// Whether something in a whole reply waits for its end, which nobody has told of: a section behind which
    /// no marker closes it, or the meaning of a backslash, which a slip behind the object would change.
    fn waits(&self, reply: &str) -> bool {
        match self {
            Reader::Chat(_) => !reply.contains("\n[[ ## completed ## ]]"),
            Reader::Json(json) => {
                json.dialect() == Dialect::Dspy
                    && ["\\f", "\\/", "\\n\""].iter().any(|end| reply.contains(end))
            }
        }
    }
}

/// The fronts of a text, and the text.
fn fronts(text: &str) -> impl Iterator<Item = &str> {
    (0..=text.len()).filter_map(|end| text.get(..end))
}

/// Reads every front of a reply that can be read, and says what was wrong.
fn check(reader: &Reader, spec: &SignatureSpec, reply: &str) -> Result<(), String> {
    let whole = reader.whole(spec, reply).map_err(|error| format!("no reply: {error}\n{reply}"))?;
    let mut before = Fields::new();
    let wrong = |what: &str, front: &str, part: &Fields, than: &Fields| {
        Err(format!("{reader:?}: {what}\n--- front\n{front}\n--- reply\n{reply}\n{part:?}\n{than:?}"))
    };
    // In a reply with a backslash that means something else behind a slip, the ends of texts may wait.
    let waits = reply.contains('\\');
    for front in fronts(reply) {
        let part = reader.front(spec, front);
        if !are_front(&part, &whole, waits) {
            return wrong("not the front of the whole", front, &part, &whole);
        }
        if !are_front(&before, &part, waits) {
            return wrong("something was taken back", front, &part, &before);
        }
        before = part;
    }
    // What the reply does not give is null.
    let is_whole = |(name, value): (&str, &Value)| match before.get(name) {
        Some(part) => is_front(part, value, false, false),
        None => value.is_null(),
    };
    if !reader.waits(reply) && !whole.iter().all(is_whole) {
        return wrong("the whole is not whole", reply, &before, &whole);
    }
    Ok(())
}

fn any() -> SignatureSpec {
    data(&json!({ "outputs": [
        { "name": "team", "type": { "literal": ["atlas", "atlas two", "harbor"] } },
        { "name": "priority", "type": "int" },
        { "name": "sure", "type": "bool" },
        { "name": "share", "type": { "optional": "float" }, "default": null },
        { "name": "note", "type": { "optional": "str" }, "default": null },
        { "name": "reply", "type": "str" },
        { "name": "tags", "type": { "list": "str" } },
        { "name": "items", "type": { "list": { "object": { "name": "Item", "fields": [
            { "name": "sku", "type": "str" },
            { "name": "count", "type": "int" },
            { "name": "size", "type": { "optional": "float" }, "default": 1.5 },
        ] } } } },
        { "name": "extra", "type": { "dict": "any" } },
    ] }))
}

/// The sections of a whole Chat reply.
fn chat(sections: &[(&str, &str)]) -> String {
    let sections = sections.iter().map(|(name, text)| format!("[[ ## {name} ## ]]\n{text}\n\n"));
    sections.collect::<String>() + "[[ ## completed ## ]]"
}

const REST: [(&str, &str); 8] = [
    ("team", "atlas two"),
    ("priority", "12"),
    ("sure", "true"),
    ("note", "null and void"),
    ("reply", "We are on it.\n\n  Soon.\n[[ ## done\nBye [[ ## x ## ]]"),
    ("tags", "[\"a\", \"b\\u00e9\\ud83c\\udf89\", \"\"]"),
    ("items", "[{\"sku\": \"a\", \"count\": 12}, {\"count\": 3, \"size\": 2e1, \"sku\": \"b\"}]"),
    ("extra", "{\"a\": [1, [2.5, null], true], \"b\": {\"c\": \"d\"}}"),
];

/// A reply in sections in which some are others.
fn with(other: &[(&str, &str)]) -> String {
    let text = |name: &str| other.iter().find(|(given, _)| *given == name).map(|(_, text)| *text);
    let mut sections: Vec<_> = REST.iter().map(|(name, rest)| (*name, text(name).unwrap_or(rest))).collect();
    sections.extend(other.iter().filter(|(name, _)| REST.iter().all(|(rest, _)| rest != name)));
    chat(&sections)
}

#[test]
fn every_front_of_a_reply_in_sections() {
    let both: &[&[(&str, &str)]] = &[
        &[],
        &[("note", "null")],
        &[("note", "\"null\"")],
        &[("note", "\"quoted\" words"), ("share", "0.25")],
        &[("note", ""), ("reply", "")],
        &[("team", "'harbor'"), ("priority", " 7 \n"), ("share", "null")],
        &[("reply", "[[ ##\n[[ ## reply\n[[ ## a b ## ]]\n  [[ ## _ ##\n# [[")],
        &[("reply", "a\r\nb\r\n\r\nc\rd \t\n e")],
        &[("reply", "[1, 2]\n{\"a\": 1}\nnull")],
        &[("tags", "['single', \"dou'ble\", 'it\\'s', ]")],
        &[("tags", "[\n  \"a\\tb\",\n  \"line\nbreak\"\n]")],
        &[("tags", "[\"a\\\\\", \"b\\\\\\\\\", \"\\\\u0041\"]")],
        &[("items", "[]"), ("extra", "{}"), ("tags", "[ ]")],
        &[("items", "[{'sku': 'x', 'count': 1, 'other': [1]}]")],
        &[("extra", "{\"n\": [-1, 0, 1e3, -2.5E-3, 10000000000000000000000], \"t\": True, \"f\": None}")],
        &[("extra", "{'a': \"\\d \\x41 \\frac \\/ \\\\\\\" \", 'b': 'end\n', 'c': 1}")],
        &[("extra", "{\"a\": \"\\frac \\/ \", \"b\": \"end\\n\", \"c\": [\"\\n\", 1]}")],
        &[(
            "extra",
            "{\"a\": \"\\frac\", \"b\": \"end\\n\", \"c\": [\"\\n\", 1], 'd': 2, \"e\": \"\\f \\n\"}",
        )],
    ];
    let dspy: &[&[(&str, &str)]] = &[
        &[("tags", "```json\n[\"a\", \"b\"]\n```")],
        &[("tags", "The tags are: ['a', 'b'] as you asked")],
        &[("tags", "[\"a\" // comment\n, \"b\", /* , */ \"c\" # x\n]")],
        &[("tags", "[a, bare words, true story, 1 nullable, nullable , 'b']")],
        &[(
            "extra",
            "{key: value, \"n\": [1 null, 2 nullx, true false, true falsey, 1 2], m: {a: 1 \"b\": null \"c\": 2}, x: .5}",
        )],
        &[("extra", "{“a”: “b”; 'c': +1, d: NaN, e: 2024-01-01,, f: TRUE}")],
        &[("priority", "12.0"), ("sure", "on"), ("note", "None")],
    ];
    let mut wrong = Vec::new();
    let mut count = 0;
    for reader in Reader::all() {
        let Reader::Chat(chat) = &reader else { continue };
        let dspy: &[_] = if chat.dialect() == Dialect::Dspy { dspy } else { &[] };
        for sections in both.iter().chain(dspy) {
            count += 1;
            let reply = with(sections);
            wrong.extend(check(&reader, &any(), &reply).err());
        }
    }
    assert!(wrong.is_empty(), "{} of {count} wrong:\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn every_front_of_a_json_reply() {
    let rest = r#""items": [{"sku": "a", "count": 12}, {"count": 3, "sku": "b"}], "extra": {"a": [1, true]}"#;
    let both = [
        r#"{"team": "atlas two", "priority": 12, "sure": true, "note": "n", "reply": "We", "tags": ["a"], REST}"#,
        "{\n  \"tags\": [],\n  \"reply\": \"\",\n  \"sure\": false,\n  \"priority\": -7,\n  \"share\": null,\n  \"team\": \"atlas\",\n  REST\n}\n",
        r#"Here you are: {"team": "harbor", "priority": 1, "sure": true, "reply": "\u00e9\ud83c\udf89\"\\ \b", "tags": ["[", "}"], REST} and that is it."#,
        "```json\n{\"team\": 'harbor', 'priority': 1, \"sure\": True, \"note\": None, 'reply': 'it\\'s \"so\"', \"tags\": [\"x\", ], REST,}\n```",
        r#"{"reply": "\frac \/ ends\n", "team": "harbor", "priority": 1, "sure": true, "tags": ["a\n", "b"], REST}"#,
        r#"{"reply": "\frac \/ ends\n", "team": "harbor", "priority": 1, "sure": True, "tags": ["a\n", "\\\ b \d"], REST}"#,
        r#"{'reply': "\frac \\\" ends\n", "team": "harbor", "priority": 007, "sure": true, "tags": ["a \x41 \n"], REST}"#,
        r#"{"unknown": {"a": [1, {"b": true}]}, "reply": "x", "team": "harbor", "priority": 1, "sure": true, "tags": ["a"], REST} ] }"#,
    ];
    let dspy = [
        "[{\"team\": \"harbor\", \"priority\": \"12\", \"sure\": \"no\", \"reply\": \"x\\n\", \"tags\": [\"a\"], REST}]",
        "{team: harbor, priority: 12, sure: TRUE, reply: some words; tags: [a b, c], REST} // done",
        "# so\n{\"team\": \"harbor\" \"priority\": 1.0 \"sure\": 1, /* note */ \"reply\": “smart”, \"tags\": [\"a\" \"b\"], REST}",
    ];
    let mut wrong = Vec::new();
    let mut count = 0;
    for reader in Reader::all() {
        let Reader::Json(adapter) = &reader else { continue };
        let dspy: &[_] = if adapter.dialect() == Dialect::Dspy { &dspy } else { &[] };
        for reply in both.iter().chain(dspy) {
            count += 1;
            wrong.extend(check(&reader, &any(), &reply.replace("REST", rest)).err());
        }
    }
    assert!(wrong.is_empty(), "{} of {count} wrong:\n{}", wrong.len(), wrong.join("\n\n"));
}

const SEEDS: u64 = 60;

/// A reply with some of what a model may do to JSON.
fn with_slips(rng: &mut Rng, reply: &str) -> String {
    let table = [
        (", ", " "),
        (", ", "; "),
        (", ", " // so, it is\n, "),
        (", ", " /* , */ , "),
        (", ", ",, "),
        (", ", ",\n"),
        ("]", ",]"),
        ("}", ", }"),
        ("}", "}}"),
        ("\"", "'"),
        ("\"", ""),
        ("\"", "“"),
        ("\"", "\n\""),
        ("\\n", "\n"),
        ("\\", "\\\\"),
        ("\\", "\\\\\\"),
        ("null", "None"),
        ("true", "True"),
        ("false", "FALSE"),
        (": ", ": +"),
        (": ", ":"),
        ("a", "\\/"),
        ("0", "\\f"),
        (" ", " null "),
        ("\n", "\r\n"),
        ("{", "json\n```\n{"),
        ("[", "So: ["),
        ("]", "] that is all"),
    ];
    let mut reply = reply.to_owned();
    for _ in 0..=rng.below(3) {
        let (from, to) = table[rng.below(table.len())];
        if rng.once_in(4) {
            reply = reply.replace(from, to);
        } else {
            let places: Vec<usize> = reply.match_indices(from).map(|(at, _)| at).collect();
            if let Some(&at) = places.get(rng.below(places.len())) {
                reply.replace_range(at..at + from.len(), to);
            }
        }
    }
    reply
}

#[test]
fn every_front_of_generated_replies() {
    let mut wrong = Vec::new();
    let (mut count, mut slips) = (0, 0);
    for seed in 0..SEEDS {
        let mut rng = Rng::new(seed);
        let described = Described::any(&mut rng, Types::All);
        let spec = data(&described.json);
        let values = Described::values(&mut rng, &described.outputs);
        if values.iter().any(|(_, value)| has_twins(value)) {
            continue;
        }
        for reader in Reader::all() {
            let reply = reader.write(&spec, &values);
            if reader.whole(&spec, &reply).is_err() {
                continue;
            }
            count += 1;
            let mut check = |reply: &str| {
                wrong.extend(check(&reader, &spec, reply).err().map(|error| format!("seed {seed}: {error}")));
            };
            check(&reply);
            // With slips, where they are forgiven.
            for _ in 0..8 {
                let reply = with_slips(&mut rng, &reply);
                if reader.whole(&spec, &reply).is_ok() {
                    slips += 1;
                    check(&reply);
                }
            }
        }
    }
    assert!(count > 4 * SEEDS / 2 && slips > 4 * SEEDS / 2, "{count} replies, {slips} with slips");
    assert!(
        wrong.is_empty(),
        "{} of {count} wrong:\n{}",
        wrong.len(),
        wrong[..3.min(wrong.len())].join("\n\n")
    );
}

/// What is there, exactly: a reader that says nothing would pass the tests above.
#[test]
fn what_is_certain() {
    let open = |section: &str, text: &str| format!("[[ ## {section} ## ]]\n{text}");
    let [plain, dspy, json_plain, json_dspy] = Reader::all();
    let table: Vec<(&Reader, String, serde_json::Value)> = vec![
        (&plain, open("reply", ""), json!({})),
        (&plain, open("reply", "We are "), json!({ "reply": "We are" })),
        (&plain, open("reply", "We are\n[[ ## comp"), json!({ "reply": "We are" })),
        (&plain, open("reply", "We are\n[[ ## comp #x"), json!({ "reply": "We are\n[[ ## comp #x" })),
        (&plain, open("reply", "We are\n \\[["), json!({ "reply": "We are" })),
        (&plain, open("reply", "We are\n \\[[ ## x"), json!({ "reply": "We are\n [[ ## x" })),
        (&dspy, open("reply", "We are\n \\[["), json!({ "reply": "We are\n \\[[" })),
        (&plain, open("note", "nul"), json!({})),
        (&plain, open("note", "nullify"), json!({ "note": "nullify" })),
        (&plain, open("note", "\"a"), json!({})),
        (&plain, open("priority", "12"), json!({})),
        (&plain, open("priority", "12\n[[ ## x ## ]]"), json!({ "priority": 12 })),
        (&plain, open("team", "atlas"), json!({})),
        (&plain, open("tags", "["), json!({})),
        (&plain, open("tags", "[ "), json!({ "tags": [] })),
        (&plain, open("tags", "[ \""), json!({ "tags": [""] })),
        (&plain, open("tags", "[\"a\", \"b"), json!({ "tags": ["a", "b"] })),
        (&plain, open("tags", "[\"a\", \"b\\"), json!({ "tags": ["a", "b"] })),
        (&plain, open("tags", "[\"a\", \"b\\u00e"), json!({ "tags": ["a", "b"] })),
        (&plain, open("tags", "[\"a\", \"b\\ud83c\\udf8"), json!({ "tags": ["a", "b"] })),
        (&plain, open("tags", "[\"a\", \"b\\ud83c\\udf89"), json!({ "tags": ["a", "b🎉"] })),
        (&plain, open("tags", "[\"a\\\\ x"), json!({ "tags": ["a\\ x"] })),
        (&plain, open("tags", "so: [\"a\""), json!({})),
        (&dspy, open("tags", "so: [\"a\""), json!({ "tags": ["a"] })),
        (&dspy, open("tags", "```json\n[a, b"), json!({ "tags": ["a"] })),
        (&plain, open("items", "[{\"sku\""), json!({ "items": [{}] })),
        (&plain, open("items", "[{\"sku\": "), json!({ "items": [{}] })),
        (&plain, open("items", "[{\"sku\": \"a"), json!({ "items": [{ "sku": "a" }] })),
        (&plain, open("items", "[{\"sku\": \"a\", \"count\": 12"), json!({ "items": [{ "sku": "a" }] })),
        (
            &plain,
            open("items", "[{\"sku\": \"a\", \"count\": 12}"),
            json!({ "items": [{ "sku": "a", "count": 12, "size": 1.5 }] }),
        ),
        (&plain, open("extra", "{\"a\": tru"), json!({ "extra": {} })),
        (&plain, open("extra", "{\"a\": true"), json!({ "extra": {} })),
        (&plain, open("extra", "{\"a\": true,"), json!({ "extra": { "a": true } })),
        (&plain, open("extra", "{\"a\": [1, 2"), json!({ "extra": { "a": [1] } })),
        (&plain, open("extra", "{\"a\": 1, \"a\": 2"), json!({ "extra": { "a": 1 } })),
        // Whether the text is strict JSON decides what `\f` is, and whether the line end stays.
        (&plain, open("extra", "{\"a\": \"x\\frac\", \"b\": 1"), json!({ "extra": { "a": "x" } })),
        (&plain, open("extra", "{\"a\": \"x\\n\", \"b\": 1,"), json!({ "extra": { "a": "x", "b": 1 } })),
        (
            &plain,
            open("extra", "{'a': \"x\\frac\", \"b\": 1,"),
            json!({ "extra": { "a": "x\\frac", "b": 1 } }),
        ),
        (&plain, open("extra", "{\"a\": \"x\\f\\n\"}"), json!({ "extra": { "a": "x\u{c}\n" } })),
        (&json_plain, "{\"sub".to_owned(), json!({})),
        (&json_plain, "Well, {\"reply\": \"".to_owned(), json!({ "reply": "" })),
        (&json_plain, "{\"reply\": \"a\", \"team\": \"atlas".to_owned(), json!({ "reply": "a" })),
        (&json_plain, "{\"team\": \"atlas\",".to_owned(), json!({ "team": "atlas" })),
        (&json_plain, "{\"team\": \"atlas\"".to_owned(), json!({})),
        (&json_plain, "{\"share\": null,".to_owned(), json!({ "share": null })),
        (&json_plain, "{\"reply\": \"a\", \"reply\": \"b\"".to_owned(), json!({ "reply": "a" })),
        (&json_plain, "{\"priority\": 1, \"reply\": [\"a\"".to_owned(), json!({ "priority": 1 })),
        (&json_dspy, "{priority: 1 null".to_owned(), json!({})),
        (&json_dspy, "{priority: 1 reply".to_owned(), json!({})),
        (&json_dspy, "{\"priority\": \"1\" reply".to_owned(), json!({})),
        (&json_dspy, "\"{\\\"reply\\\": \\\"a".to_owned(), json!({})),
        (&json_dspy, "\"So\": {\"reply\": 'a".to_owned(), json!({ "reply": "a" })),
    ];
    for (reader, front, expected) in table {
        let read = json(&reader.front(&any(), &front));
        assert_eq!(read, expected, "{reader:?}\n{front}");
    }
    // Texts that are all their field can be.
    let spec = data(&json!({ "outputs": [
        { "name": "code", "type": { "code": "python" } },
        { "name": "value", "type": "any" },
        { "name": "why", "type": "reasoning" },
    ] }));
    for (front, expected) in [
        (open("code", "x = 1"), json!({})),
        (open("value", "[1, 2"), json!({})),
        (open("why", "Because"), json!({ "why": "Because" })),
    ] {
        assert_eq!(json(&plain.front(&spec, &front)), expected, "{front}");
    }
}

#[derive(Debug, Signature)]
struct Route {
    team: Team,
    priority: u8,
    reply: String,
    duplicate_of: Option<String>,
    at: Option<std::net::IpAddr>,
    tags: Vec<String>,
    steps: Vec<Step>,
    sizes: std::collections::BTreeMap<String, f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Team {
    Atlas,
    AtlasTwo,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Step {
    #[serde(alias = "what")]
    title: String,
    note: Option<String>,
}

/// The fields of a companion that are there.
fn given(route: &RoutePartial) -> Fields {
    let value = |value: Option<serde_json::Value>| value.map(Value::from);
    let fields = [
        ("team", value(route.team.as_ref().map(|value| json!(value)))),
        ("priority", value(route.priority.as_ref().map(|value| json!(value)))),
        ("reply", value(route.reply.as_ref().map(|value| json!(value)))),
        ("duplicate_of", value(route.duplicate_of.as_ref().map(|value| json!(value)))),
        ("at", value(route.at.as_ref().map(|value| json!(value)))),
        ("tags", value(route.tags.as_ref().map(|value| json!(value)))),
        ("steps", value(route.steps.as_ref().map(|value| json!(value)))),
        ("sizes", value(route.sizes.as_ref().map(|value| json!(value)))),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// What an adapter makes of a front.
type Read<'a> = Box<dyn Fn(&str) -> RoutePartial + 'a>;

#[test]
fn typed_fronts() {
    let object = r#"{"team": "atlas_two", "priority": 12, "reply": "it\u2019s [[ ## so", "duplicate_of": "T-1", "at": "1.1.1.12", "tags": ["a", "bc"], "steps": [{"what": "x", "note": "y"}, {"note": null, "title": "z"}], "sizes": {"a": 1.5, "b": 12}}"#;
    let fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(object).unwrap();
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let sections: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), text(value))).collect();
    let sections: Vec<_> = sections.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let chat_reply = chat(&sections);
    for dialect in [Dialect::Plain, Dialect::Dspy] {
        let (chat, json) = (Chat::new().dialect(dialect), Json::new().dialect(dialect));
        let readers: [(&str, Read<'_>); 2] = [
            (&chat_reply, Box::new(|front| chat.partial::<Route>(front).unwrap())),
            (object, Box::new(|front| json.partial::<Route>(front).unwrap())),
        ];
        for (reply, read) in readers {
            let whole = given(&read(reply));
            assert_eq!(whole.iter().len(), fields.len(), "{whole:?}");
            let mut before = Fields::new();
            let mut steps = std::collections::BTreeSet::new();
            for front in fronts(reply) {
                let part = given(&read(front));
                assert!(are_front(&part, &whole, false), "{front}\n{part:?}");
                assert!(are_front(&before, &part, false), "{front}\n{before:?}\n{part:?}");
                steps.insert(format!("{part:?}"));
                before = part;
            }
            // Each character of the texts, the items, and each field.
            assert!(steps.len() > 25, "{} steps", steps.len());
        }
    }
}

/// Any text has a front, and none of them makes a reader panic or takes it more than a pass.
#[test]
fn fronts_of_anything() {
    let spec = any();
    for seed in 0..3000 {
        let mut rng = Rng::new(seed);
        let middle = if rng.once_in(2) { hostile(&mut rng) } else { noise(&mut rng) };
        for reader in Reader::all() {
            for before in
                ["", "{\"extra\": {\"a\": \"\\ud83c", "[[ ## extra ## ]]\n{'a': [", "[[ ## reply ## ]]\n"]
            {
                let _ = reader.front(&spec, &format!("{before}{middle}"));
            }
        }
    }
    for piece in
        ["[", "{\"a\":", "{\"a\":[", "\\", "\"", "\\u", "\\ud83c", "[[ ## ", "\\[[ ##\n", "'a' ", "\n"]
    {
        let text = piece.repeat(100_000);
        for reader in Reader::all() {
            for before in ["", "{\"extra\": {\"a\": \"", "[[ ## extra ## ]]\n", "[[ ## reply ## ]]\n"] {
                let _ = reader.front(&spec, &format!("{before}{text}"));
            }
        }
    }
}
