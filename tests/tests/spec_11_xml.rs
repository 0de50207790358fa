//! spec/imp.md §11: the XML adapter. Rows 3, 14 to 22, 45, 51, 57, 58 and 79 to 87.

use std::collections::BTreeMap;

use imp::{
    Adapter as _, FieldSpec, Fields, FormatOptions, Json, Missing, OutputForm, ParseError, ParseErrorKind,
    Reply, Signature, SignatureSpec, Value, Xml,
};
use imp_tests::generate::{Described, Rng, Ty, Types, noise, sorted};
use imp_tests::plain::{data, demo, fields, json, line, output};
use serde_json::{Value as JsonValue, json};

fn read(spec: &SignatureSpec, reply: &str) -> Result<JsonValue, ParseError> {
    Xml::new().read_fields(spec, reply).map(|fields| json(&fields))
}

fn assistant(spec: &SignatureSpec, outputs: &JsonValue) -> String {
    Xml::new().assistant_content(spec, &fields(outputs), Missing::LeaveOut).unwrap()
}

/// What a signature `q -> x` says of its output `x`: the template's block and the sentence at the end.
fn shown(ty: &JsonValue) -> (String, String) {
    let spec = output(ty);
    let structure = Xml::new().field_structure(&spec);
    let block = structure.split("</q>\n\n").nth(1).unwrap().to_owned();
    (block, Xml::new().output_requirements(&spec).into_string())
}

/// Row 3, §11: the whole of a request.
#[test]
fn a_request() {
    let spec = data(&json!({
        "inputs": [{ "name": "question" }],
        "outputs": [
            { "name": "answers", "type": { "list": "str" }, "desc": "All of them." },
            { "name": "scores", "type": { "list": "float" } },
            { "name": "sure", "type": "bool" },
        ],
    }));
    let system = "Your input fields are:\n\
        1. `question` (string):\n\
        Your output fields are:\n\
        1. `answers` (list of strings): All of them.\n\
        2. `scores` (list of numbers): \n\
        3. `sure` (true or false):\n\
        All interactions will be structured in the following way, with the appropriate values filled in.\n\n\
        <question>\n{question}\n</question>\n\n\
        <answers><item>...</item></answers>\n\n\
        <scores><item>...</item></scores>\n\n\
        <sure>\n{sure}        # note: the value you produce must be true or false\n</sure>\n\
        In adhering to this structure, your objective is: \n        \
        Given the fields `question`, produce the fields `answers`, `scores`, `sure`.";
    let user = "<question>\nWhat is <b>2 & 2</b>?\n</question>\n\n\
        Respond with the corresponding output fields wrapped in XML tags `<answers>`, then `<scores>`, then \
        `<sure>`. Use this nested XML structure: <answers><item>...</item></answers> \
        <scores><item>...</item></scores>";
    let inputs = fields(&json!({ "question": "What is <b>2 & 2</b>?" }));
    let messages = Xml::new().messages(&spec, &inputs, &FormatOptions::new()).unwrap();
    let texts: Vec<_> = messages.iter().map(|message| message.text()).collect();
    assert_eq!(texts, [system, user]);
    assert_eq!(Xml::new().output_form(&spec), OutputForm::Text);
    assert_eq!(Xml::new().fallback().unwrap().name(), Json::new().name());
    // Without inputs the sentence stands alone; with empty instructions the objective ends in its blank.
    let spec = data(&json!({ "instructions": "", "outputs": [{ "name": "a" }] }));
    let messages = Xml::new().messages(&spec, &Fields::new(), &FormatOptions::new()).unwrap();
    assert!(messages[0].text().ends_with("</a>\nIn adhering to this structure, your objective is: "));
    assert_eq!(messages[1].text(), "Respond with the corresponding output fields wrapped in XML tags `<a>`.");
}

