//! spec/imp.md §4: the lists of fields. Rows 14 and 17.
//!
//! An answer shape that is none of the three is impossible here: `AnswerShape` is an enum.

use imp_tests::plain::{data, output, system};
use serde_json::{Value as Json, json};

/// The list of the outputs, from the heading to the next paragraph.
fn list(outputs: &Json) -> String {
    let system = system(&data(&json!({ "inputs": [{ "name": "q" }], "outputs": outputs })));
    let from =
        system.find("Your output fields are:\n").expect("a heading") + "Your output fields are:\n".len();
    let to = system.find("\nAll interactions").expect("the structure");
    system[from..to].to_owned()
}

#[test]
fn entries_and_descriptions() {
    for (outputs, expected) in [
        (json!([{ "name": "a" }]), "1. `a` (string):"),
        (json!([{ "name": "a" }, { "name": "b", "type": "int" }]), "1. `a` (string): \n2. `b` (integer):"),
        (
            json!([{ "name": "a", "desc": "first" }, { "name": "b" }]),
            "1. `a` (string): first\n2. `b` (string):",
        ),
        (
            json!([{ "name": "a" }, { "name": "b", "desc": "last" }]),
            "1. `a` (string): \n2. `b` (string): last",
        ),
        // `${NAME}` counts as none; another name does not.
        (
            json!([{ "name": "a", "desc": "${a}" }, { "name": "b", "desc": "${a}" }]),
            "1. `a` (string): \n2. `b` (string): ${a}",
        ),
        // The group is trimmed, not its entries.
        (
            json!([{ "name": "a", "desc": "x  " }, { "name": "b", "desc": "y  " }]),
            "1. `a` (string): x  \n2. `b` (string): y",
        ),
    ] {
        assert_eq!(list(&outputs), expected, "{outputs}");
    }
}

#[test]
fn row_17_answer_shapes() {
    for (shape, sentence) in [
        ("yes_no", "Must be exactly yes or no."),
        ("numeric_span", "Must be only the numeric answer span, with no words or explanation."),
        (
            "short_span",
            "Must be a concise exact answer span; preserve complete names, titles, locations, dates, and quantities when \
             the task asks for them, and do not add aliases, abbreviations, conversions, or parentheticals unless \
             explicitly requested.",
        ),
    ] {
        let alone = json!([{ "name": "a", "type": shape }]);
        assert_eq!(list(&alone), format!("1. `a` (string): {sentence}"));
        let described = json!([{ "name": "a", "type": shape, "desc": "the answer" }]);
        assert_eq!(list(&described), format!("1. `a` (string): the answer {sentence}"));
        let constraint = json!([{ "name": "a", "constraints": { "answer_shape": shape }, "desc": "${a}" }]);
        assert_eq!(list(&constraint), format!("1. `a` (string): {sentence}"));
    }
}

#[test]
fn row_14_code() {
    let tail = |fence: &str, language: &str| {
        format!(
            "\n    Type description: Code represented in a string, specified in the `code` field. If this is an output \
             field, the code field should follow the markdown code block format, e.g. \n```{fence}\n{{code}}\n```\n\
             Programming language: {language}"
        )
    };
    let code = json!([{ "name": "code", "type": "code", "language": "elixir" }]);
    assert_eq!(list(&code), format!("1. `code` (code in elixir): {}", tail("elixir", "elixir")));
    let code =
        json!([{ "name": "code", "type": "code", "language": "SQL", "desc": "one query" }, { "name": "b" }]);
    assert_eq!(
        list(&code),
        format!("1. `code` (code in SQL): one query{}\n2. `b` (string):", tail("sql", "SQL"))
    );
}

#[test]
fn constraints() {
    for (ty, constraints, expected) in [
        ("int", json!([["gt", 0]]), "greater than: 0"),
        ("int", json!([["ge", 1], ["le", 4]]), "greater than or equal to: 1, less than or equal to: 4"),
        // One order, whatever the order of declaration.
        (
            "float",
            json!([
                ["allow_inf_nan", true],
                ["multiple_of", 0.5],
                ["maximum", 10],
                ["lt", 11.5],
                ["minimum", 1],
                ["gt", 0.25],
            ]),
            "greater than: 0.25, greater than or equal to: 1, less than: 11.5, less than or equal to: 10, a multiple of \
             the given number: 0.5, allow 'inf', '-inf', 'nan' values: true",
        ),
        ("str", json!([["max_length", 9], ["min_length", 2]]), "minimum length: 2, maximum length: 9"),
        ("str", json!([["maxLength", 9]]), "maximum length: 9"),
        // A pattern is not in the line.
        ("str", json!([["pattern", "^a"], ["max_length", 9]]), "maximum length: 9"),
        ("array[string]", json!([["min_length", 1]]), "minimum length: 1"),
    ] {
        let label = match ty {
            "int" => "integer",
            "float" => "number",
            "str" => "string",
            _ => "list of strings",
        };
        let alone = json!([{ "name": "a", "type": ty, "constraints": constraints }]);
        assert_eq!(list(&alone), format!("1. `a` ({label}): \nConstraints: {expected}"));
        let described =
            json!([{ "name": "a", "type": ty, "constraints": constraints, "desc": "d" }, { "name": "b" }]);
        assert_eq!(
            list(&described),
            format!("1. `a` ({label}): d\nConstraints: {expected}\n2. `b` (string):")
        );
    }
    for without in [
        json!({ "type": "enum[a, b]" }),
        json!({ "constraints": { "pattern": "^a" } }),
        json!({ "type": "array[int]" }),
    ] {
        let mut field = without;
        field["type"] = field.get("type").cloned().unwrap_or(json!("str"));
        let system = system(&output(&field));
        assert!(!system.contains("Constraints:"), "{field}\n{system}");
    }
}

/// A decision of `imp`'s own: members with descriptions are listed under the entry.
#[test]
fn described_members() {
    let team = json!({ "schema": { "oneOf": [
        { "const": "atlas", "description": "money" },
        { "const": "harbor", "description": "the platform" },
        { "const": "beacon" },
    ] } });
    assert_eq!(
        list(&json!([{ "name": "team", "type": team, "desc": "who" }, { "name": "b" }])),
        "1. `team` (one of: atlas, harbor, beacon): who\n    - `atlas`: money\n    - `harbor`: the platform\n2. `b` (string):"
    );
}
