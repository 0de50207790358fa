//! A case's signature: its type language, and the spec that it becomes.

use imp::{SignatureSpec, Value};
use serde_json::{Map, Value as Json, json};

use super::check_keys;

/// A type of a case.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    String,
    Integer,
    Number,
    Boolean,
    Any,
    ToolCalls,
    History,
    Optional(Box<Type>),
    List(Box<Type>),
    Map(Box<Type>),
    Literal(Vec<Json>),
    Object(Vec<(String, Type)>),
}

/// The signature of a case.
#[derive(Debug)]
pub(super) struct Signature {
    pub(super) inputs: Vec<(String, Type)>,
    pub(super) outputs: Vec<(String, Type)>,
    pub(super) spec: SignatureSpec,
    json: Json,
}

/// The types of a side's fields, and the fields as data.
type Side = (Vec<(String, Type)>, Vec<Json>);

impl Signature {
    pub(super) fn new(json: &Json, instructions: Option<&str>) -> Result<Self, String> {
        let map = json.as_object().ok_or("a signature is an object")?;
        check_keys(map, &["outputs", "inputs", "constraints", "descriptions", "metadata"])?;
        let mut count = 0;
        let mut side = |key: &str| -> Result<Side, String> {
            let mut types = Vec::new();
            let mut fields = Vec::new();
            for field in map.get(key).and_then(Json::as_array).into_iter().flatten() {
                let field = field.as_object().ok_or("a field is an object")?;
                check_keys(field, &["name", "type", "default"])?;
                let name = field.get("name").and_then(Json::as_str).ok_or("a field has a name")?;
                let ty = parse(field.get("type").and_then(Json::as_str).ok_or("a field has a type")?)?;
                let mut described = Map::new();
                described.insert("name".to_owned(), name.into());
                described.insert("type".to_owned(), describe(&ty, &mut count, name, map));
                if let Some(default) = field.get("default") {
                    described.insert("default".to_owned(), default.clone());
                }
                if let Some(bounds) = map.get("constraints").and_then(|all| all.get(name)) {
                    check_keys(bounds.as_object().ok_or("constraints are an object")?, &["ge", "le"])?;
                    described.insert("constraints".to_owned(), bounds.clone());
                }
                if let Some(text) = map.get("descriptions").and_then(|all| all.get(name)) {
                    described.insert("desc".to_owned(), text.clone());
                }
                types.push((name.to_owned(), ty));
                fields.push(Json::Object(described));
            }
            Ok((types, fields))
        };
        let (mut inputs, mut described) = side("inputs")?;
        let (outputs, described_outputs) = side("outputs")?;
        if !map.contains_key("inputs") {
            inputs.push(("input".to_owned(), Type::String));
            described.push(json!({ "name": "input", "type": "str" }));
        }
        let mut json = json!({
            "instructions": instructions.unwrap_or_default(),
            "inputs": described,
            "outputs": described_outputs,
        });
        if let Some(metadata) = map.get("metadata") {
            check_keys(metadata.as_object().ok_or("metadata is an object")?, &["text_field"])?;
            json["text_field"] = metadata["text_field"].clone();
        }
        let spec = SignatureSpec::from_json(&json).map_err(|error| error.to_string())?;
        Ok(Signature { inputs, outputs, spec, json })
    }

    /// A signature whose outputs are these inputs of this one.
    pub(super) fn inputs_as_outputs(&self, names: &dyn Fn(&str) -> bool) -> Result<SignatureSpec, String> {
        let inputs = self.json["inputs"].as_array().into_iter().flatten();
        let outputs: Vec<Json> =
            inputs.filter(|field| names(field["name"].as_str().unwrap_or_default())).cloned().collect();
        SignatureSpec::from_json(&json!({ "inputs": [], "outputs": outputs }))
            .map_err(|error| error.to_string())
    }
}

/// The type in the words of `imp`'s data signatures; objects are numbered, as they have no names.
fn describe(ty: &Type, count: &mut usize, path: &str, signature: &Map<String, Json>) -> Json {
    match ty {
        Type::String => "str".into(),
        // 64 bits, as `i64` has them; `imp`'s own described integers have 128.
        Type::Integer => json!({ "schema": { "type": "integer", "minimum": i64::MIN, "maximum": i64::MAX } }),
        Type::Number => "float".into(),
        Type::Boolean => "bool".into(),
        Type::Any => "any".into(),
        Type::ToolCalls => "tool_calls".into(),
        Type::History => "history".into(),
        Type::Optional(inner) => json!({ "optional": describe(inner, count, path, signature) }),
        Type::List(inner) => json!({ "list": describe(inner, count, path, signature) }),
        Type::Map(inner) => json!({ "dict": describe(inner, count, path, signature) }),
        // What `imp`'s own described literals do not have is said by a schema.
        Type::Literal(values) if values.iter().any(|value| value.is_null() || value.is_f64()) => {
            json!({ "schema": { "enum": values } })
        }
        Type::Literal(values) => json!({ "literal": values }),
        Type::Object(members) => {
            *count += 1;
            let name = format!("Object{count}");
            let fields: Vec<Json> = members
                .iter()
                .map(|(member, ty)| {
                    let path = format!("{path}.{member}");
                    let mut field = json!({ "name": member, "type": describe(ty, count, &path, signature) });
                    if matches!(ty, Type::Optional(_)) {
                        field["default"] = Json::Null;
                    }
                    if let Some(text) = signature.get("descriptions").and_then(|all| all.get(&path)) {
                        field["desc"] = text.clone();
                    }
                    field
                })
                .collect();
            json!({ "object": { "name": name, "fields": fields } })
        }
    }
}