/// §11, rows 14 to 16: what stands for a value in the template.
#[test]
fn skeletons() {
    let point = json!({ "object": { "name": "P", "fields": [
        { "name": "a" }, { "name": "b", "type": { "list": "int" } }
    ] } });
    for (ty, block) in [
        (json!("str"), "<x>\n{x}\n</x>"),
        (json!({ "list": { "list": "int" } }), "<x><item><item>...</item></item></x>"),
        (point.clone(), "<x><a>...</a><b><item>...</item></b></x>"),
        (json!({ "optional": point }), "<x><a>...</a><b><item>...</item></b></x>"),
        (json!({ "dict": "int" }), "<x>...</x>"),
        (json!({ "object": { "name": "E", "fields": [] } }), "<x>...</x>"),
        (json!({ "union": [{ "list": "int" }, "str"] }), "<x><item>...</item></x>"),
        (json!({ "union": ["str", { "list": "int" }] }), "<x>\n{x}\n</x>"),
        (
            json!({ "literal": ["she's here", "three\""] }),
            "<x>\n{x}        # note: the value you produce must exactly match (no extra characters) one of: \
             she's here; three\"\n</x>",
        ),
    ] {
        let (shown, requirements) = shown(&ty);
        assert_eq!(shown, block, "{ty}");
        let nested = block.split_once('\n').is_none();
        let tail = if nested { format!(" Use this nested XML structure: {block}") } else { String::new() };
        assert_eq!(
            requirements,
            format!("Respond with the corresponding output fields wrapped in XML tags `<x>`.{tail}")
        );
    }
    // §4: no sentence about the shape of an answer.
    let shaped = data(&json!({ "outputs": [{ "name": "x", "answer_shape": "yes_no" }] }));
    assert!(!Xml::new().system(&shaped).contains("Must be exactly yes or no."));
    let code = line("q -> code: str");
    assert!(Xml::new().system(&code).contains("1. `code` (string)"));
}

/// Rows 17 to 21 in XML: no sentence about a shape, a reasoning in front, two messages, demos with the incomplete first.
#[test]
fn rows_17_to_21() {
    let spec = data(&json!({
        "inputs": [{ "name": "question" }],
        "outputs": [
            { "name": "reasoning" },
            { "name": "answer", "desc": "One word.", "answer_shape": "short_span" },
        ],
    }));
    let inputs = fields(&json!({ "question": "?" }));
    let messages = Xml::new().messages(&spec, &inputs, &FormatOptions::new()).unwrap();
    assert_eq!(messages.len(), 2, "row 19");
    let system = messages[0].text();
    assert!(
        system.contains("1. `reasoning` (string): \n2. `answer` (string): One word.\n"),
        "rows 17, 18: {system}"
    );
    assert!(
        system.contains("<reasoning>\n{reasoning}\n</reasoning>\n\n<answer>\n{answer}\n</answer>\n"),
        "row 18"
    );

    let options = FormatOptions::new()
        .demo(demo(&json!({ "question": "Capital?", "reasoning": "France.", "answer": "Paris" })))
        .demo(demo(&json!({ "question": "River?", "answer": "Seine" })));
    let messages = Xml::new().messages(&spec, &inputs, &options).unwrap();
    let texts: Vec<_> = messages.iter().skip(1).take(4).map(|message| message.text().into_owned()).collect();
    assert_eq!(
        texts,
        [
            "This is an example of the task, though some input or output fields are not supplied.\n\n\
             <question>\nRiver?\n</question>",
            "<reasoning>\nNot supplied for this particular example. \n</reasoning>\n\n<answer>\nSeine\n</answer>",
            "<question>\nCapital?\n</question>",
            "<reasoning>\nFrance.\n</reasoning>\n\n<answer>\nParis\n</answer>",
        ],
        "rows 20, 21"
    );
}

/// A type whose parts all have the same parts is not shown to the end, nor is one inside itself.
#[test]
fn skeletons_end() {
    #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    struct Tree {
        label: String,
        children: Vec<Tree>,
    }
    #[derive(Signature)]
    struct Out {
        tree: Tree,
    }
    let mut ty = json!("int");
    for level in 0..24 {
        ty = json!({ "object": { "name": format!("L{level}"), "fields": [
            { "name": "a", "type": ty.clone() }, { "name": "b", "type": "int" }
        ] } });
    }
    assert!(shown(&ty).0.len() < 5_000);

    let spec = <Out as imp::OutputSignature>::output_spec().unwrap();
    assert!(
        Xml::new()
            .field_structure(spec)
            .ends_with("<tree><label>...</label><children><item>...</item></children></tree>")
    );
    let reply = "<tree><label>a</label><children><item><label>b</label><children /></item></children></tree>";
    let out: Out = Xml::new().parse(reply).unwrap();
    assert_eq!(out.tree.children[0].label, "b");
    let written = Xml::new().assistant_content(spec, &out, Missing::LeaveOut).unwrap();
    assert_eq!(written, reply);
}

