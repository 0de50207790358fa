//! spec/imp.md §5: how instructions are cleaned. The expectations are those of Python's `inspect.cleandoc`,
//! `textwrap.dedent` and `str.splitlines`.

use imp::{Adapter as _, Chat};
use imp_tests::plain::{line, system};

const OBJECTIVE: &str = "In adhering to this structure, your objective is: ";

fn objective(raw: &str) -> String {
    let text = Chat::new().task_description(&line("a -> b").with_instructions(raw));
    text.strip_prefix(OBJECTIVE).unwrap_or_else(|| panic!("{text:?}")).to_owned()
}

#[test]
fn instructions_are_dedented_and_indented() {
    for (raw, lines) in [
        ("Answer.", &["Answer."][..]),
        ("  Answer.", &["Answer."]),
        ("Answer.  ", &["Answer.  "]),
        ("One.\nTwo.", &["One.", "Two."]),
        ("One.\n    Two.\n      Three.", &["One.", "Two.", "  Three."]),
        ("\n    One.\n\n    Two.\n", &["One.", "", "Two."]),
        ("\n\n\nOne.\n\n\n", &["One."]),
        ("One.\n    Two.\n  ", &["One.", "Two."]),
        // A line of more blanks than the margin is not dropped at the end; the last line end is no line.
        ("One.\n  Two.\n    \n    ", &["One.", "Two.", ""]),
        ("One.\n \n    Two.", &["One.", "", "Two."]),
        ("One.\n\tTwo.\n\t\tThree.", &["One.", "Two.", "        Three."]),
        ("a\tb", &["a       b"]),
        // The margin is counted in characters of any blank kind.
        ("One.\n\u{a0}\u{a0}Two.\n\u{2003}\u{2003}Three.", &["One.", "Two.", "Three."]),
        ("One.\r\nTwo.\rThree.", &["One.", "Two.", "Three."]),
        (
            "One.\u{b}Two.\u{c}Three.\u{1c}Four.\u{85}Five.\u{2028}Six.\u{2029}Seven.",
            &["One.", "Two.", "Three.", "Four.", "Five.", "Six.", "Seven."],
        ),
        ("Émile\n  ça", &["Émile", "ça"]),
        ("  One.\nTwo.", &["One.", "Two."]),
        ("Use [[ ## b ## ]].", &["Use [[ ## b ## ]]."]),
    ] {
        let expected = lines.iter().flat_map(|line| ["\n        ", line]).collect::<String>();
        assert_eq!(objective(raw), expected, "{raw:?}");
    }
}

#[test]
fn empty_instructions_are_nothing() {
    for raw in ["", "\n", "\n\n\n", "   ", "\n  \n"] {
        assert_eq!(objective(raw), "", "{raw:?}");
        // The trim of the whole takes the blank at the end too (§7.1).
        let system = system(&line("a -> b").with_instructions(raw));
        assert!(system.ends_with("\nIn adhering to this structure, your objective is:"), "{system}");
    }
}

/// §1.1: the sentence that stands for none.
#[test]
fn default_instructions() {
    for (signature, sentence) in [
        ("a, b -> c", "Given the fields `a`, `b`, produce the fields `c`."),
        ("a -> c: int, d", "Given the fields `a`, produce the fields `c`, `d`."),
    ] {
        let spec = line(signature);
        assert_eq!(spec.instructions(), sentence);
        assert!(system(&spec).ends_with(&format!("{OBJECTIVE}\n        {sentence}")));
    }
    let none = imp_tests::plain::data(&serde_json::json!({ "inputs": [], "outputs": [{ "name": "c" }] }));
    assert_eq!(none.instructions(), "Given the fields , produce the fields `c`.");
}