fn parse(text: &str) -> Result<Type, String> {
    let mut rest = text;
    let ty = ty(&mut rest, 0)?;
    if rest.is_empty() { Ok(ty) } else { Err(format!("a type goes on with `{rest}`")) }
}

fn eat(rest: &mut &str, token: &str) -> bool {
    match rest.strip_prefix(token) {
        Some(after) => {
            *rest = after;
            true
        }
        None => false,
    }
}

fn expect(rest: &mut &str, token: &str) -> Result<(), String> {
    if eat(rest, token) { Ok(()) } else { Err(format!("expected `{token}` in a type at `{rest}`")) }
}

fn ty(rest: &mut &str, depth: usize) -> Result<Type, String> {
    if depth > 32 {
        return Err("a type is nested too deep".to_owned());
    }
    let words = [
        ("string", Type::String),
        ("integer", Type::Integer),
        ("number", Type::Number),
        ("boolean", Type::Boolean),
        ("any", Type::Any),
        ("ToolCalls", Type::ToolCalls),
        ("History", Type::History),
    ];
    for (word, ty) in words {
        if eat(rest, word) {
            return Ok(ty);
        }
    }
    let inner = |open: &str, rest: &mut &str| -> Option<Result<Box<Type>, String>> {
        eat(rest, open).then(|| {
            let inner = ty(rest, depth + 1)?;
            expect(rest, "]").map(|()| Box::new(inner))
        })
    };
    if let Some(some) = inner("optional[", rest) {
        return some.map(Type::Optional);
    }
    if let Some(items) = inner("list[", rest) {
        return items.map(Type::List);
    }
    if let Some(values) = inner("map[string,", rest) {
        return values.map(Type::Map);
    }
    if eat(rest, "literal[") {
        let mut values = Vec::new();
        loop {
            let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Json>();
            let value =
                stream.next().ok_or("a literal without a value")?.map_err(|error| error.to_string())?;
            let end = stream.byte_offset();
            values.push(value);
            *rest = rest.get(end..).unwrap_or_default();
            if !eat(rest, ",") {
                expect(rest, "]")?;
                return Ok(Type::Literal(values));
            }
        }
    }
    if eat(rest, "object{") {
        let mut members = Vec::new();
        loop {
            let end = rest.find(':').ok_or("a member without a type")?;
            let name = rest[..end].to_owned();
            *rest = &rest[end + 1..];
            members.push((name, ty(rest, depth + 1)?));
            if !eat(rest, ",") {
                expect(rest, "}")?;
                return Ok(Type::Object(members));
            }
        }
    }
    Err(format!("an unknown type at `{rest}`"))
}

/// A text that is written out, or as `{"prefix"?, "repeat", "times", "suffix"?}`.
pub(super) fn text(json: &Json) -> Option<String> {
    match json {
        Json::String(text) => Some(text.clone()),
        Json::Object(map) if map.contains_key("repeat") => {
            check_keys(map, &["prefix", "repeat", "times", "suffix"]).ok()?;
            let part = |key: &str| map.get(key).and_then(Json::as_str).unwrap_or_default();
            let times = usize::try_from(map.get("times")?.as_u64()?).ok()?;
            Some(format!("{}{}{}", part("prefix"), part("repeat").repeat(times), part("suffix")))
        }
        _ => None,
    }
}

/// Whether a value is what is expected of its type.
#[allow(clippy::cast_precision_loss, clippy::float_cmp, reason = "a number is compared as a float, exactly")]
pub(super) fn same(ty: &Type, expected: &Json, ours: &Value) -> bool {
    match (ty, ours) {
        (_, Value::Null) => expected.is_null(),
        (Type::Optional(inner), ours) => same(inner, expected, ours),
        (Type::String, Value::String(ours)) => text(expected).as_ref() == Some(ours),
        (Type::Integer, Value::Int(ours)) => expected.as_i64().map(i128::from) == Some(*ours),
        (Type::Number, Value::Int(ours)) => expected.as_f64() == Some(*ours as f64),
        (Type::Number, Value::Float(ours)) => expected.as_f64() == Some(*ours),
        (Type::Boolean, Value::Bool(ours)) => expected.as_bool() == Some(*ours),
        (Type::List(items), Value::List(ours)) => expected.as_array().is_some_and(|list| {
            list.len() == ours.len() && list.iter().zip(ours).all(|(a, b)| same(items, a, b))
        }),
        (Type::Map(values), Value::Map(ours)) => expected.as_object().is_some_and(|map| {
            map.len() == ours.len()
                && map.iter().all(|(key, value)| ours.get(key).is_some_and(|ours| same(values, value, ours)))
        }),
        (Type::Object(members), Value::Map(ours)) => expected.as_object().is_some_and(|map| {
            let known = |key: &str| members.iter().any(|(name, _)| name == key);
            map.keys().all(|key| known(key))
                && ours.iter().all(|(key, _)| known(key))
                && members.iter().all(|(name, ty)| {
                    let null = (Json::Null, Value::Null);
                    same(ty, map.get(name).unwrap_or(&null.0), ours.get(name).unwrap_or(&null.1))
                })
        }),
        (Type::Literal(_) | Type::Any | Type::ToolCalls | Type::History, ours) => {
            Value::from(expected.clone()) == *ours
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read() {
        assert_eq!(
            parse("list[object{a:optional[string],b:literal[\"x\",1,null]}]").unwrap(),
            Type::List(Box::new(Type::Object(vec![
                ("a".to_owned(), Type::Optional(Box::new(Type::String))),
                ("b".to_owned(), Type::Literal(vec![json!("x"), json!(1), Json::Null])),
            ])))
        );
        for wrong in ["text", "list[string", "string]", "map[string]", "object{}", "literal[]"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