/// Rows 22, 83 and 84, §11: an assistant's turn, and that it is read back.
#[test]
fn answers() {
    let object = |fields: JsonValue| json!({ "object": { "name": "O", "fields": fields } });
    for (row, ty, value, written) in [
        ("22", json!("str"), json!("Paris"), "<x>\nParis\n</x>"),
        (
            "84",
            json!({ "code": "python" }),
            json!("print('</code> & done')"),
            "<x>\nprint('&lt;/code> &amp; done')\n</x>",
        ),
        (
            "83",
            json!({ "dict": { "list": "int" } }),
            json!({ "postal code": [3], "quoted \"key\" & more": [], "a.b-c": [1, 2] }),
            "<x><a.b-c><item>1</item><item>2</item></a.b-c><entry key=\"postal code\"><item>3</item></entry>\
             <entry key=\"quoted &quot;key&quot; &amp; more\" /></x>",
        ),
        (
            "keys",
            json!({ "dict": "str" }),
            json!({ "\n\r\t<>": "" }),
            "<x><entry key=\"&#10;&#13;&#9;&lt;>\"></entry></x>",
        ),
        (
            "lists",
            json!({ "list": "str" }),
            json!(["a <b>", "c & d"]),
            "<x><item>a &lt;b></item><item>c &amp; d</item></x>",
        ),
        ("empty", json!({ "list": "str" }), json!([]), "<x />"),
        ("empty", json!({ "dict": "str" }), json!({}), "<x></x>"),
        (
            "null",
            object(json!([{ "name": "a", "type": { "optional": "int" } }, { "name": "b", "type": "bool" }])),
            json!({ "a": null, "b": true }),
            "<x><a /><b>true</b></x>",
        ),
        (
            "floats",
            json!({ "list": "float" }),
            json!([1e16, 0.5, -0.0]),
            "<x><item>1e+16</item><item>0.5</item><item>-0.0</item></x>",
        ),
        // Law 6: what would be read as something else is a JSON string.
        (
            "texts",
            json!({ "list": { "optional": "str" } }),
            json!(["", null, "null", "x"]),
            "<x><item>\"\"</item><item /><item>\"null\"</item><item>x</item></x>",
        ),
        ("optional", json!({ "optional": "str" }), json!(""), "<x>\n\"\"\n</x>"),
        ("optional", json!({ "optional": { "list": "int" } }), json!([]), "<x>[]</x>"),
        (
            "any",
            json!({ "list": "any" }),
            json!([1, "1", "a", {}, [], { "item": 1 }]),
            "<x><item>1</item><item>\"1\"</item><item>a</item><item>{}</item><item>[]</item><item><entry key=\"item\">1</entry></item></x>",
        ),
        ("any", json!("any"), json!({ "<": 1 }), "<x>\n{\"&lt;\": 1}\n</x>"),
    ] {
        let spec = output(&ty);
        let value = json!({ "x": value });
        assert_eq!(assistant(&spec, &value), written, "row {row}");
        assert_eq!(read(&spec, written).unwrap(), value, "row {row}");
    }
}

#[test]
fn demos() {
    let spec = line("q -> a, n: int");
    let options = FormatOptions::new()
        .demo(demo(&json!({ "q": "1 < 2?", "a": "yes", "n": 1 })))
        .demo(demo(&json!({ "q": "R&D?", "a": "no" })));
    let messages = Xml::new().messages(&spec, &fields(&json!({ "q": "?" })), &options).unwrap();
    let texts: Vec<_> = messages[1..5].iter().map(|message| message.text()).collect();
    assert_eq!(
        texts,
        [
            "This is an example of the task, though some input or output fields are not supplied.\n\n<q>\nR&D?\n</q>",
            "<a>\nno\n</a>\n\n<n>\nNot supplied for this particular example. \n</n>",
            "<q>\n1 < 2?\n</q>",
            "<a>\nyes\n</a>\n\n<n>\n1\n</n>",
        ]
    );
}

