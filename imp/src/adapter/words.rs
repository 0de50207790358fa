//! What prompts call a type: the one table of words, for each dialect.
//!
//! Plain: §3. DSPy: `get_annotation_name` and `translate_field_type` of DSPy 3.4.0, with `Union[…]`
//! for every union.

use std::collections::BTreeSet;

use crate::adapter::schema_text::{python_float, schema_text, write_json};
use crate::dialect::Dialect;
use crate::spec::FieldSpec;
use crate::types::{Choice, Kind, PartKind, Type, TypeTree};
use crate::value::Value;

/// What prompts say of a type.
struct Words {
    /// In field lists: `1. `plan` (LABEL): …`.
    label: String,
    /// Behind `must be formatted as `.
    requirement: Option<String>,
    /// Behind `the value you produce `.
    note: Note,
    /// Behind `list of `; only the plain dialect has plurals.
    plural: String,
}

enum Note {
    None,
    Text(String),
    /// `must adhere to the JSON schema: ` and the schema.
    Schema,
}

impl Dialect {
    /// The type's name in field lists.
    pub(crate) fn label(self, tree: &TypeTree) -> String {
        self.words(tree).label
    }

    /// What a value must be formatted as, if the reminder says so.
    pub(crate) fn requirement(self, tree: &TypeTree) -> Option<String> {
        self.words(tree).requirement
    }

    /// What stands in the reminder's parenthesis behind a field: the requirement, in a sentence.
    pub(crate) fn reminder(self, tree: &TypeTree) -> Option<String> {
        if self == Dialect::Dspy && matches!(tree.root.kind, Kind::ToolCalls) {
            let example = r#"must be a JSON object like {"tool_calls": [{"name": "...", "args": {...}}]}"#;
            return Some(example.to_owned());
        }
        self.requirement(tree).map(|requirement| format!("must be formatted as {requirement}"))
    }

    /// What the value that the model produces must be, if the template says so: the text behind
    /// `the value you produce `. For outputs only.
    pub(crate) fn note(self, field: &FieldSpec) -> Option<String> {
        match self.words(&field.tree).note {
            Note::None => None,
            Note::Text(text) => Some(text),
            Note::Schema => {
                Some(format!("must adhere to the JSON schema: {}", schema_text(&field.tree, self)))
            }
        }
    }

    fn words(self, tree: &TypeTree) -> Words {
        match self {
            Dialect::Plain => plain(tree, &tree.root, &mut Vec::new()),
            Dialect::Dspy => dspy(tree),
        }
    }
}

