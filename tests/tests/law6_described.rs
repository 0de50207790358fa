//! Law 6: what goes in comes out. Reading a rendered assistant's turn gives its values back, whatever they hold, and a
//! text from outside opens no section.

use imp::{Adapter as _, Chat, Dialect, Fields, FormatOptions, Map, Missing, SignatureSpec, Value};
use imp_tests::generate::{Described, Rng, Ty, Types, sorted};

/// White space as `str.strip` of Python knows it.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// A value as the law promises it back: a text without the white space around it and with `\n` for every line end.
fn promised(value: &Value, ty: &Ty, dialect: Dialect) -> Value {
    match value {
        Value::String(text) if ty.is_text() => {
            let mut text = text.replace("\r\n", "\n").replace('\r', "\n");
            if dialect == Dialect::Dspy {
                // Python's `splitlines`, which DSPy cuts a reply with, knows more line ends.
                text = text.replace(
                    ['\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'],
                    "\n",
                );
            }
            text.trim_matches(is_blank).into()
        }
        // DSPy writes `Z` and reads `+00:00`.
        value if dialect == Dialect::Dspy => utc(&sorted(value)),
        value => sorted(value),
    }
}

/// The value with one spelling for UTC.
fn utc(value: &Value) -> Value {
    match value {
        Value::String(text) => text.replace("+00:00", "Z").into(),
        Value::List(items) => items.iter().map(utc).collect::<Vec<_>>().into(),
        Value::Map(map) => map.iter().map(|(key, value)| (key, utc(value))).collect::<Map>().into(),
        value => value.clone(),
    }
}

/// Whether JSON of the value has a character that Python's `splitlines` takes for a line end: JSON leaves them as they
/// are, and so they change or open a section in DSPy's dialect, as they do in DSPy.
fn splits(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(['\u{85}', '\u{2028}', '\u{2029}']),
        Value::List(items) => items.iter().any(splits),
        Value::Map(map) => map.iter().any(|(key, value)| splits(&key.into()) || splits(value)),
        _ => false,
    }
}

fn round_trip(chat: &Chat, dialect: Dialect, types: Types, seeds: std::ops::Range<u64>) {
    let mut wrong = Vec::new();
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let described = Described::any(&mut rng, types);
        let spec =
            SignatureSpec::from_json(&described.json).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let values = Described::values(&mut rng, &described.outputs);
        let cut = |value: &Value| dialect == Dialect::Dspy && splits(value);
        if described.outputs.iter().any(|(name, ty)| !ty.is_text() && values.get(name).is_some_and(cut)) {
            continue;
        }
        let written = chat.assistant_content(&spec, &values, Missing::LeaveOut).unwrap();
        let read = match chat.read_fields(&spec, &written) {
            Ok(read) => read,
            Err(error) => {
                wrong.push(format!("seed {seed}: {error}\n{}\n--- written\n{written}", described.json));
                continue;
            }
        };
        for (name, ty) in &described.outputs {
            let (got, promised) = (
                read.get(name).map(|value| promised(value, ty, dialect)),
                values.get(name).map(|value| promised(value, ty, dialect)),
            );
            if got != promised {
                let ty = ty.json();
                wrong.push(format!(
                    "seed {seed}: {name} of {ty}\n  given {promised:?}\n  read  {got:?}\n--- written\n{written}"
                ));
            }
        }
    }
    let some: Vec<_> = wrong.iter().take(5).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} values did not come back\n{}", wrong.len(), some.join("\n\n"));
}

#[test]
fn plain_values_come_back() {
    round_trip(&Chat::new(), Dialect::Plain, Types::All, 0..1500);
}

/// DSPy's prompts quote nothing; with the switch for markers, everything that needs no quotes comes back.
#[test]
fn dspy_values_come_back() {
    let chat = Chat::new().dialect(Dialect::Dspy).escape_markers(true);
    round_trip(&chat, Dialect::Dspy, Types::Unquoted, 0..1500);
}

/// The names of the lines that any reader could take for a marker: at the start of a line, after anything that does not
/// show. With `any_break` a line is what Python takes for one; JSON leaves those characters as they are (§2).
fn markers(text: &str, any_break: bool) -> Vec<&str> {
    let rare = ['\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'];
    text.split(|c| matches!(c, '\n' | '\r') || (any_break && rare.contains(&c)))
        .filter_map(|line| {
            let line =
                line.trim_start_matches(|c| is_blank(c) || matches!(c, '\u{200b}' | '\u{2060}' | '\u{feff}'));
            let name = line
                .strip_prefix("[[")?
                .trim_start_matches(is_blank)
                .strip_prefix("##")?
                .trim_start_matches(is_blank);
            Some(&name[..name.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(name.len())])
        })
        .collect()
}

/// Whatever the values hold, the marker lines of a request and of an answer are those of the signature.
#[test]
fn no_value_opens_a_section() {
    let chat = Chat::new();
    let mut escaped = 0;
    for seed in 0..1500 {
        let mut rng = Rng::new(seed);
        let described = Described::any(&mut rng, Types::All);
        let spec = SignatureSpec::from_json(&described.json).unwrap();
        let side = |side: &[(String, Ty)], values: &Fields| -> Vec<String> {
            let shown = |name: &&(String, Ty)| values.get(&name.0).is_some_and(|value| !value.is_null());
            side.iter().filter(shown).map(|(name, _)| name.clone()).collect()
        };
        let inputs = Described::values(&mut rng, &described.inputs);
        let sent = chat.messages(&spec, &inputs, &FormatOptions::new()).unwrap();
        let request = sent[1].text();
        let bare = |side: &[(String, Ty)]| side.iter().all(|(_, ty)| ty.is_text());
        let found = markers(&request, bare(&described.inputs));
        assert_eq!(found, side(&described.inputs, &inputs), "seed {seed}\n{request}");

        let outputs = Described::values(&mut rng, &described.outputs);
        let answer = chat.assistant_content(&spec, &outputs, Missing::LeaveOut).unwrap();
        let mut names: Vec<String> = described.outputs.iter().map(|(name, _)| name.clone()).collect();
        names.push("completed".to_owned());
        assert_eq!(markers(&answer, bare(&described.outputs)), names, "seed {seed}\n{answer}");
        escaped += usize::from(answer.contains("\\[[") || request.contains("\\[["));
    }
    assert!(escaped > 200, "only {escaped} messages had anything to escape");
}

/// The descriptions of a generated signature survive its serialisation: the same prompts come out.
#[test]
fn a_signature_survives_serialisation() {
    for seed in 0..1000 {
        let mut rng = Rng::new(seed);
        let described = Described::any(&mut rng, Types::All);
        let spec = SignatureSpec::from_json(&described.json).unwrap();
        let json = serde_json::to_string(&spec).unwrap();
        let again: SignatureSpec =
            serde_json::from_str(&json).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{json}"));
        for dialect in [Dialect::Plain, Dialect::Dspy] {
            let chat = Chat::new().dialect(dialect);
            assert_eq!(chat.system(&spec), chat.system(&again), "seed {seed}\n{json}");
            assert_eq!(
                chat.output_requirements(&spec),
                chat.output_requirements(&again),
                "seed {seed}\n{json}"
            );
        }
    }
}