/// Rows 45, 79, 81, 82, 86 and 87, §11: what is read.
#[test]
fn replies() {
    let person = json!({ "object": { "name": "Person", "fields": [
        { "name": "name" }, { "name": "age", "type": "int" },
        { "name": "email", "type": { "optional": "str" }, "default": null },
    ] } });
    let shapes = json!({ "union": [
        { "object": { "name": "Circle", "fields": [{ "name": "radius", "type": "float" }] } },
        { "object": { "name": "Rect", "fields": [{ "name": "w", "type": "int" }, { "name": "h", "type": "int" }] } },
    ] });
    let ada = json!({ "name": "Ada", "age": 36, "email": null });
    for (row, ty, reply, value) in [
        ("79", json!("int"), "<x>42</x>", json!(42)),
        ("79", json!("bool"), "<x>true</x>", json!(true)),
        ("81", person.clone(), "<x><name>Ada</name><age> 36 </age></x>", ada.clone()),
        ("81", person.clone(), "<x>{\"name\": \"Ada\", \"age\": 36}</x>", ada.clone()),
        ("81", json!({ "list": person }), "<x><item><name>Ada</name><age>36</age></item></x>", json!([ada])),
        ("81", json!({ "list": person }), "<x>[{'name': 'Ada', 'age': 36}]</x>", json!([ada])),
        ("81", json!({ "list": person }), "<x><item>{'name': 'Ada', 'age': 36}</item></x>", json!([ada])),
        ("§11 repeated", json!({ "list": "int" }), "<x>1</x> <x>2</x>", json!([1, 2])),
        ("§11 empty", json!({ "list": "int" }), "<x />", json!([])),
        ("§11 empty", json!({ "dict": "int" }), "<x></x>", json!({})),
        (
            "82",
            json!({ "dict": { "list": "int" } }),
            "<x><first>3</first><first>4</first><second>5</second></x>",
            json!({ "first": [3, 4] , "second": [5] }),
        ),
        (
            "§11 untyped",
            json!({ "dict": "any" }),
            "<x><a>1</a><a>2</a><b><c>x</c></b><d><item>1</item></d></x>",
            json!({ "a": [1, 2], "b": { "c": "x" }, "d": [1] }),
        ),
        ("86", shapes.clone(), "<x><w>1</w><h>2</h></x>", json!({ "w": 1, "h": 2 })),
        ("86", shapes, "<x><radius>1</radius></x>", json!({ "radius": 1.0 })),
        ("87", json!({ "code": "elixir" }), "<x>\n```elixir\nIO.puts(:ok)\n```\n</x>", json!("IO.puts(:ok)")),
        (
            "entities",
            json!("str"),
            "<x>&lt;&gt;&amp;&quot;&apos;&#65;&#x1F600; &amp;lt;</x>",
            json!("<>&\"'A😀 &lt;"),
        ),
        ("comments", json!("str"), "<x>Pa<!-- <y> & -->ris</x>", json!("Paris")),
        ("CDATA", json!("str"), "<x><![CDATA[ a < b && c]]></x>", json!("a < b && c")),
        ("line ends", json!("str"), "<x>\r\na\r\nb\rc\n</x>", json!("a\nb\nc")),
        (
            "markup",
            json!("str"),
            "<x>a <b class='k'>c &amp; d</b><br/></x>",
            json!("a <b class='k'>c & d</b><br/>"),
        ),
        ("attributes", json!("int"), "Sure: <x a=\"1\" b = '>'>1</x >.", json!(1)),
        ("other tags", json!("int"), "<think>1 <x>2</x></think><x>3</x>", json!(3)),
    ] {
        match read(&output(&ty), reply) {
            Ok(read) => assert_eq!(read, json!({ "x": value }), "row {row}: {reply}"),
            Err(error) => panic!("row {row}: {reply}\n{error}"),
        }
    }
    // Row 45: defaults and nulls.
    let spec = data(&json!({ "inputs": [], "outputs": [
        { "name": "a" }, { "name": "b", "default": "none" }, { "name": "c", "type": { "optional": "int" } },
        { "name": "d", "type": { "optional": "int" } },
    ] }));
    assert_eq!(read(&spec, "<a>x</a><d/>").unwrap(), json!({ "a": "x", "b": "none", "c": null, "d": null }));
}