/// The plain words of a type; of an `Option<T>`, those of `T`. `open` has the named types around it: one that
/// contains itself is a value there.
fn plain(tree: &TypeTree, ty: &Type, open: &mut Vec<usize>) -> Words {
    if let Kind::Ref(at) = ty.kind {
        if open.contains(&at) {
            return value_words();
        }
        open.push(at);
        let words = plain(tree, tree.resolve(ty), open);
        open.pop();
        return words;
    }
    let words = |label: &str, requirement: &str, note: Note, plural: &str| Words {
        label: label.to_owned(),
        requirement: Some(requirement.to_owned()),
        note,
        plural: plural.to_owned(),
    };
    let text = |note: &str| Note::Text(note.to_owned());
    let integer = || words("integer", "an integer", text("must be a single integer"), "integers");
    let number = || words("number", "a number", text("must be a single number"), "numbers");
    let boolean =
        || words("true or false", "true or false", text("must be true or false"), "true-or-false values");
    let atom = |name: &str| words(name, name, Note::None, name);
    match &ty.kind {
        Kind::String | Kind::Reasoning => {
            Words { requirement: None, ..words("string", "", Note::None, "strings") }
        }
        Kind::Integer => integer(),
        Kind::Number => number(),
        Kind::Boolean => boolean(),
        Kind::DateTime => words(
            "ISO 8601 date and time",
            "an ISO 8601 date and time",
            Note::None,
            "ISO 8601 dates and times",
        ),
        Kind::Date => words("ISO 8601 date", "an ISO 8601 date", Note::None, "ISO 8601 dates"),
        // §3: only a string has the words of an enum; an integer that has members is an integer.
        Kind::Choice(choice) => match ty.schema.get("type").and_then(|word| word.as_str()) {
            // A named enum is more than its values' type.
            _ if choice.name.is_some() => one_of(choice),
            Some("integer") => integer(),
            Some("number") => number(),
            Some("boolean") => boolean(),
            _ => one_of(choice),
        },
        Kind::Object(_) | Kind::Map { text_keys: true, .. } => {
            words("object", "an object", Note::Schema, "objects")
        }
        Kind::List { items: None, unique: false } => words("list", "a list", Note::Schema, "lists"),
        Kind::List { items: Some(items), unique: false } => {
            let items = plain(tree, items, open).plural;
            words(
                &format!("list of {items}"),
                &format!("a list of {items}"),
                Note::Schema,
                &format!("lists of {items}"),
            )
        }
        Kind::Union { branches, tagged: false } => {
            let present: Vec<&Type> =
                branches.iter().filter(|branch| !matches!(branch.kind, Kind::Null)).collect();
            match present.as_slice() {
                [] => atom("null"),
                [only] => plain(tree, only, open),
                several => {
                    let several: Vec<Words> = several.iter().map(|branch| plain(tree, branch, open)).collect();
                    let join = |part: fn(&Words) -> &str| {
                        let mut parts: Vec<&str> = Vec::new();
                        for words in &several {
                            // `u8` and `u16` are one to the model.
                            if !parts.contains(&part(words)) {
                                parts.push(part(words));
                            }
                        }
                        parts.join(" or ")
                    };
                    Words {
                        label: join(|words| &words.label),
                        requirement: Some(join(|words| words.requirement.as_deref().unwrap_or("a string"))),
                        note: Note::None,
                        plural: join(|words| &words.plural),
                    }
                }
            }
        }
        Kind::Code { language } => atom(&format!("code in {language}")),
        Kind::Part(PartKind::Image) => words("image", "an image", Note::None, "images"),
        Kind::Part(PartKind::Audio) => words("audio", "an audio", Note::None, "audios"),
        Kind::Part(PartKind::File) => words("file", "a file", Note::None, "files"),
        Kind::Null => atom("null"),
        Kind::History => atom("history"),
        Kind::ToolCalls => atom("tool_calls"),
        Kind::Any
        | Kind::Opaque
        | Kind::Tuple(_)
        | Kind::List { unique: true, .. }
        | Kind::Map { text_keys: false, .. }
        | Kind::Union { tagged: true, .. }
        // Told above.
        | Kind::Ref(_) => value_words(),
    }
}

fn value_words() -> Words {
    Words {
        label: "value".to_owned(),
        requirement: Some("a value".to_owned()),
        note: Note::Schema,
        plural: "values".to_owned(),
    }
}

fn one_of(choice: &Choice) -> Words {
    let label = format!("one of: {}", plain_members(choice, ", "));
    Words {
        requirement: Some(label.clone()),
        plural: format!("values, each {label}"),
        note: Note::Text(format!(
            "must exactly match (no extra characters) one of: {}",
            plain_members(choice, "; ")
        )),
        label,
    }
}

fn plain_members(choice: &Choice, separator: &str) -> String {
    choice.members.iter().map(|member| plain_member(&member.value)).collect::<Vec<_>>().join(separator)
}

/// A member as the plain words spell it: bare, unless it could be read as several or as none.
pub(crate) fn plain_member(value: &Value) -> String {
    match value {
        Value::String(text)
            if !text.is_empty() && text.trim().len() == text.len() && !text.contains([',', ';']) =>
        {
            text.clone()
        }
        value => {
            let mut text = String::new();
            write_json(&mut text, value);
            text
        }
    }
}

