//! spec/imp.md §9: the JSON adapter. The JSON part of rows 2, 6, 9, 11 to 22, 45 to 50, 52, 53, 65, 66, 70 and 87.
//!
//! Turns of a history (row 24) and images (row 29) are not here: they do not exist yet.

use imp::{
    Adapter as _, Capabilities, Config, Error, FormatOptions, Json, Message, OutputForm, ParseError,
    ParseErrorKind, Predict, Request, ResponseFormat, Role, Script, SignatureSpec,
};
use imp_tests::plain::{data, demo, fields, json, line, output};
use serde_json::{Value, json};

fn system(spec: &SignatureSpec) -> String {
    Json::new().system(spec).into_string()
}

fn messages(spec: &SignatureSpec, inputs: &Value, options: &FormatOptions) -> Vec<Message> {
    Json::new().messages(spec, &fields(inputs), options).unwrap_or_else(|error| panic!("{inputs}\n{error}"))
}

fn read(spec: &SignatureSpec, reply: &str) -> Result<Value, ParseError> {
    Json::new().read_fields(spec, reply).map(|fields| json(&fields))
}

fn outputs(list: &Value) -> SignatureSpec {
    data(&json!({ "inputs": [{ "name": "question" }], "outputs": list }))
}

#[test]
fn row_2_system() {
    let spec = line("question -> answers: array[string], scores: array[float]")
        .with_instructions("Answer the question with multiple answers and scores");
    let expected = r#"Your input fields are:
1. `question` (string):
Your output fields are:
1. `answers` (list of strings): 
2. `scores` (list of numbers):
All interactions will be structured in the following way, with the appropriate values filled in.

Inputs will have the following structure:

[[ ## question ## ]]
{question}

Outputs will be a JSON object with the following fields.

{
  "answers": "{answers}        # note: the value you produce must adhere to the JSON schema: {\"type\": \"array\", \"items\": {\"type\": \"string\"}}",
  "scores": "{scores}        # note: the value you produce must adhere to the JSON schema: {\"type\": \"array\", \"items\": {\"type\": \"number\"}}"
}
In adhering to this structure, your objective is: 
        Answer the question with multiple answers and scores"#;
    assert_eq!(system(&spec), expected);
}

/// The end of the system message is not trimmed, neither alone nor in a request.
#[test]
fn the_system_message_is_not_trimmed() {
    let spec = line("question -> answer").with_instructions("");
    assert!(system(&spec).ends_with("\n}\nIn adhering to this structure, your objective is: "));
    let sent = messages(&spec, &json!({ "question": "?" }), &FormatOptions::new());
    assert_eq!(sent[0].text(), system(&spec));
}

/// Rows 6, 9 and 11 to 17: the words for each type in the list, the template and the tail.
#[test]
fn wording() {
    let note = |ty: &str| format!("        # note: the value you produce {ty}");
    let schema =
        |schema: &str| note(&format!("must adhere to the JSON schema: {}", schema.replace('"', "\\\"")));
    let code = "code in elixir): \n    Type description: Code represented in a string, specified in the `code` \
                field. If this is an output field, the code field should follow the markdown code block format, \
                e.g. \n```elixir\n{code}\n```\nProgramming language: elixir";
    let teams = "one of: atlas, harbor, beacon, quill";
    for (row, field, label, placeholder, requirement) in [
        (
            "6, 9",
            json!("enum[atlas, harbor, beacon, quill]"),
            teams,
            note("must exactly match (no extra characters) one of: atlas; harbor; beacon; quill"),
            teams,
        ),
        ("11", json!("int"), "integer", note("must be a single integer"), "an integer"),
        ("11", json!("bool"), "true or false", note("must be true or false"), "true or false"),
        ("11", json!("float"), "number", note("must be a single number"), "a number"),
        (
            "11",
            json!("array[str]"),
            "list of strings",
            schema(r#"{"type": "array", "items": {"type": "string"}}"#),
            "a list of strings",
        ),
        (
            "11",
            json!("array[array[int]]"),
            "list of lists of integers",
            schema(r#"{"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}"#),
            "a list of lists of integers",
        ),
        (
            "11",
            json!("object"),
            "object",
            schema(r#"{"type": "object", "additionalProperties": true}"#),
            "an object",
        ),
        ("11", json!("datetime"), "ISO 8601 date and time", String::new(), "an ISO 8601 date and time"),
        ("12", json!("str"), "string", String::new(), ""),
        ("14", json!({ "type": "code", "language": "elixir" }), code, String::new(), "code in elixir"),
        (
            "15",
            json!({ "literal": ["she's here", "three\""] }),
            "one of: she's here, three\"",
            note("must exactly match (no extra characters) one of: she's here; three\\\""),
            "one of: she's here, three\"",
        ),
        (
            "16",
            json!({ "literal": [1, "bar"] }),
            "one of: 1, bar",
            note("must exactly match (no extra characters) one of: 1; bar"),
            "one of: 1, bar",
        ),
        (
            "16",
            json!({ "literal": [true, 3, "foo"] }),
            "one of: true, 3, foo",
            note("must exactly match (no extra characters) one of: true; 3; foo"),
            "one of: true, 3, foo",
        ),
        // Without the sentences that the Chat adapter's list has (§4).
        ("17", json!("yes_no"), "string", String::new(), ""),
        ("17", json!("numeric_span"), "string", String::new(), ""),
        ("17", json!("short_span"), "string", String::new(), ""),
    ] {
        let spec = output(&field);
        let system = system(&spec);
        let entry = if row == "14" { format!("1. `x` ({label}") } else { format!("1. `x` ({label}):") };
        assert!(system.contains(&format!("Your output fields are:\n{entry}\nAll inter")), "{row}\n{system}");
        let template = format!("fields.\n\n{{\n  \"x\": \"{{x}}{placeholder}\"\n}}\nIn adhering");
        assert!(system.contains(&template), "{row}\n{template}\n{system}");
        let requirement = match requirement {
            "" => String::new(),
            words => format!(" (must be formatted as {words})"),
        };
        let tail = format!("Respond with a JSON object in the following order of fields: `x`{requirement}.");
        assert_eq!(Json::new().output_requirements(&spec).into_string(), tail, "{row}");
    }
}

#[test]
fn row_18_descriptions_and_template() {
    let spec = outputs(&json!([
        { "name": "reasoning", "desc": "${reasoning}" },
        { "name": "answer", "desc": "One word." },
    ]));
    let system = system(&spec);
    let list = "Your output fields are:\n1. `reasoning` (string): \n2. `answer` (string): One word.\nAll";
    assert!(system.contains(list), "{system}");
    assert!(
        system.contains("\n\n{\n  \"reasoning\": \"{reasoning}\",\n  \"answer\": \"{answer}\"\n}\nIn"),
        "{system}"
    );
}

#[test]
fn row_19_two_messages() {
    let sent = messages(&line("question -> answer"), &json!({ "question": "Why?" }), &FormatOptions::new());
    let [system, user] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!((system.role, user.role), (Role::System, Role::User));
    assert!(!sent.iter().any(|message| message.text().contains("Return only a JSON object")));
    assert_eq!(
        user.text(),
        "[[ ## question ## ]]\nWhy?\n\nRespond with a JSON object in the following order of fields: `answer`."
    );
}

/// The sentence stands there whatever the options say, and alone where there are no sections.
#[test]
fn the_sentence_is_always_there() {
    let tail = "Respond with a JSON object in the following order of fields: `answer`.";
    let spec = line("question -> answer");
    for options in [
        FormatOptions::new().response_instruction(false),
        FormatOptions::new().omit_empty_request(true),
        FormatOptions::new().omit_empty_request(true).response_instruction(false),
    ] {
        let sent = messages(&spec, &json!({ "question": "Why?" }), &options);
        assert_eq!(sent.last().unwrap().text(), format!("[[ ## question ## ]]\nWhy?\n\n{tail}"));
        for spec in [
            data(&json!({ "inputs": [], "outputs": [{ "name": "answer" }] })),
            data(
                &json!({ "inputs": [{ "name": "note", "type": { "optional": "str" } }], "outputs": [{ "name": "answer" }] }),
            ),
        ] {
            let sent = messages(&spec, &json!({ "note": null }), &options);
            assert_eq!(sent.last().unwrap(), &Message::user(tail), "no leading line breaks");
        }
    }
}

/// Rows 20 and 21: demos in the adapter's own form, the incomplete ones first.
#[test]
fn rows_20_and_21_demos() {
    let spec = line("question -> answer, confidence: float");
    let options = FormatOptions::new()
        .demo(demo(&json!({ "question": "Capital?", "answer": "Paris", "confidence": 1.0 })))
        .demo(demo(&json!({ "question": "River?", "answer": "Seine" })));
    let sent = messages(&spec, &json!({ "question": "?" }), &options);
    let texts: Vec<_> = sent[1..5].iter().map(|message| (message.role, message.text())).collect();
    let expected = [
        (
            Role::User,
            "This is an example of the task, though some input or output fields are not supplied.\n\n[[ ## question ## ]]\nRiver?",
        ),
        (
            Role::Assistant,
            "{\n  \"answer\": \"Seine\",\n  \"confidence\": \"Not supplied for this particular example. \"\n}",
        ),
        (Role::User, "[[ ## question ## ]]\nCapital?"),
        (Role::Assistant, "{\n  \"answer\": \"Paris\",\n  \"confidence\": 1.0\n}"),
    ];
    for (got, expected) in texts.iter().zip(expected) {
        assert_eq!((got.0, &*got.1), expected);
    }
    assert_eq!(sent.len(), 6);
}

/// Top-level values are compact JSON, floats in Jason's spelling, code its source.
#[test]
fn assistant_values() {
    for (ty, value, text) in [
        (json!("array[int]"), json!([1, 2, 3]), "[1,2,3]"),
        (
            json!("object"),
            json!({ "a": [1, { "b": null }], "c": "x y" }),
            r#"{"a":[1,{"b":null}],"c":"x y"}"#,
        ),
        (json!("float"), json!(1_000_000.0), "1.0e6"),
        (json!("float"), json!(0.1), "0.1"),
        (json!("str"), json!("say \"hi\"\n東京"), r#""say \"hi\"\n東京""#),
        (json!("bool"), json!(true), "true"),
        (json!("code"), json!("print(1)\n"), r#""print(1)\n""#),
        (json!({ "optional": "int" }), json!(null), "null"),
    ] {
        let spec = output(&ty);
        let text = format!("{{\n  \"x\": {text}\n}}");
        let outputs = fields(&json!({ "x": value }));
        let content = Json::new().assistant_content(&spec, &outputs, imp::Missing::LeaveOut).unwrap();
        assert_eq!(content, text);
        if !value.is_null() {
            assert_eq!(read(&spec, &content).unwrap()["x"], value, "what goes in comes out");
        }
    }
    let none = Json::new().assistant_content(&line("q -> a, b"), &fields(&json!({})), imp::Missing::LeaveOut);
    assert_eq!(none.unwrap(), "{}");
}

/// The form of each type, by the rules of OpenAI's strict mode.
///
/// Imp falls to any object for a closed object and for a list of choices too; both have a strict form.
#[test]
fn provider_schema() {
    let any_object = || Err(());
    for (ty, property) in [
        ("str".into(), Ok(json!({ "type": "string" }))),
        ("int".into(), Ok(json!({ "type": "integer" }))),
        ("float".into(), Ok(json!({ "type": "number" }))),
        ("bool".into(), Ok(json!({ "type": "boolean" }))),
        ("datetime".into(), Ok(json!({ "type": "string" }))),
        ("code".into(), Ok(json!({ "type": "string" }))),
        ("enum[a, b]".into(), Ok(json!({ "type": "string", "enum": ["a", "b"] }))),
        ("array".into(), Ok(json!({ "type": "array", "items": {} }))),
        ("array[int]".into(), Ok(json!({ "type": "array", "items": { "type": "integer" } }))),
        (
            "array[enum[a, b]]".into(),
            Ok(json!({ "type": "array", "items": { "type": "string", "enum": ["a", "b"] } })),
        ),
        (
            json!({ "union": ["int", "str"] }),
            Ok(json!({ "anyOf": [{ "type": "integer" }, { "type": "string" }] })),
        ),
        (json!({ "optional": "int" }), Ok(json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] }))),
        (
            json!({ "object": { "name": "P", "fields": [
                { "name": "n", "type": "int" },
                { "name": "m", "type": { "optional": "str" } },
            ] } }),
            Ok(json!({
                "type": "object",
                "properties": {
                    "n": { "type": "integer" },
                    "m": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
                },
                "required": ["n", "m"],
                "additionalProperties": false,
            })),
        ),
        ("object".into(), any_object()),
        (json!({ "dict": "int" }), any_object()),
        (json!({ "list": "object" }), any_object()),
        ("any".into(), any_object()),
    ] {
        let spec = outputs(&json!([
            { "name": "main_team_id", "type": ty },
            { "name": "b", "default": "x" },
        ]));
        let expected = match property {
            Err(()) => OutputForm::Object,
            Ok(mut property) => {
                property["title"] = "Main Team Id".into();
                OutputForm::Schema(json!({
                    "type": "object",
                    "title": "Outputs",
                    "additionalProperties": false,
                    "properties": { "main_team_id": property, "b": { "type": "string", "title": "B" } },
                    "required": ["main_team_id", "b"],
                }))
            }
        };
        assert_eq!(Json::new().output_form(&spec), expected, "{ty}");
    }
}

/// The request of a program with the JSON adapter.
async fn request(spec: &SignatureSpec, capabilities: Capabilities, config: Config) -> Request {
    let script = Script::from_fn(|_| "{}").with_capabilities(capabilities);
    let program = Predict::from_spec(spec.clone(), script.clone()).adapter(Json::new()).config(config);
    let inputs = fields(&json!({ "question": "?" }));
    let error: Error = program.call(&inputs).await.unwrap_err();
    assert!(error.as_parse().is_some(), "{error:?}");
    let [request] = &script.requests()[..] else { panic!("{:?}", script.requests()) };
    request.clone()
}

/// Row 70 and §9.2: what is sent of the form follows the model's capabilities.
#[tokio::test]
async fn row_70_response_format() {
    let spec = line("question -> answer");
    let object = line("question -> answer: object");
    let all = Capabilities::default();
    let OutputForm::Schema(schema) = Json::new().output_form(&spec) else { panic!("a strict form") };
    assert_eq!(schema["required"], json!(["answer"]));
    let strict = Some(ResponseFormat::json_schema("outputs", schema, true));
    let any = Some(ResponseFormat::JsonObject);
    for (spec, capabilities, format) in [
        (&spec, all, strict.clone()),
        (&spec, all.json_object(false), strict),
        (&spec, all.json_schema(false), any.clone()),
        (&spec, all.json_schema(false).json_object(false), None),
        (&object, all, any.clone()),
        (&object, all.json_schema(false), any),
        (&object, all.json_object(false), None),
    ] {
        let sent = request(spec, capabilities, Config::new()).await;
        assert_eq!(sent.response_format, format, "{capabilities:?}");
        assert_eq!(sent.config, Config::new());
        let own = Config::new().extra("response_format", json!({ "type": "text" }));
        let sent = request(spec, capabilities, own.clone()).await;
        assert_eq!((sent.response_format, sent.config), (None, own), "a caller's own form stands");
    }
}

fn parse_error(read: Result<Value, ParseError>, reply: &str) -> ParseError {
    let error = read.expect_err(reply);
    assert_eq!(error.reply(), reply);
    assert_eq!(error.adapter(), "json");
    error
}

/// Rows 49, 50, 66, 47 and 52: what is no object, and what an object does not have.
#[test]
fn rows_47_49_50_52_66_what_is_missing() {
    let spec = line("question -> answer, confidence: float");
    for reply in ["{\"result\": \"Paris\"}", "{}", "{\"answer\": null}"] {
        let error = parse_error(read(&spec, reply), reply);
        assert_eq!(error.kind(), ParseErrorKind::MissingFields);
        assert_eq!(error.missing(), ["answer", "confidence"]);
        assert_eq!(
            error.to_string(),
            "The response has none of the requested output fields: answer, confidence."
        );
    }
    for reply in
        ["The answer is Paris.", "[[ ## answer ## ]]\nParis\n\n[[ ## completed ## ]]", "", "[1]", "7"]
    {
        let error = parse_error(read(&spec, reply), reply);
        assert_eq!(error.kind(), ParseErrorKind::Malformed, "row 50 {reply}");
        assert_eq!(error.to_string(), "LM response cannot be serialized to a JSON object.");
    }
    for (row, reply, missing) in [
        ("66", r#"{"answer":"Paris"}"#, "confidence"),
        ("47", r#"{"confidence": 1, "note": ""}"#, "answer"),
        ("52", r#"{"answer": null, "confidence": 0.5}"#, "answer"),
    ] {
        let error = parse_error(read(&spec, reply), reply);
        assert_eq!(error.kind(), ParseErrorKind::MissingFields, "row {row}");
        assert_eq!(error.missing(), [missing], "row {row}");
        let message = format!("The response is missing required output fields: {missing}.");
        assert_eq!(error.to_string(), message, "row {row}");
        assert_eq!(
            json(error.fields()).as_object().map(serde_json::Map::len),
            Some(1),
            "row {row}: the other one was read"
        );
    }
}

/// Rows 45, 46 and 53: what is absent has its default; what is there stays.
#[test]
fn rows_45_46_53_defaults() {
    let spec = outputs(&json!([
        { "name": "answer", "default": "unknown" },
        { "name": "note", "default": "n/a" },
        { "name": "tags", "type": "array[str]", "default": ["x"] },
        { "name": "maybe", "type": { "optional": "str" } },
    ]));
    for (row, reply, expected) in [
        (
            "45, 53",
            r#"{"note": "seen"}"#,
            json!({ "answer": "unknown", "note": "seen", "tags": ["x"], "maybe": null }),
        ),
        (
            "46",
            r#"{"answer":"","note":"","tags":[],"maybe":null}"#,
            json!({ "answer": "", "note": "", "tags": [], "maybe": null }),
        ),
    ] {
        assert_eq!(read(&spec, reply).unwrap(), expected, "row {row}");
    }
    let error = parse_error(read(&spec, "{}"), "{}");
    assert_eq!(error.missing().len(), 4, "an empty object is none of them, even if all have defaults");
}

/// Row 65 and §9.3: fences and what stands around the object do not matter, nor do further keys.
#[test]
fn row_65_what_is_around() {
    let spec = line("question -> answer, confidence: float");
    let object = r#"{"answer": "Paris", "confidence": "0.95", "source": {"answer": "none"}}"#;
    let expected = json!({ "answer": "Paris", "confidence": 0.95 });
    for reply in [
        format!("```json\n{object}\n```"),
        format!("```\n{object}\n```"),
        format!("``````json {object}``````"),
        format!("  \n{object}\n\n"),
        format!("Here it is: {object} I hope that helps }}."),
        format!("<think>{{\"answer\": \"Rome\", \"confidence\": 1}}? No.</think>\n{object}"),
        object.replace("source", "Answer"),
    ] {
        assert_eq!(read(&spec, &reply).unwrap_or_else(|error| panic!("{reply}\n{error}")), expected);
    }
    // A thought that does not end has no answer behind it.
    let reply = format!("<think>Perhaps {object}");
    assert_eq!(parse_error(read(&spec, &reply), &reply).kind(), ParseErrorKind::Malformed);
}

/// §8.4 in JSON, and row 87: strings are read as their types, each other value as what it is.
#[test]
fn values() {
    for (ty, value, expected) in [
        (json!("int"), r#""42""#, Ok(json!(42))),
        (json!("int"), "42", Ok(json!(42))),
        (json!("int"), "42.5", Err("expected integer")),
        (json!("bool"), r#""yes""#, Ok(json!(true))),
        (json!("enum[a, b]"), r#"" 'b' ""#, Ok(json!("b"))),
        (json!("enum[a, b]"), r#""c""#, Err("must be one of [\"a\", \"b\"]")),
        (json!("array[int]"), r#""[1, 2]""#, Ok(json!([1, 2]))),
        (json!("object"), r#""{'a': 1}""#, Ok(json!({ "a": 1 }))),
        (json!("str"), "[1, 2, 3]", Ok(json!("[1, 2, 3]"))),
        (json!("str"), r#"{"a": true}"#, Ok(json!(r#"{"a": true}"#))),
        (json!("str"), "1000000.0", Ok(json!("1000000.0"))),
        (
            json!({ "type": "code", "language": "elixir" }),
            r#""```elixir\nIO.puts(:ok)\n```""#,
            Ok(json!("IO.puts(:ok)")),
        ),
        (json!({ "type": "code", "language": "elixir" }), "123", Err("expected code")),
    ] {
        let reply = format!("{{\"x\": {value}}}");
        let read = read(&output(&ty), &reply).map(|mut read| read["x"].take());
        match (read, expected) {
            (Ok(read), Ok(expected)) => assert_eq!(read, expected, "{ty} {value}"),
            (Err(error), Err(message)) => {
                assert_eq!(error.kind(), ParseErrorKind::InvalidFields);
                let whole = format!("Validation failed. Retry with corrected output:\n- x: {message}");
                assert_eq!(error.to_string(), whole, "{ty} {value}");
                assert_eq!(&reply[error.failures()[0].span.clone()], value, "{ty} {value}");
            }
            (read, expected) => panic!("{ty} {value}\n{read:?}\n{expected:?}"),
        }
    }
}

/// A map of fields is read by the same rules, and JSON never is a text field.
#[test]
fn maps_and_text_fields() {
    let spec = line("question -> answer, n: int");
    let read_map = |map: Value| Json::new().read_fields(&spec, map).map(|fields| json(&fields));
    assert_eq!(
        read_map(json!({ "n": "7", "answer": "x", "z": 1 })).unwrap(),
        json!({ "answer": "x", "n": 7 })
    );
    assert_eq!(read_map(json!({ "n": 7 })).unwrap_err().missing(), ["answer"]);

    let spec = data(&json!({
        "inputs": [{ "name": "question" }],
        "outputs": [{ "name": "answer", "type": { "optional": "str" } }],
        "text_field": "answer",
    }));
    for reply in ["Paris it is.", "{}"] {
        assert!(read(&spec, reply).is_err(), "{reply}");
    }
}