/// Rows 80 and 85, §11: what is refused, in the spec's words.
#[test]
#[allow(clippy::too_many_lines, reason = "one table")]
fn refusals() {
    use ParseErrorKind::{InvalidFields, Malformed, MissingFields};
    let nested = |levels: usize| format!("<x>{}1{}</x>", "<y>".repeat(levels - 1), "</y>".repeat(levels - 1));
    let many = |count: usize| format!("<x>1</x>{}", "<y/>".repeat(count - 1));
    let declared = "XML declarations, doctypes, and entities are not allowed";
    let person = json!({ "object": { "name": "Person", "fields": [{ "name": "age", "type": "int" }] } });
    for (row, ty, reply, kind, message) in [
        (
            "80",
            json!("int"),
            "<x>many</x>".to_owned(),
            InvalidFields,
            "Failed to parse XML field x: expected integer, got \"many\"",
        ),
        (
            "80",
            json!("float"),
            "<x>85%</x>".to_owned(),
            InvalidFields,
            "Failed to parse XML field x: expected number, got \"85%\"",
        ),
        (
            "80",
            json!("bool"),
            "<x>maybe</x>".to_owned(),
            InvalidFields,
            "Failed to parse XML field x: expected boolean, got \"maybe\"",
        ),
        (
            "80",
            json!("datetime"),
            "<x>soon</x>".to_owned(),
            InvalidFields,
            "Failed to parse XML field x: expected ISO 8601 datetime, got \"soon\"",
        ),
        (
            "80",
            person.clone(),
            "<x><age>old &amp; wise</age></x>".to_owned(),
            InvalidFields,
            "Failed to parse XML field x.age: expected integer, got \"old & wise\"",
        ),
        (
            "80",
            json!({ "list": "int" }),
            "<x><item>1</item><item></item></x>".to_owned(),
            InvalidFields,
            "Failed to parse XML field x[1]: expected integer, got \"\"",
        ),
        (
            "§8.5",
            json!({ "literal": ["a"] }),
            "<x>b</x>".to_owned(),
            InvalidFields,
            "Validation failed. Retry with corrected output:\n- x: must be one of [\"a\"]",
        ),
        (
            "twice",
            json!("str"),
            "<x>1</x><x>2</x>".to_owned(),
            InvalidFields,
            "Validation failed. Retry with corrected output:\n- x: expected one value, got 2",
        ),
        (
            "twice",
            person,
            "<x><age>1</age></x><x><age>2</age></x>".to_owned(),
            InvalidFields,
            "Validation failed. Retry with corrected output:\n- x: expected one value, got 2",
        ),
        ("85", json!("str"), "<!DOCTYPE l [<!ENTITY a 'x'>]><x>&a;</x>".to_owned(), Malformed, declared),
        ("85", json!("str"), "<x><!ENTITY a 'x'></x>".to_owned(), Malformed, declared),
        ("85", json!("str"), "<?xml version='1.0'?><x>1</x>".to_owned(), Malformed, declared),
        ("85", json!("int"), nested(65), Malformed, "XML response exceeds depth 64 (got 65)"),
        ("85", json!("int"), many(10_001), Malformed, "XML response exceeds 10000 elements"),
        (
            "85",
            json!("str"),
            "<x>1</x>\n</code>".to_owned(),
            Malformed,
            "Failed to parse XML: `</code>` closes a tag that is not open (line 2, column 1)",
        ),
        (
            "§11",
            json!("str"),
            "<x>R&D</x>".to_owned(),
            Malformed,
            "Failed to parse XML: `&` starts no reference that is known here: write `&amp;` (line 1, column 5)",
        ),
        (
            "§11",
            json!("str"),
            "<x>&nbsp;</x>".to_owned(),
            Malformed,
            "Failed to parse XML: `&` starts no reference that is known here: write `&amp;` (line 1, column 4)",
        ),
        (
            "§11",
            json!("str"),
            "<x>3 < 4</x>".to_owned(),
            Malformed,
            "Failed to parse XML: `<` starts no tag: write `&lt;` (line 1, column 6)",
        ),
        (
            "§11",
            json!("str"),
            "<x>1".to_owned(),
            Malformed,
            "Failed to parse XML: `</x>` is missing (line 1, column 5)",
        ),
        (
            "§11",
            json!("str"),
            "<x>1</y>".to_owned(),
            Malformed,
            "Failed to parse XML: `</y>` stands where `</x>` is missing (line 1, column 5)",
        ),
        (
            "§11",
            json!("str"),
            "<x a>1</x>".to_owned(),
            Malformed,
            "Failed to parse XML: an attribute is written `name=\"value\"` (line 1, column 5)",
        ),
        (
            "51",
            json!("str"),
            "Paris it is.".to_owned(),
            MissingFields,
            "The response has none of the requested output fields: x.",
        ),
        (
            "51",
            json!("str"),
            "{\"x\": \"Paris\"}".to_owned(),
            MissingFields,
            "The response has none of the requested output fields: x.",
        ),
        (
            "51",
            json!("str"),
            "[[ ## x ## ]]\nParis".to_owned(),
            MissingFields,
            "The response has none of the requested output fields: x.",
        ),
        (
            "names",
            json!("str"),
            "<X>Paris</X><y><x>Lyon</x></y>".to_owned(),
            MissingFields,
            "The response has none of the requested output fields: x.",
        ),
    ] {
        let error = read(&output(&ty), &reply).unwrap_err();
        assert_eq!(error.to_string(), message, "row {row}");
        assert_eq!(error.kind(), kind, "row {row}");
        assert_eq!((error.adapter(), error.reply()), ("xml", &*reply), "row {row}");
        assert_eq!(error.failures().is_empty(), kind != InvalidFields, "row {row}");
    }
    assert_eq!(read(&output(&json!("int")), &many(10_000)).unwrap(), json!({ "x": 1 }));
    let deep = read(&output(&json!("any")), &nested(64)).unwrap();
    assert_eq!(deep.to_string().matches("\"y\"").count(), 63);
}