/// DSPy's words of the field's type; it has none for the parts.
fn dspy(tree: &TypeTree) -> Words {
    let label = python_name(tree, &tree.root);
    let ty = tree.resolve(&tree.root);
    let note = match &ty.kind {
        Kind::String | Kind::Reasoning | Kind::Code { .. } => Note::None,
        Kind::Boolean => Note::Text("must be True or False".to_owned()),
        Kind::Integer | Kind::Number => Note::Text(format!("must be a single {label} value")),
        Kind::Choice(choice) => {
            let members: Vec<_> = choice.members.iter().map(|member| python_str(&member.value)).collect();
            let how = if choice.name.is_some() { "be" } else { "exactly match (no extra characters)" };
            Note::Text(format!("must {how} one of: {}", members.join("; ")))
        }
        _ => Note::Schema,
    };
    let requirement = match ty.kind {
        Kind::String => None,
        _ => Some(format!("a valid Python {label}")),
    };
    Words { label, requirement, note, plural: String::new() }
}

/// The type as Python writes it.
pub(crate) fn python_name(tree: &TypeTree, ty: &Type) -> String {
    let inner =
        |ty: &Option<Box<Type>>| ty.as_ref().map_or_else(|| "Any".to_owned(), |ty| python_name(tree, ty));
    let all = |types: &[Type]| types.iter().map(|ty| python_name(tree, ty)).collect::<Vec<_>>();
    let titled = || ty.schema.get("title").and_then(|title| title.as_str()).map(str::to_owned);
    match &ty.kind {
        Kind::Any => "Any".to_owned(),
        Kind::Null => "NoneType".to_owned(),
        Kind::String if ty.is_tool() => "Tool".to_owned(),
        Kind::String | Kind::Reasoning => "str".to_owned(),
        Kind::Integer => "int".to_owned(),
        Kind::Number => "float".to_owned(),
        Kind::Boolean => "bool".to_owned(),
        Kind::DateTime => "datetime".to_owned(),
        Kind::Date => "date".to_owned(),
        Kind::Choice(Choice { name: Some(name), .. }) => name.clone(),
        Kind::Choice(choice) => {
            let members: Vec<_> = choice.members.iter().map(|member| python_literal(&member.value)).collect();
            format!("Literal[{}]", members.join(", "))
        }
        Kind::List { items, unique } => {
            format!("{}[{}]", if *unique { "set" } else { "list" }, inner(items))
        }
        Kind::Tuple(items) => format!("tuple[{}]", all(items).join(", ")),
        Kind::Map { values, text_keys, .. } => {
            format!("dict[{}, {}]", if *text_keys { "str" } else { "int" }, inner(values))
        }
        Kind::Object(object) => object.name.clone(),
        Kind::Union { branches, tagged } => titled().filter(|_| *tagged).unwrap_or_else(|| {
            let mut names = all(branches);
            // Two Rust types can be one to Python: `u8` and `u16`.
            let mut seen = BTreeSet::new();
            names.retain(|name| seen.insert(name.clone()));
            match names.as_slice() {
                [only] => only.clone(),
                names => format!("Union[{}]", names.join(", ")),
            }
        }),
        Kind::Ref(at) => match tree.defs.get(*at) {
            Some((name, ty)) => match &ty.kind {
                Kind::Object(object) => object.name.clone(),
                Kind::Choice(Choice { name: Some(name), .. }) => name.clone(),
                _ => name.clone(),
            },
            None => "Any".to_owned(),
        },
        Kind::Code { language } if language == "python" => "Code".to_owned(),
        Kind::Code { language } => format!("Code_{language}"),
        Kind::Part(PartKind::Image) => "Image".to_owned(),
        Kind::Part(PartKind::Audio) => "Audio".to_owned(),
        Kind::Part(PartKind::File) => "File".to_owned(),
        Kind::History => "History".to_owned(),
        Kind::ToolCalls => "ToolCalls".to_owned(),
        Kind::Opaque => titled().unwrap_or_else(|| "Any".to_owned()),
    }
}

