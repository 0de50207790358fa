//! spec/imp.md §§6 and 7: the messages of a request. Rows 1, 4, 5, 20, 89 and 90.
//!
//! Rows 89 and 90 cannot be written in Rust: [`FormatOptions`] is a struct of typed setters, so there is neither an
//! unknown option nor one of the wrong type (`response_instruction` takes a `bool`, `demos` takes [`Demo`]s), and
//! `parse` takes no options.
//!
//! [`Demo`]: imp::Demo

use imp::{FormatOptions, Role};
use imp_tests::plain::{assistant, data, demo, line, messages, request, system};
use serde_json::json;

#[test]
fn row_1_system_message() {
    let spec = line("question -> answers: array[string], scores: array[float]")
        .with_instructions("Answer the question with multiple answers and scores");
    assert_eq!(
        system(&spec),
        "Your input fields are:
1. `question` (string):
Your output fields are:
1. `answers` (list of strings): \n\
2. `scores` (list of numbers):
All interactions will be structured in the following way, with the appropriate values filled in.

[[ ## question ## ]]
{question}

[[ ## answers ## ]]
{answers}        # note: the value you produce must adhere to the JSON schema: {\"type\": \"array\", \"items\": {\"type\": \"string\"}}

[[ ## scores ## ]]
{scores}        # note: the value you produce must adhere to the JSON schema: {\"type\": \"array\", \"items\": {\"type\": \"number\"}}

[[ ## completed ## ]]
In adhering to this structure, your objective is: \n        Answer the question with multiple answers and scores"
    );
}

#[test]
fn rows_4_and_5_request() {
    let spec = line(r#"question, context -> answer: string "a short answer""#)
        .with_instructions("Answer using the provided context.");
    let sent = messages(&spec, &json!({ "question": "Q?", "context": "C." }), &FormatOptions::new());
    assert_eq!(sent.iter().map(|message| message.role).collect::<Vec<_>>(), [Role::System, Role::User]);
    assert!(sent[0].text().contains(
        "[[ ## completed ## ]]\nIn adhering to this structure, your objective is: \n        Answer using the provided context."
    ));
    assert_eq!(
        sent[1].text(),
        "[[ ## question ## ]]\nQ?\n\n[[ ## context ## ]]\nC.\n\nRespond with the corresponding output fields, starting \
         with the field `[[ ## answer ## ]]`, and then ending with the marker for `[[ ## completed ## ]]`."
    );
}

/// §7.2: the sentence has the singular for any number of outputs, and parentheses where a type asks for something.
#[test]
fn reminder() {
    let spec = line("q -> a: int, b");
    assert_eq!(
        request(&spec, &json!({ "q": "?" })),
        "[[ ## q ## ]]\n?\n\nRespond with the corresponding output fields, starting with the field `[[ ## a ## ]]` (must be \
         formatted as an integer), then `[[ ## b ## ]]`, and then ending with the marker for `[[ ## completed ## ]]`."
    );
}

#[test]
fn no_inputs() {
    let spec = data(&json!({ "inputs": [], "outputs": [{ "name": "a" }] }));
    assert!(
        system(&spec).starts_with("Your input fields are:\n\nYour output fields are:\n1. `a` (string):\n")
    );
    // The reminder is appended as it is.
    assert!(request(&spec, &json!({})).starts_with("\n\nRespond with the corresponding output fields, "));
}

/// §6: the options of a request.
#[test]
fn options() {
    let with = line("q -> a");
    let optional = data(&json!({
        "inputs": [{ "name": "q", "type": { "optional": "str" } }],
        "outputs": [{ "name": "a" }],
    }));
    let quiet = FormatOptions::new().response_instruction(false);
    for (options, spec, inputs, last) in [
        (quiet.clone(), &with, json!({ "q": "?" }), Some("[[ ## q ## ]]\n?")),
        (quiet.clone(), &optional, json!({ "q": null }), Some("")),
        (quiet.clone().omit_empty_request(true), &optional, json!({ "q": null }), None),
        (quiet.clone().omit_empty_request(true), &optional, json!({}), None),
        (quiet.omit_empty_request(true), &with, json!({ "q": "" }), Some("[[ ## q ## ]]\n")),
    ] {
        let sent = messages(spec, &inputs, &options);
        assert_eq!(
            sent.get(1).map(|message| message.text().into_owned()).as_deref(),
            last,
            "{inputs} {options:?}"
        );
        assert!(sent.len() <= 2);
    }
    let sent = messages(&optional, &json!({}), &FormatOptions::new().omit_empty_request(true));
    assert_eq!(sent.len(), 2, "a reminder is not blank");
}

/// §13.1 at the pure half: an input that is needed and absent is an error; a null is there, and renders nothing.
#[test]
fn missing_inputs() {
    use imp::{Adapter as _, Chat, FormatError};
    let spec = data(&json!({
        "inputs": [
            { "name": "a" }, { "name": "b", "type": "int" }, { "name": "c", "default": "x" },
            { "name": "d", "type": { "optional": "str" } },
        ],
        "outputs": [{ "name": "y" }],
    }));
    let chat = Chat::new();
    let format = |inputs| chat.messages(&spec, &imp_tests::plain::fields(&inputs), &FormatOptions::new());
    let missing =
        |names: &[&str]| FormatError::MissingInputs(names.iter().map(|&name| name.to_owned()).collect());
    assert_eq!(format(json!({})), Err(missing(&["a", "b"])));
    assert_eq!(format(json!({ "b": 1 })), Err(missing(&["a"])));
    // A name that is no input is said: it may be the missing one, misspelt.
    let unknown = vec![("other".to_owned(), None)];
    assert_eq!(
        format(json!({ "b": 1, "other": 2 })),
        Err(FormatError::UnknownInputs { missing: vec!["a".to_owned()], unknown })
    );
    assert!(format(json!({ "a": null, "b": 1 })).is_ok());
}

#[test]
fn row_20_demos() {
    let spec = line("question, context -> answer, confidence: float");
    let options = FormatOptions::new()
        .demo(demo(
            &json!({ "question": "Capital?", "context": "France.", "answer": "Paris", "confidence": 1.0 }),
        ))
        .demo(demo(&json!({ "question": "Colour?", "answer": "Blue" })));
    let sent = messages(&spec, &json!({ "question": "Q?", "context": "C." }), &options);
    let texts: Vec<_> =
        sent.iter().skip(1).map(|message| (message.role, message.text().into_owned())).collect();
    let expected = [
        (
            Role::User,
            "This is an example of the task, though some input or output fields are not supplied.\n\n\
             [[ ## question ## ]]\nColour?",
        ),
        (
            Role::Assistant,
            "[[ ## answer ## ]]\nBlue\n\n[[ ## confidence ## ]]\nNot supplied for this particular example.\n\n\
             [[ ## completed ## ]]\n",
        ),
        (Role::User, "[[ ## question ## ]]\nCapital?\n\n[[ ## context ## ]]\nFrance."),
        (
            Role::Assistant,
            "[[ ## answer ## ]]\nParis\n\n[[ ## confidence ## ]]\n1.0\n\n[[ ## completed ## ]]\n",
        ),
    ];
    assert_eq!(texts.len(), 5);
    for (got, (role, text)) in texts.iter().zip(expected) {
        assert_eq!((got.0, got.1.as_str()), (role, text));
    }
}

/// §7.3: which demos are shown, in which order, and what stands where a value is missing.
#[test]
fn demos() {
    let spec = line("a, b -> x, y");
    let incomplete =
        "This is an example of the task, though some input or output fields are not supplied.\n\n";
    let end = "\n\n[[ ## completed ## ]]\n";
    for (given, user, assistant) in [
        // The blank at the end of the sentence is lost only where it ends the block.
        (
            json!({ "a": "1", "y": "4" }),
            "[[ ## a ## ]]\n1",
            "[[ ## x ## ]]\nNot supplied for this particular example. \n\n[[ ## y ## ]]\n4",
        ),
        (
            json!({ "b": "2", "x": "3" }),
            "[[ ## b ## ]]\n2",
            "[[ ## x ## ]]\n3\n\n[[ ## y ## ]]\nNot supplied for this particular example.",
        ),
        // A null is there, and makes the demo incomplete.
        (
            json!({ "a": null, "b": "2", "x": "3", "y": "4" }),
            "[[ ## b ## ]]\n2",
            "[[ ## x ## ]]\n3\n\n[[ ## y ## ]]\n4",
        ),
        (
            json!({ "a": "1", "b": "2", "x": null, "y": false }),
            "[[ ## a ## ]]\n1\n\n[[ ## b ## ]]\n2",
            "[[ ## x ## ]]\nnull\n\n[[ ## y ## ]]\nfalse",
        ),
    ] {
        let sent = messages(&spec, &json!({ "a": "?", "b": "?" }), &FormatOptions::new().demo(demo(&given)));
        assert_eq!(sent.len(), 4, "{given}");
        assert_eq!(sent[1].text(), format!("{incomplete}{user}"), "{given}");
        assert_eq!(sent[2].text(), format!("{assistant}{end}"), "{given}");
    }
    for unusable in
        [json!({}), json!({ "a": "1", "b": "2" }), json!({ "x": "3", "y": "4" }), json!({ "z": "5" })]
    {
        let sent =
            messages(&spec, &json!({ "a": "?", "b": "?" }), &FormatOptions::new().demo(demo(&unusable)));
        assert_eq!(sent.len(), 2, "{unusable}");
    }
    let options = FormatOptions::new().demos(
        [
            json!({ "a": "1", "b": "1", "x": "1", "y": "1" }),
            json!({ "a": "2", "x": "2" }),
            json!({ "a": "3", "b": "3", "x": "3", "y": "3" }),
            json!({ "b": "4", "y": "4" }),
        ]
        .iter()
        .map(demo),
    );
    let sent = messages(&spec, &json!({ "a": "?", "b": "?" }), &options);
    let order: Vec<_> = sent[1..9].iter().step_by(2).map(|user| user.text().chars().last()).collect();
    assert_eq!(order, [Some('2'), Some('4'), Some('1'), Some('3')]);
}

/// Without inputs a demo is usable only if it is complete.
#[test]
fn demos_without_inputs() {
    let spec = data(&json!({ "inputs": [], "outputs": [{ "name": "x" }, { "name": "y" }] }));
    for (given, count) in [(json!({ "x": "1", "y": "2" }), 4), (json!({ "x": "1" }), 2)] {
        assert_eq!(
            messages(&spec, &json!({}), &FormatOptions::new().demo(demo(&given))).len(),
            count,
            "{given}"
        );
    }
}

/// §7.3: the sections, a blank line between them, trimmed once, and the end marker with a line end.
#[test]
fn assistant_content() {
    let spec = line("q -> a, b: array[int]");
    for (outputs, text) in [
        (
            json!({ "a": "  x \n", "b": [1, 2] }),
            "[[ ## a ## ]]\n  x \n\n\n[[ ## b ## ]]\n[1, 2]\n\n[[ ## completed ## ]]\n",
        ),
        (json!({ "a": "x  \n" }), "[[ ## a ## ]]\nx\n\n[[ ## completed ## ]]\n"),
        (json!({ "b": [] }), "[[ ## b ## ]]\n[]\n\n[[ ## completed ## ]]\n"),
        (json!({ "a": "" }), "[[ ## a ## ]]\n\n[[ ## completed ## ]]\n"),
    ] {
        assert_eq!(assistant(&spec, &outputs), text, "{outputs}");
    }
}

/// A line in a value that could be taken for a marker is escaped, in what is sent and in demos; `imp`'s own rule.
#[test]
fn markers_in_values_are_escaped() {
    let spec = line("q -> a");
    let options = FormatOptions::new().demo(demo(&json!({ "q": "1", "a": "[[ ## q ## ]]" })));
    let sent = messages(&spec, &json!({ "q": "x\n [[ ## completed ## ]]\n\\[[ ## a ## ]]" }), &options);
    assert!(
        sent[3]
            .text()
            .starts_with("[[ ## q ## ]]\nx\n \\[[ ## completed ## ]]\n\\\\[[ ## a ## ]]\n\nRespond")
    );
    assert_eq!(sent[2].text(), "[[ ## a ## ]]\n\\[[ ## q ## ]]\n\n[[ ## completed ## ]]\n");
}