/// An error has what was read, and where it failed.
#[test]
fn errors_point_at_the_reply() {
    let spec = line("q -> a, n: int, m: array[int]");
    for (reply, wrong) in [
        ("<a>é&amp;</a><n> many </n><m/>", "many"),
        ("<a>é&amp;</a><n>&lt;1</n><m/>", "&lt;1"),
        ("<a>é&amp;</a><n>1</n><n>2</n><m/>", "1</n><n>2"),
        ("<a>é&amp;</a><n>1</n><m><item>x</item></m>", "<item>x</item>"),
    ] {
        let error = read(&spec, reply).unwrap_err();
        assert_eq!(error.fields().get("a"), Some(&Value::from("é&")), "{reply}");
        let spans: Vec<_> = error.failures().iter().map(|failure| &reply[failure.span.clone()]).collect();
        assert_eq!(spans, [wrong]);
    }
}

/// Rows 57 and 58: a reply that is the text field's text.
#[test]
fn a_text_field() {
    let spec = data(&json!({ "inputs": [], "outputs": [
        { "name": "thought", "type": { "optional": "str" }, "text_field": true },
        { "name": "calls", "type": { "list": "str" }, "default": [] },
    ] }));
    for (row, reply, thought) in [
        ("57", "   \n  ", json!(null)),
        ("58", "R&D is 3 < 4.", json!("R&D is 3 < 4.")),
        ("§8.2", "<thought>hm</thought>", json!("hm")),
        ("§8.2", "  a\n\nb ", json!("a\n\nb")),
    ] {
        assert_eq!(read(&spec, reply).unwrap(), json!({ "thought": thought, "calls": [] }), "row {row}");
    }
    // A marker or a key of an output is not prose.
    assert_eq!(read(&spec, "[[ ## thought ## ]]\nhm").unwrap_err().kind(), ParseErrorKind::MissingFields);
    assert_eq!(read(&spec, "{\"thought\": \"hm\"}").unwrap_err().kind(), ParseErrorKind::MissingFields);
}

#[test]
fn structs() {
    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Team {
        Atlas,
        Harbor,
    }
    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    #[serde(tag = "kind")]
    enum Shape {
        Circle { radius: f64 },
        Point,
    }
    #[derive(Debug, PartialEq, Signature)]
    struct Out {
        team: Team,
        teams: Vec<Team>,
        shapes: Vec<Shape>,
        one: Shape,
        sizes: BTreeMap<u8, (i64, String)>,
        note: Option<String>,
        char: char,
        any: serde_json::Value,
    }
    let out = Out {
        team: Team::Harbor,
        teams: vec![Team::Atlas],
        shapes: vec![Shape::Point, Shape::Circle { radius: 1.0 }],
        one: Shape::Circle { radius: 2.5 },
        sizes: BTreeMap::from([(7, (-1, "a & b".to_owned()))]),
        note: Some(String::new()),
        char: '<',
        any: json!([{ "a": "<b>" }]),
    };
    let spec = <Out as imp::OutputSignature>::output_spec().unwrap();
    let written = Xml::new().assistant_content(spec, &out, Missing::LeaveOut).unwrap();
    assert!(written.contains(
        "<shapes><item><kind>Point</kind></item><item><kind>Circle</kind><radius>1.0</radius></item></shapes>"
    ));
    assert_eq!(Xml::new().parse::<Out>(&written).unwrap(), out);
    assert_eq!(Xml::new().parse::<Out>(Reply::Outputs(out)).unwrap().char, '<');
}