/// A value as Python's `str` writes it.
pub(crate) fn python_str(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(value) => if *value { "True" } else { "False" }.to_owned(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => python_float(*value),
        Value::String(text) => text.clone(),
        Value::List(_) | Value::Map(_) | Value::Part(_) => {
            let mut text = String::new();
            write_json(&mut text, value);
            text
        }
    }
}

/// A member of a `Literal[…]`: DSPy chooses the quotes by the content and escapes almost nothing.
fn python_literal(value: &Value) -> String {
    let Value::String(text) = value else { return python_str(value) };
    match (text.contains('\''), text.contains('"')) {
        (true, false) => format!("\"{text}\""),
        (true, true) => format!("'{}'", text.replace('\'', "\\'")),
        (false, _) => format!("'{text}'"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::adapter::record::OutputType;
    use crate::spec::SignatureSpec;

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Team {
        /// money
        Atlas,
        Harbor,
        #[serde(rename = "it's")]
        Third,
    }

    /// A line of an invoice.
    #[derive(Serialize, Deserialize, JsonSchema)]
    struct LineItem {
        /// Stock keeping unit
        sku: String,
        #[schemars(range(min = 1))]
        quantity: u32,
        unit_price: f64,
        #[serde(default)]
        notes: Option<String>,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Invoice {
        r#type: String,
        items: Vec<LineItem>,
        /// What came first
        #[serde(default)]
        best: Option<LineItem>,
        owner: Team,
        #[schemars(length(min = 1, max = 9), regex(pattern = "^[A-Z]"))]
        code: String,
        extra: BTreeMap<String, Json>,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(untagged)]
    enum Amount {
        Count(i64),
        Line(LineItem),
        Text(String),
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(tag = "kind")]
    enum Shape {
        Circle { radius: f64 },
        Point,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Tree(Vec<Tree>);

    fn of<T: OutputType>() -> FieldSpec {
        FieldSpec::new("v", T::schema(), Vec::new(), None).unwrap()
    }

    fn described(ty: &Json) -> FieldSpec {
        let spec = SignatureSpec::from_json(&json!({ "outputs": [{ "name": "v", "type": ty }] })).unwrap();
        FieldSpec::clone(&spec.outputs[0])
    }

    #[test]
    fn a_rust_type_has_the_words_of_its_description() {
        let line = json!({"object": {"name": "LineItem", "doc": "A line of an invoice.", "fields": [
            {"name": "sku", "type": "str", "desc": "Stock keeping unit"},
            {"name": "quantity", "type": "int", "constraints": [["ge", 1]]},
            {"name": "unit_price", "type": "float"},
            {"name": "notes", "type": {"optional": "str"}, "default": null},
        ]}});
        let team = json!({"literal": ["atlas", "harbor", "it's"]});
        for (rust, ty) in [
            (of::<String>(), json!("str")),
            (of::<u8>(), json!("int")),
            (of::<i128>(), json!("int")),
            (of::<f32>(), json!("float")),
            (of::<bool>(), json!("bool")),
            (of::<Json>(), json!("any")),
            (of::<Option<i8>>(), json!({"optional": "int"})),
            (of::<Option<Option<bool>>>(), json!({"optional": "bool"})),
            (of::<Vec<Option<f64>>>(), json!({"list": {"optional": "float"}})),
            (of::<Vec<Json>>(), json!({"list": "any"})),
            (of::<BTreeMap<String, Vec<u64>>>(), json!({"dict": {"list": "int"}})),
            (of::<Team>(), team.clone()),
            (of::<Option<Team>>(), json!({"optional": team})),
            (of::<Vec<Team>>(), json!({"list": team})),
            (of::<LineItem>(), line.clone()),
            (of::<Option<LineItem>>(), json!({"optional": line})),
            (of::<BTreeMap<String, LineItem>>(), json!({"dict": line})),
            (of::<Amount>(), json!({"union": ["int", line, "str"]})),
            (of::<Option<Amount>>(), json!({"union": ["int", line, "str", "null"]})),
        ] {
            let told = described(&ty);
            assert_eq!(Dialect::Dspy.label(&rust.tree), Dialect::Dspy.label(&told.tree));
            assert_eq!(Dialect::Dspy.reminder(&rust.tree), Dialect::Dspy.reminder(&told.tree));
            assert_eq!(Dialect::Dspy.note(&rust), Dialect::Dspy.note(&told), "{ty}");
            assert_eq!(Dialect::Plain.label(&rust.tree), Dialect::Plain.label(&told.tree));
            assert_eq!(Dialect::Plain.reminder(&rust.tree), Dialect::Plain.reminder(&told.tree));
        }
    }

    // The DSPy text is pydantic's for the same model with `extra="forbid"`.
    #[test]
    fn a_struct_shows_its_schema() {
        let invoice = of::<Invoice>();
        let note = |dialect: Dialect| {
            let note = dialect.note(&invoice).unwrap();
            note.strip_prefix("must adhere to the JSON schema: ").unwrap().to_owned()
        };
        assert_eq!(
            note(Dialect::Dspy),
            r##"{"type": "object", "$defs": {"LineItem": {"type": "object", "description": "A line of an invoice.", "properties": {"notes": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null, "title": "Notes"}, "quantity": {"type": "integer", "minimum": 1, "title": "Quantity"}, "sku": {"type": "string", "description": "Stock keeping unit", "title": "Sku"}, "unit_price": {"type": "number", "title": "Unit Price"}}, "required": ["sku", "quantity", "unit_price"], "title": "LineItem"}}, "additionalProperties": false, "properties": {"type": {"type": "string", "title": "Type"}, "best": {"anyOf": [{"$ref": "#/$defs/LineItem"}, {"type": "null"}], "default": null, "description": "What came first"}, "code": {"type": "string", "maxLength": 9, "minLength": 1, "pattern": "^[A-Z]", "title": "Code"}, "extra": {"type": "object", "additionalProperties": true, "title": "Extra"}, "items": {"type": "array", "items": {"$ref": "#/$defs/LineItem"}, "title": "Items"}, "owner": {"type": "string", "enum": ["atlas", "harbor", "it's"], "title": "Owner"}}, "required": ["type", "items", "owner", "code", "extra"], "title": "Invoice"}"##
        );
        let line = r#"{"type": "object", "properties": {"sku": {"type": "string", "description": "Stock keeping unit"}, "quantity": {"type": "integer", "minimum": 1}, "unit_price": {"type": "number"}, "notes": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null}}, "required": ["sku", "quantity", "unit_price"], "description": "A line of an invoice."}"#;
        assert_eq!(
            note(Dialect::Plain),
            format!(
                r#"{{"type": "object", "properties": {{"type": {{"type": "string"}}, "items": {{"type": "array", "items": {line}}}, "best": {{"anyOf": [{line}, {{"type": "null"}}], "description": "What came first", "default": null}}, "owner": {{"oneOf": [{{"type": "string", "const": "atlas", "description": "money"}}, {{"type": "string", "const": "harbor"}}, {{"type": "string", "const": "it's"}}]}}, "code": {{"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^[A-Z]"}}, "extra": {{"type": "object", "additionalProperties": true}}}}, "required": ["type", "items", "owner", "code", "extra"], "additionalProperties": false}}"#
            )
        );
    }

    #[test]
    fn shapes_without_words_are_values() {
        for (field, plain, dspy) in [
            (of::<(u8, String)>(), "value", "tuple[int, str]"),
            (of::<BTreeSet<String>>(), "value", "set[str]"),
            (of::<BTreeMap<u8, f64>>(), "value", "dict[int, float]"),
            (of::<Shape>(), "value", "Shape"),
            (of::<Vec<Shape>>(), "list of values", "list[Shape]"),
            (of::<Tree>(), "list of values", "Tree"),
            (of::<Amount>(), "integer or object or string", "Union[int, LineItem, str]"),
        ] {
            assert_eq!(Dialect::Plain.label(&field.tree), plain);
            assert_eq!(Dialect::Dspy.label(&field.tree), dspy);
        }
    }
}