/// A value as it comes back: white space around a text is cut off, line ends in it are `\n`.
fn promised(value: &Value, ty: &Ty) -> Value {
    match (ty, value) {
        (Ty::Optional(inner), value) => promised(value, inner),
        (Ty::Text(_) | Ty::Code, Value::String(text)) => {
            let text = text.replace("\r\n", "\n").replace('\r', "\n");
            text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')).into()
        }
        (Ty::List(ty), Value::List(items)) => {
            items.iter().map(|item| promised(item, ty)).collect::<Vec<_>>().into()
        }
        (Ty::Dict(ty), Value::Map(map)) => {
            map.iter().map(|(key, value)| (key, promised(value, ty))).collect::<imp::Map>().into()
        }
        (Ty::Object(_, properties), Value::Map(map)) => {
            let entry = |(key, value): (&str, &Value)| {
                let property = properties.iter().find(|(name, _)| name == key);
                (key.to_owned(), property.map_or(value.clone(), |(_, ty)| promised(value, ty)))
            };
            map.iter().map(entry).collect::<imp::Map>().into()
        }
        (_, value) => value.clone(),
    }
}

/// Law 6.
#[test]
fn values_come_back() {
    let mut wrong = Vec::new();
    for seed in 0..1500 {
        let mut rng = Rng::new(seed);
        let described = Described::any(&mut rng, Types::All);
        let spec = SignatureSpec::from_json(&described.json).unwrap();
        let values = Described::values(&mut rng, &described.outputs);
        let written = Xml::new().assistant_content(&spec, &values, Missing::LeaveOut).unwrap();
        match Xml::new().read_fields(&spec, &written) {
            Err(error) => wrong.push(format!("seed {seed}: {error}\n{written}")),
            Ok(read) => {
                for (name, ty) in &described.outputs {
                    let wanted = values.get(name).map(|value| sorted(&promised(value, ty)));
                    let got = read.get(name).map(sorted);
                    if got != wanted {
                        wrong.push(format!(
                            "seed {seed}: {name} of {}\n  given {wanted:?}\n  read  {got:?}\n{written}",
                            ty.json()
                        ));
                    }
                }
            }
        }
    }
    let some: Vec<_> = wrong.iter().take(5).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} values did not come back\n{}", wrong.len(), some.join("\n\n"));
}

/// No reply panics, and what is read of a text has the fields that were asked for.
#[test]
fn any_text_is_read_or_refused() {
    let tokens = [
        "<x>",
        "</x>",
        "<item>",
        "</item>",
        "<x/>",
        "<entry key=\"a\">",
        "</entry>",
        "<",
        ">",
        "&",
        "&amp;",
        "&#x41;",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "<?p",
        "?>",
        "\"",
        "'",
        "é",
        "1",
        "[",
        "]",
        "{",
        "null",
        " ",
        "\r",
        "=",
        "a",
        "\u{0}",
        "<!DOCTYPE",
        "/",
    ];
    let mut read = 0;
    for seed in 0..5_000 {
        let mut rng = Rng::new(seed);
        let described = Described::any(&mut rng, Types::All);
        let Some((_, ty)) = described.outputs.first() else { continue };
        let spec = output(&json!({ "type": ty.json() }));
        let mut reply = String::from("<x>");
        for _ in 0..rng.below(12) {
            reply.push_str(rng.pick(&tokens));
            if rng.once_in(8) {
                reply.push_str(&noise(&mut rng));
            }
        }
        reply.push_str("</x>");
        for xml in [Xml::new(), Xml::new().dialect(imp::Dialect::Dspy)] {
            if let Ok(fields) = xml.read_fields(&spec, &reply) {
                assert!(fields.get("x").is_some(), "{reply}");
                read += 1;
            }
        }
    }
    assert!(read > 150, "only {read} were read");
}

#[test]
fn fields_are_public() {
    // An adapter of one's own may write with the parts of this one.
    let spec = line("q -> x");
    let field: &FieldSpec = spec.inputs().next().unwrap();
    let mut out = String::new();
    Xml::new().section(field, &fields(&json!({ "q": "?" })), 0, &mut out).unwrap();
    assert_eq!(out, "<q>\n?\n</q>");
}
