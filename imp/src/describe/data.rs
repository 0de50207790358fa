//! Signatures as data: the type language of DSPy's conformance corpus, with Imp's map form beside it,
//! and back.
//!
//! A type becomes a JSON Schema, like every Rust type, and from there on nobody can tell where it came
//! from. Words of the corpus: `str int float bool datetime date any history reasoning tool_calls`,
//! `{"optional" | "list" | "dict": T}`, `{"literal": […]}`, `{"enum": …}`, `{"object": …}`,
//! `{"union": […]}`. Imp's: the written types of [`spec_text`](super::line), `code` with a
//! `language`, `null`, and the constraints that describe a type (`enum`, `items`, `properties`,
//! `additional_properties`, `any_of`). Ours: `{"schema": JSON Schema}`.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json, json};

use super::line::parse_type;
use super::rules::{self, twice};
use crate::docs::cleandoc;
use crate::error::SpecError;
use crate::nearest::remedy;
use crate::spec::{Constraint, FieldSpec, SignatureSpec};
use crate::text::read::check_value;
use crate::types::{AnswerShape, Checks, Kind, Number, PartKind, Property, Type, TypeTree, check_depth, key};
use crate::value::{Map, Value};
use crate::{citations, history, reasoning, tool_calls, tool_definition};

/// Types nested deeper than this are refused, so that no later walk over them can run out of stack.
const DEPTH: usize = 64;

const SIGNATURE_KEYS: [&str; 6] = ["name", "instructions", "inputs", "outputs", "dialect", "text_field"];
const FIELD_KEYS: [&str; 11] = [
    "name",
    "type",
    "desc",
    "description",
    "default",
    "constraints",
    "language",
    "optional",
    "answer_shape",
    "aliases",
    "text_field",
];
const TYPE_KEYS: [&str; 9] =
    ["optional", "list", "dict", "literal", "enum", "object", "union", "schema", "code"];
const WORDS: [&str; 25] = [
    "str",
    "int",
    "float",
    "bool",
    "datetime",
    "date",
    "any",
    "reasoning",
    "citations",
    "history",
    "tool",
    "tool_calls",
    "string",
    "integer",
    "number",
    "boolean",
    "object",
    "array",
    "code",
    "image",
    "audio",
    "file",
    "null",
    "union",
    "map",
];
const SHAPES: [(&str, AnswerShape); 3] = [
    ("yes_no", AnswerShape::YesNo),
    ("short_span", AnswerShape::ShortSpan),
    ("numeric_span", AnswerShape::NumericSpan),
];
/// The keys of constraints that describe the type, with their aliases.
const STRUCTURE: [(&str, &str); 9] = [
    ("enum", "enum"),
    ("items", "items"),
    ("properties", "properties"),
    ("additional_properties", "additional_properties"),
    ("additionalProperties", "additional_properties"),
    ("any_of", "any_of"),
    ("anyOf", "any_of"),
    ("answer_shape", "answer_shape"),
    ("answerShape", "answer_shape"),
];
const BOUND_ALIASES: [(&str, Constraint); 5] = [
    ("minimum", Constraint::Ge),
    ("maximum", Constraint::Le),
    ("minLength", Constraint::MinLength),
    ("maxLength", Constraint::MaxLength),
    ("multipleOf", Constraint::MultipleOf),
];

/// The signature that `json` describes.
pub(crate) fn spec_of(json: &Json) -> Result<SignatureSpec, SpecError> {
    let map = json.as_object().ok_or_else(|| SpecError::new("a signature is an object with `outputs`"))?;
    check_depth(json, "the signature").map_err(SpecError::new)?;
    check_keys(map, &SIGNATURE_KEYS, "the signature").map_err(SpecError::new)?;
    let text = |key: &str| match map.get(key) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(SpecError::new(format!("`{key}` is a text"))),
    };
    let mut types = Types::default();
    let mut side = |key: &str| -> Result<Vec<(FieldSpec, bool)>, SpecError> {
        match map.get(key) {
            None | Some(Json::Null) => Ok(Vec::new()),
            Some(Json::Array(fields)) => fields.iter().map(|field| types.described(field)).collect(),
            Some(_) => Err(SpecError::new(format!("`{key}` is a list of fields"))),
        }
    };
    let (inputs, outputs) = (side("inputs")?, side("outputs")?);
    if let Some((field, _)) = inputs.iter().find(|(_, text_field)| *text_field) {
        return Err(SpecError::of_field(&field.name, "`text_field` is for an output"));
    }
    let mut marked: Vec<usize> =
        outputs.iter().enumerate().filter(|(_, (_, text_field))| *text_field).map(|(at, _)| at).collect();
    if let Some(name) = text("text_field")? {
        let at = outputs.iter().position(|(field, _)| field.name == name).ok_or_else(|| {
            let known: Vec<&str> = outputs.iter().map(|(field, _)| field.name.as_str()).collect();
            SpecError::new(format!("`text_field` names no output: `{name}`; {}", remedy(&name, &known)))
        })?;
        if !marked.contains(&at) {
            marked.push(at);
        }
    }
    if marked.len() > 1 {
        return Err(SpecError::new("two outputs are the `text_field`: a signature has one"));
    }
    let dialect = match map.get("dialect") {
        None | Some(Json::Null) => None,
        Some(dialect) => Some(
            serde_json::from_value(dialect.clone())
                .map_err(|_| SpecError::new("`dialect` is \"plain\" or \"dspy\""))?,
        ),
    };
    let bare =
        |fields: Vec<(FieldSpec, bool)>| fields.into_iter().map(|(field, _)| Arc::new(field)).collect();
    SignatureSpec::build(
        text("name")?.unwrap_or_default(),
        text("instructions")?,
        bare(inputs),
        bare(outputs),
        marked.first().copied(),
        dialect,
    )
}

fn check_keys(map: &JsonMap<String, Json>, known: &[&str], what: &str) -> Result<(), String> {
    match map.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!("{what} has an unknown key `{key}`: {}", remedy(key, known))),
        None => Ok(()),
    }
}

/// The named types of one signature.
#[derive(Debug, Default)]
pub(crate) struct Types {
    named: BTreeMap<String, Named>,
}

#[derive(Debug)]
struct Named {
    /// As it was described: a type is the same wherever it is named.
    source: Json,
    schema: Json,
}

/// A type with what stands beside it in a field.
struct Shaped {
    schema: Json,
    bounds: Vec<(Constraint, Value)>,
    shape: Option<AnswerShape>,
}

impl Types {
    /// A field of the type `ty`, without a description.
    pub(crate) fn field(
        &mut self,
        name: &str,
        ty: &Json,
        shape: Option<AnswerShape>,
    ) -> Result<FieldSpec, SpecError> {
        let schema = self.schema(ty, 0).map_err(|message| SpecError::of_field(name, message))?;
        FieldSpec::new(name, self.root(schema), Vec::new(), shape)
    }

    /// A field of a signature, and whether it is the one that text without a marker is.
    fn described(&mut self, json: &Json) -> Result<(FieldSpec, bool), SpecError> {
        let map = json.as_object().ok_or_else(|| SpecError::new("a field is an object with a `name`"))?;
        let name = map
            .get("name")
            .and_then(Json::as_str)
            .ok_or_else(|| SpecError::new("a field has a `name`, which is a text"))?;
        let fault = |message: String| SpecError::of_field(name, message);
        check_keys(map, &FIELD_KEYS, "it").map_err(fault)?;
        let shaped = self.shaped(map, 0).map_err(fault)?;
        let mut field = FieldSpec::new(name, self.root(shaped.schema), shaped.bounds, shaped.shape)?;
        field.description = description(map).map_err(fault)?;
        field.default = match map.get("default") {
            Some(default) => Some(self.decode(default, map.get("type"), 0).map_err(fault)?),
            None => None,
        };
        check_bounds(&field).map_err(fault)?;
        check_defaults(&field).map_err(fault)?;
        field.aliases = match map.get("aliases") {
            None => Vec::new(),
            Some(aliases) => serde_json::from_value(aliases.clone())
                .map_err(|_| fault("`aliases` is a list of texts".to_owned()))?,
        };
        let text_field = match map.get("text_field") {
            None => false,
            Some(marked) => {
                marked.as_bool().ok_or_else(|| fault("`text_field` is true or false".to_owned()))?
            }
        };
        Ok((field, text_field))
    }

    /// A field's type, bounds and answer shape.
    fn shaped(&mut self, map: &JsonMap<String, Json>, depth: usize) -> Result<Shaped, String> {
        let constraints = constraints(map.get("constraints"))?;
        let structure = |key: &str| {
            constraints.iter().find_map(|(given, value)| match given {
                Given::Structure(known) if *known == key => Some(*value),
                _ => None,
            })
        };
        let word = match map.get("type") {
            Some(Json::String(word)) => Some(word.as_str()),
            None => Some("str"),
            Some(_) => None,
        };
        let mut shape = None;
        let mut schema = match word {
            Some("code") => {
                let language = match map.get("language") {
                    None => "python",
                    Some(language) => language.as_str().ok_or("`language` is a text")?,
                };
                code(language)
            }
            Some("union") => {
                let branches = structure("any_of")
                    .and_then(Json::as_array)
                    .ok_or("a `union` has its branches in the constraint `any_of`, a list of fields")?;
                let branches =
                    branches.iter().map(|branch| self.member(branch, depth + 1)).collect::<Result<_, _>>()?;
                union(branches)?
            }
            Some("array" | "list") if structure("items").is_some() => {
                let items = self.member(structure("items").unwrap_or(&Json::Null), depth + 1)?;
                json!({ "type": "array", "items": items })
            }
            Some("object" | "map" | "dict")
                if structure("properties").is_some() || structure("additional_properties").is_some() =>
            {
                self.open_object(structure("properties"), structure("additional_properties"), depth)?
            }
            Some(word) if !WORDS[..10].contains(&word) && !TYPE_KEYS.contains(&word) => {
                // A written type may carry an answer shape, which no schema has.
                match parse_type(word) {
                    Ok(written) => {
                        shape = written.shape;
                        self.schema(&written.ty, depth)?
                    }
                    Err(_) => self.schema(&json!(word), depth)?,
                }
            }
            Some(word) => self.schema(&json!(word), depth)?,
            None => self.schema(map.get("type").unwrap_or(&Json::Null), depth)?,
        };
        if word != Some("code") && map.contains_key("language") {
            return Err("`language` is for the type `code`".to_owned());
        }
        if let Some(members) = structure("enum") {
            let members = members.as_array().ok_or("the constraint `enum` is a list of members")?;
            schema = members_of(&schema, members)?;
        }
        match map.get("optional") {
            None | Some(Json::Bool(false)) => {}
            Some(Json::Bool(true)) => schema = union(vec![schema, json!({ "type": "null" })])?,
            Some(_) => return Err("`optional` is true or false".to_owned()),
        }
        for given in [map.get("answer_shape"), structure("answer_shape")].into_iter().flatten() {
            let word = given.as_str().unwrap_or("");
            let known = SHAPES.iter().find(|(known, _)| *known == word);
            let (_, known) = known.ok_or_else(|| {
                format!("unknown answer shape `{word}`: {}", remedy(word, &SHAPES.map(|(known, _)| known)))
            })?;
            shape = Some(*known);
        }
        let bounds = constraints
            .iter()
            .filter_map(|(given, value)| match given {
                Given::Bound(constraint) => {
                    Some(self.decode(value, None, 0).map(|value| (*constraint, value)))
                }
                Given::Structure(_) => None,
            })
            .collect::<Result<_, _>>()?;
        Ok(Shaped { schema, bounds, shape })
    }

    /// A type inside another one: a type, or a field whose name does not matter.
    fn member(&mut self, json: &Json, depth: usize) -> Result<Json, String> {
        match json {
            Json::Object(map) if map.contains_key("type") => {
                check_keys(map, &FIELD_KEYS, "the member")?;
                self.property(map, depth)
            }
            json => self.schema(json, depth),
        }
    }

    /// The schema of a field inside an object, with its bounds, description and default.
    fn property(&mut self, map: &JsonMap<String, Json>, depth: usize) -> Result<Json, String> {
        let Shaped { mut schema, bounds, shape } = self.shaped(map, depth)?;
        if shape.is_some() {
            return Err("an answer shape is for a whole field, not for a part of one".to_owned());
        }
        crate::spec::ready(&bounds, None)?;
        for (constraint, value) in &bounds {
            bind(&mut schema, *constraint, value)?;
        }
        if let Json::Object(schema) = &mut schema {
            if let Some(description) = description(map)? {
                schema.insert("description".to_owned(), description.into());
            }
            if let Some(default) = map.get("default") {
                let default = self.decode(default, map.get("type"), 0)?;
                schema.insert("default".to_owned(), serde_json::to_value(&default).unwrap_or(Json::Null));
            }
        }
        Ok(schema)
    }

    fn open_object(
        &mut self,
        properties: Option<&Json>,
        additional: Option<&Json>,
        depth: usize,
    ) -> Result<Json, String> {
        let mut schema = JsonMap::new();
        schema.insert("type".to_owned(), "object".into());
        if let Some(properties) = properties {
            let properties = properties
                .as_object()
                .ok_or("the constraint `properties` is an object of fields by their names")?;
            let mut schemas = JsonMap::new();
            let mut required = Vec::new();
            for (name, property) in properties {
                schemas.insert(name.clone(), self.member(property, depth + 1)?);
                let may_lack = |key: &str| property.get(key).is_some_and(|value| *value != Json::Bool(false));
                if !may_lack("default") && !may_lack("optional") {
                    required.push(Json::from(name.as_str()));
                }
            }
            schema.insert("properties".to_owned(), Json::Object(schemas));
            if !required.is_empty() {
                schema.insert("required".to_owned(), Json::Array(required));
            }
        }
        match additional {
            None => {}
            Some(Json::Bool(allowed)) => {
                schema.insert("additionalProperties".to_owned(), Json::Bool(*allowed));
            }
            Some(values) => {
                let values = self.member(values, depth + 1)?;
                schema.insert("additionalProperties".to_owned(), values);
            }
        }
        Ok(Json::Object(schema))
    }

    /// The schema of a type; named types are references to [`Types::named`].
    fn schema(&mut self, ty: &Json, depth: usize) -> Result<Json, String> {
        if depth > DEPTH {
            return Err(format!("the type is nested more than {DEPTH} deep"));
        }
        let map = match ty {
            Json::String(word) => return self.word(word, depth),
            Json::Object(map) => map,
            _ => return Err("a type is a word or an object with one key".to_owned()),
        };
        // `pep604` only says which of two spellings of one type Python code had.
        let keys: Vec<&str> = map.keys().map(String::as_str).filter(|key| *key != "pep604").collect();
        let [form] = keys.as_slice() else {
            return Err(format!(
                "a type has one key of {}",
                TYPE_KEYS.map(|key| format!("`{key}`")).join(", ")
            ));
        };
        let body = &map[*form];
        match *form {
            "optional" => {
                let some = self.schema(body, depth + 1)?;
                union(vec![some, json!({ "type": "null" })])
            }
            "list" => Ok(json!({ "type": "array", "items": any_as_true(self.schema(body, depth + 1)?) })),
            "dict" => Ok(
                json!({ "type": "object", "additionalProperties": any_as_true(self.schema(body, depth + 1)?) }),
            ),
            "literal" => literal(body.as_array().ok_or("a `literal` is a list of values")?),
            "union" => {
                let branches = body.as_array().ok_or("a `union` is a list of types")?;
                let branches =
                    branches.iter().map(|branch| self.schema(branch, depth + 1)).collect::<Result<_, _>>()?;
                union(branches)
            }
            "enum" => self.named(body, |_, name, body| named_enum(name, body)),
            "object" => self.named(body, |types, name, body| types.named_object(name, body, depth)),
            "code" => Ok(code(body.as_str().ok_or("a `code` type names its language")?)),
            "schema" if body.is_object() || body.is_boolean() => {
                rules::check(body)?;
                Ok(body.clone())
            }
            "schema" => Err("a `schema` is a JSON Schema".to_owned()),
            form => Err(format!("unknown type `{form}`: {}", remedy(form, &TYPE_KEYS))),
        }
    }

    fn word(&mut self, word: &str, depth: usize) -> Result<Json, String> {
        Ok(match word {
            "str" => json!({ "type": "string" }),
            "int" => json!({ "type": "integer" }),
            "float" => json!({ "type": "number" }),
            "bool" => json!({ "type": "boolean" }),
            "null" => json!({ "type": "null" }),
            "datetime" => json!({ "type": "string", "format": "date-time" }),
            "date" => json!({ "type": "string", "format": "date" }),
            "any" => json!({}),
            "object" => json!({ "type": "object", "additionalProperties": true }),
            "array" => json!({ "type": "array" }),
            "image" | "audio" | "file" => json!({ "type": "object", key::KIND: word }),
            "reasoning" => reasoning::schema(),
            citations::KIND => citations::schema(),
            "code" => code("python"),
            "history" => history::schema(),
            "tool" => tool_definition::schema(),
            "tool_calls" => tool_calls::schema(),
            word => match parse_type(word) {
                Ok(written) if written.shape.is_some() => {
                    return Err(format!("`{word}` is for a whole field, not for a part of one"));
                }
                Ok(written) => self.schema(&written.ty, depth + 1)?,
                Err(unknown) if word.contains('[') => return Err(unknown.into_message()),
                Err(_) => return Err(format!("unknown type `{word}`: {}", remedy(word, &WORDS))),
            },
        })
    }

    /// A reference to the named type that `body` describes, built the first time.
    fn named(
        &mut self,
        body: &Json,
        build: impl FnOnce(&mut Types, &str, &JsonMap<String, Json>) -> Result<Json, String>,
    ) -> Result<Json, String> {
        let map = body.as_object().ok_or("an `enum` or `object` has a `name`")?;
        let name =
            map.get("name").and_then(Json::as_str).ok_or("an `enum` or `object` has a `name`, a text")?;
        match self.named.get(name) {
            Some(named) if named.source == *body => {}
            Some(_) => return Err(format!("two different types are called `{name}`: rename one of them")),
            None => {
                let schema = build(self, name, map).map_err(|message| format!("type `{name}`: {message}"))?;
                self.named.insert(name.to_owned(), Named { source: body.clone(), schema });
            }
        }
        Ok(json!({ "$ref": reference(name) }))
    }

    fn named_object(
        &mut self,
        name: &str,
        map: &JsonMap<String, Json>,
        depth: usize,
    ) -> Result<Json, String> {
        check_keys(map, &["name", "fields", "doc"], "it")?;
        let fields = map.get("fields").and_then(Json::as_array).ok_or("an `object` has `fields`, a list")?;
        let mut properties = JsonMap::new();
        let mut required = Vec::new();
        for field in fields {
            let field = field.as_object().ok_or("a field is an object with a `name`")?;
            let name = field.get("name").and_then(Json::as_str).ok_or("a field has a `name`, a text")?;
            check_keys(field, &FIELD_KEYS[..8], &format!("field `{name}`"))?;
            let schema =
                self.property(field, depth + 1).map_err(|message| format!("field `{name}`: {message}"))?;
            if properties.insert(name.to_owned(), schema).is_some() {
                return Err(format!("two fields are called `{name}`"));
            }
            if !field.contains_key("default") {
                required.push(Json::from(name));
            }
        }
        let mut schema = JsonMap::new();
        schema.insert("title".to_owned(), name.into());
        if let Some(doc) = map.get("doc").filter(|doc| !doc.is_null()) {
            let doc = cleandoc(doc.as_str().ok_or("`doc` is a text")?);
            if !doc.is_empty() {
                schema.insert("description".to_owned(), doc.into());
            }
        }
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), Json::Object(properties));
        if !required.is_empty() {
            schema.insert("required".to_owned(), Json::Array(required));
        }
        Ok(Json::Object(schema))
    }

    /// A field's schema with the named types that it refers to. A type that is the whole field stands
    /// at the root, as schemars has it.
    fn root(&self, schema: Json) -> Json {
        let mut defs = JsonMap::new();
        let mut seen = BTreeSet::new();
        let mut open = references(&schema);
        let mut root = schema;
        let alone = root.as_object().is_some_and(|map| map.len() == 1 && map.contains_key("$ref"));
        let only = open.first().filter(|_| alone && open.len() == 1);
        if let Some(named) = only.and_then(|name| self.named.get(name)) {
            root = named.schema.clone();
            open = references(&root);
        }
        open.reverse();
        while let Some(name) = open.pop() {
            let Some(named) = self.named.get(&name) else { continue };
            if seen.insert(name.clone()) {
                open.extend(references(&named.schema).into_iter().rev());
                defs.insert(name, named.schema.clone());
            }
        }
        if let Some(map) = root.as_object_mut().filter(|_| !defs.is_empty()) {
            map.insert("$defs".to_owned(), Json::Object(defs));
        }
        root
    }

    /// The value that the encoding `json` stands for; `ty` is its described type, if it is known.
    fn decode(&self, json: &Json, ty: Option<&Json>, depth: usize) -> Result<Value, String> {
        if depth > DEPTH {
            return Err(format!("the value is nested more than {DEPTH} deep"));
        }
        let map = match json {
            Json::Array(items) => {
                let items = items.iter().map(|item| self.decode(item, None, depth + 1));
                return items.collect::<Result<_, _>>().map(Value::List);
            }
            Json::Object(map) => map,
            Json::Number(number) if ty.and_then(Json::as_str) == Some("float") && depth > 0 => {
                return Ok(Value::Float(number.as_f64().unwrap_or(f64::NAN)));
            }
            json => return Ok(json.clone().into()),
        };
        let tag = map.keys().next().map_or("", String::as_str);
        let body = map.get(tag).unwrap_or(&Json::Null);
        let bad = || format!("the encoded value `{json}` is malformed");
        match tag {
            "$map" => {
                let entries = pairs(body).ok_or_else(bad)?;
                let entries = entries
                    .into_iter()
                    .map(|(key, value)| Ok((key.to_owned(), self.decode(value, None, depth + 1)?)));
                entries.collect::<Result<Map, String>>().map(Value::Map)
            }
            "$object" => {
                let name = body.as_str().ok_or_else(bad)?;
                let given = map.get("fields").and_then(pairs).ok_or_else(bad)?;
                let named = self
                    .named
                    .get(name)
                    .ok_or_else(|| format!("no type of the signature is called `{name}`"))?;
                let fields = named.source.get("fields").and_then(Json::as_array).ok_or_else(bad)?;
                let mut object = Map::new();
                for field in fields {
                    let field_name = field.get("name").and_then(Json::as_str).unwrap_or_default();
                    let value = given.iter().find(|(key, _)| *key == field_name).map(|(_, value)| *value);
                    if let Some(value) = value.or_else(|| field.get("default")) {
                        object.insert(field_name, self.decode(value, field.get("type"), depth + 1)?);
                    }
                }
                Ok(Value::Map(object))
            }
            "$enum" => {
                let name = body.as_str().ok_or_else(bad)?;
                let member = map.get("member").and_then(Json::as_str).ok_or_else(bad)?;
                let named = self
                    .named
                    .get(name)
                    .ok_or_else(|| format!("no type of the signature is called `{name}`"))?;
                let members = named.source.get("members").and_then(pairs).ok_or_else(bad)?;
                let found = members.into_iter().find(|(known, _)| *known == member);
                let (_, value) = found.ok_or_else(|| format!("`{name}` has no member `{member}`"))?;
                Ok(value.clone().into())
            }
            "$datetime" => {
                let iso = body.as_str().ok_or_else(bad)?;
                // pydantic writes UTC so.
                Ok(iso.strip_suffix("+00:00").map_or_else(|| iso.to_owned(), |utc| format!("{utc}Z")).into())
            }
            "$date" | "$reasoning" => Ok(body.as_str().ok_or_else(bad)?.into()),
            "$int" => {
                let digits = body.as_str().ok_or_else(bad)?;
                digits
                    .parse()
                    .map(Value::Int)
                    .map_err(|_| format!("the integer {digits} has more than 128 bits"))
            }
            "$float" => match body.as_str() {
                Some("nan") => Ok(Value::Float(f64::NAN)),
                Some("inf") => Ok(Value::Float(f64::INFINITY)),
                Some("-inf") => Ok(Value::Float(f64::NEG_INFINITY)),
                _ => Err(bad()),
            },
            "$tool_calls" => {
                let calls = body.as_array().ok_or_else(bad)?;
                let calls = calls.iter().map(|call| {
                    let name = call.get("name").and_then(Json::as_str).ok_or_else(bad)?;
                    let args = self.decode(call.get("args").ok_or_else(bad)?, None, depth + 1)?;
                    Ok(Value::Map(Map::from([("name", Value::from(name)), ("args", args)])))
                });
                let calls = calls.collect::<Result<Vec<_>, String>>()?;
                Ok(Value::Map(Map::from([("tool_calls", calls)])))
            }
            _ => {
                let entries =
                    map.iter().map(|(key, value)| Ok((key.clone(), self.decode(value, None, depth + 1)?)));
                entries.collect::<Result<Map, String>>().map(Value::Map)
            }
        }
    }
}

fn pairs(json: &Json) -> Option<Vec<(&str, &Json)>> {
    json.as_array()?
        .iter()
        .map(|pair| match pair.as_array()?.as_slice() {
            [key, value] => Some((key.as_str()?, value)),
            _ => None,
        })
        .collect()
}

fn description(map: &JsonMap<String, Json>) -> Result<Option<String>, String> {
    match map.get("desc").or_else(|| map.get("description")) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err("`desc` is a text".to_owned()),
    }
}

/// What a constraint of the data form is about.
#[derive(Clone, Copy)]
enum Given {
    Bound(Constraint),
    /// The type: the key without aliases.
    Structure(&'static str),
}

/// The constraints, given as an object or as a list of pairs, in order.
fn constraints(json: Option<&Json>) -> Result<Vec<(Given, &Json)>, String> {
    let entries: Vec<(&str, &Json)> = match json {
        None | Some(Json::Null) => return Ok(Vec::new()),
        Some(Json::Object(map)) => map.iter().map(|(key, value)| (key.as_str(), value)).collect(),
        Some(list) => pairs(list).ok_or("`constraints` is a list of pairs `[name, value]` or an object")?,
    };
    entries.into_iter().map(|(key, value)| Ok((given(key)?, value))).collect()
}

fn given(key: &str) -> Result<Given, String> {
    let bounds = || Constraint::NAMES.iter().map(|(bound, name)| (*name, *bound)).chain(BOUND_ALIASES);
    if let Some((_, bound)) = bounds().find(|(name, _)| *name == key) {
        return Ok(Given::Bound(bound));
    }
    if let Some((_, structure)) = STRUCTURE.iter().find(|(name, _)| *name == key) {
        return Ok(Given::Structure(structure));
    }
    Err(match key {
        // Imp's words.
        "min" => "unknown constraint key :min: use minimum, the JSON Schema name".to_owned(),
        "max" => "unknown constraint key :max: use maximum, the JSON Schema name".to_owned(),
        key => {
            let known: Vec<&str> =
                bounds().map(|(name, _)| name).chain(STRUCTURE.iter().map(|(name, _)| *name)).collect();
            format!("unknown constraint key :{key}: {}", remedy(key, &known))
        }
    })
}

fn no_bound(constraint: Constraint) -> String {
    format!("this type has no bound `{constraint}`: leave it out")
}

/// Refuses the bounds that no value of the field's type could be held to.
fn check_bounds(field: &FieldSpec) -> Result<(), String> {
    for (constraint, _) in &field.constraints {
        if !bears(&field.tree, &field.tree.root, *constraint, 0) {
            return Err(no_bound(*constraint));
        }
    }
    let is_text = bears(&field.tree, &field.tree.root, Constraint::Pattern, 0);
    if field.answer_shape.is_some() && !is_text {
        return Err("this type has no answer shape, which is for a text: leave it out".to_owned());
    }
    Ok(())
}

fn bears(tree: &TypeTree, ty: &Type, constraint: Constraint, depth: usize) -> bool {
    match (&tree.resolve(ty).kind, constraint) {
        (Kind::Any | Kind::Opaque, _)
        | (Kind::Number, Constraint::AllowInfNan)
        | (
            Kind::Integer | Kind::Number,
            Constraint::Gt | Constraint::Ge | Constraint::Lt | Constraint::Le | Constraint::MultipleOf,
        )
        | (
            Kind::String | Kind::Reasoning | Kind::Code { .. },
            Constraint::MinLength | Constraint::MaxLength | Constraint::Pattern,
        )
        | (
            Kind::List { .. } | Kind::Map { .. } | Kind::Object(_),
            Constraint::MinLength | Constraint::MaxLength,
        ) => true,
        (Kind::Union { branches, .. }, _) if depth < DEPTH => {
            branches.iter().any(|branch| bears(tree, branch, constraint, depth + 1))
        }
        _ => false,
    }
}

/// Refuses a default that is no value of its type: the field's own, and those inside the type.
fn check_defaults(field: &FieldSpec) -> Result<(), String> {
    let tree = &field.tree;
    if let Some(default) = &field.default {
        check_value(default, tree, &tree.root, field.checks.as_deref())
            .map_err(|message| format!("the default cannot be: {message}"))?;
    }
    let mut open: Vec<&Type> =
        std::iter::once(&tree.root).chain(tree.defs.iter().map(|(_, ty)| ty)).collect();
    while let Some(ty) = open.pop() {
        match &ty.kind {
            Kind::List { items: Some(inner), .. } | Kind::Map { values: Some(inner), .. } => open.push(inner),
            Kind::Tuple(types) | Kind::Union { branches: types, .. } => open.extend(types),
            Kind::Object(object) => {
                for Property { name, ty, .. } in &object.properties {
                    if let Some(default) = &ty.default {
                        check_value(default, tree, ty, None)
                            .map_err(|message| format!("the default of `{name}` cannot be: {message}"))?;
                    }
                    open.push(ty);
                }
                open.extend(object.additional.as_deref());
            }
            _ => {}
        }
    }
    Ok(())
}

/// Puts a bound into the schema of what it bounds: of an optional type, the type.
fn bind(schema: &mut Json, constraint: Constraint, value: &Value) -> Result<(), String> {
    let Json::Object(map) = schema else { return Err(no_bound(constraint)) };
    if let Some(Json::Array(branches)) = map.get_mut("anyOf") {
        let null = json!({ "type": "null" });
        let mut bound = Err(no_bound(constraint));
        for branch in branches.iter_mut().filter(|branch| **branch != null) {
            bound = bind(branch, constraint, value).or(bound);
        }
        return bound;
    }
    let word = map.get("type").and_then(Json::as_str).unwrap_or("");
    let word = if map.contains_key("enum") { "" } else { word };
    let key = match (constraint, word) {
        (Constraint::Gt, "integer" | "number") => "exclusiveMinimum",
        (Constraint::Ge, "integer" | "number") => "minimum",
        (Constraint::Lt, "integer" | "number") => "exclusiveMaximum",
        (Constraint::Le, "integer" | "number") => "maximum",
        (Constraint::MultipleOf, "integer" | "number") => "multipleOf",
        (Constraint::AllowInfNan, "number") => key::INF_NAN,
        (Constraint::MinLength, "string") => "minLength",
        (Constraint::MaxLength, "string") => "maxLength",
        (Constraint::MinLength, "array") => "minItems",
        (Constraint::MaxLength, "array") => "maxItems",
        (Constraint::MinLength, "object") => "minProperties",
        (Constraint::MaxLength, "object") => "maxProperties",
        (Constraint::Pattern, "string") => "pattern",
        _ => return Err(no_bound(constraint)),
    };
    let value = serde_json::to_value(value)
        .map_err(|_| format!("the bound `{constraint}` has more than 64 bits: give a smaller one"))?;
    map.insert(key.to_owned(), value);
    Ok(())
}

/// `{}` says as much as `true`, which is what schemars writes.
fn any_as_true(schema: Json) -> Json {
    if schema == json!({}) { Json::Bool(true) } else { schema }
}

fn code(language: &str) -> Json {
    json!({ "type": "string", key::KIND: "code", key::LANGUAGE: language })
}

/// A union as Python makes one: flat, every type once; of one type, the type.
fn union(branches: Vec<Json>) -> Result<Json, String> {
    let mut flat: Vec<Json> = Vec::new();
    for branch in branches {
        let inner = match branch {
            Json::Object(mut map) if map.len() == 1 && map.contains_key("anyOf") => match map.remove("anyOf")
            {
                Some(Json::Array(inner)) => inner,
                _ => Vec::new(),
            },
            branch => vec![branch],
        };
        for branch in inner {
            if !flat.contains(&branch) {
                flat.push(branch);
            }
        }
    }
    match flat.len() {
        0 => Err("a union has at least one type".to_owned()),
        1 => Ok(flat.swap_remove(0)),
        _ => Ok(json!({ "anyOf": flat })),
    }
}

fn literal(values: &[Json]) -> Result<Json, String> {
    let members = values;
    for value in members {
        if !(value.is_string() || value.is_i64() || value.is_u64() || value.is_boolean()) {
            return Err(format!("a literal's members are texts, whole numbers and booleans, not {value}"));
        }
    }
    if members.is_empty() {
        return Err("a literal has at least one member".to_owned());
    }
    if let Some(member) = twice(members) {
        return Err(format!("a literal has the member {member} twice: remove one of them"));
    }
    // Without a `type`, which would make whole numbers an integer with members (§3).
    Ok(if members.iter().all(Json::is_string) {
        json!({ "type": "string", "enum": members })
    } else {
        json!({ "enum": members })
    })
}

/// Imp's constraint `enum`: of a string, members of several types; of an integer, integers (§3).
fn members_of(schema: &Json, members: &[Json]) -> Result<Json, String> {
    match schema.get("type").and_then(Json::as_str) {
        Some("string") => literal(members),
        Some(word @ ("integer" | "number" | "boolean")) => {
            let mut schema = literal(members)?;
            if let Json::Object(map) = &mut schema {
                map.insert("type".to_owned(), word.into());
            }
            Ok(schema)
        }
        _ => Err("the constraint `enum` is for texts, numbers and booleans".to_owned()),
    }
}

fn named_enum(name: &str, map: &JsonMap<String, Json>) -> Result<Json, String> {
    check_keys(map, &["name", "members"], "it")?;
    let members = map
        .get("members")
        .and_then(pairs)
        .filter(|members| !members.is_empty())
        .ok_or("an `enum` has `members`, a list of pairs `[name, value]`")?;
    let (names, values): (Vec<&str>, Vec<&Json>) = members.into_iter().unzip();
    let mut known = HashSet::new();
    for (name, value) in names.iter().zip(&values) {
        if !(value.is_string() || value.is_number() || value.is_boolean()) {
            return Err(format!("the value of member `{name}` is a text, a number or a boolean"));
        }
        if !known.insert(name) {
            return Err(format!("two members are called `{name}`"));
        }
    }
    if let Some(value) = twice(values.iter().copied()) {
        return Err(format!("two members have the value {value}: remove one of them"));
    }
    Ok(json!({ "title": name, "enum": values, key::NAMES: names }))
}

fn reference(name: &str) -> String {
    format!("#/$defs/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// The names to which a schema made here refers, in order.
fn references(schema: &Json) -> Vec<String> {
    let mut names = Vec::new();
    let mut open = vec![schema];
    while let Some(json) = open.pop() {
        match json {
            Json::Object(map) => {
                if let Some(target) = map.get("$ref").and_then(Json::as_str) {
                    let name = target.strip_prefix("#/$defs/").unwrap_or(target);
                    names.push(name.replace("~1", "/").replace("~0", "~"));
                }
                open.extend(map.iter().rev().filter(|(key, _)| *key != "default").map(|(_, value)| value));
            }
            Json::Array(items) => open.extend(items.iter().rev()),
            _ => {}
        }
    }
    names
}

/// The data from which [`spec_of`] makes the same signature.
pub(crate) fn json_of(spec: &SignatureSpec) -> Json {
    let side = |fields: &[Arc<FieldSpec>], outputs: bool| -> Json {
        let fields = fields.iter().enumerate();
        fields.map(|(at, field)| field_json(field, outputs && spec.text_field == Some(at))).collect()
    };
    let mut json = json!({
        "name": spec.name,
        "instructions": spec.instructions,
        "inputs": side(&spec.inputs, false),
        "outputs": side(&spec.outputs, true),
    });
    if let (Some(dialect), Json::Object(map)) = (spec.dialect, &mut json) {
        map.insert("dialect".to_owned(), serde_json::to_value(dialect).unwrap_or(Json::Null));
    }
    json
}

fn field_json(field: &FieldSpec, text_field: bool) -> Json {
    let mut map = JsonMap::new();
    map.insert("name".to_owned(), field.name.as_str().into());
    map.insert("type".to_owned(), type_json(field));
    if let Some(description) = &field.description {
        map.insert("desc".to_owned(), description.as_str().into());
    }
    if let Some(default) = &field.default {
        map.insert("default".to_owned(), encode(default));
    }
    if !field.constraints.is_empty() {
        let constraints = field.constraints.iter();
        let constraints: Vec<Json> =
            constraints.map(|(bound, value)| json!([bound.to_string(), encode(value)])).collect();
        map.insert("constraints".to_owned(), constraints.into());
    }
    let shape = field.answer_shape.and_then(|shape| SHAPES.iter().find(|(_, known)| *known == shape));
    if let Some((word, _)) = shape {
        map.insert("answer_shape".to_owned(), (*word).into());
    }
    if !field.aliases.is_empty() {
        map.insert("aliases".to_owned(), field.aliases.as_slice().into());
    }
    if text_field {
        map.insert("text_field".to_owned(), true.into());
    }
    Json::Object(map)
}

/// The field's type in the type language if that says all that its schema says, else the schema.
fn type_json(field: &FieldSpec) -> Json {
    let described = described_type(&field.tree, &field.tree.root, 0);
    let same = described.filter(|ty| {
        let mut types = Types::default();
        types.schema(ty, 0).is_ok_and(|schema| types.root(schema) == field.schema)
    });
    same.unwrap_or_else(|| json!({ "schema": field.schema }))
}

fn described_type(tree: &TypeTree, ty: &Type, depth: usize) -> Option<Json> {
    if depth > DEPTH {
        return None;
    }
    let inner = |ty: &Type| described_type(tree, ty, depth + 1);
    Some(match &ty.kind {
        Kind::Any => json!("any"),
        Kind::Null => json!("null"),
        Kind::String if ty.is_tool() => json!("tool"),
        Kind::String => json!("str"),
        Kind::Integer => json!("int"),
        Kind::Number => json!("float"),
        Kind::Boolean => json!("bool"),
        Kind::DateTime => json!("datetime"),
        Kind::Date => json!("date"),
        Kind::Reasoning => json!("reasoning"),
        Kind::List { .. } if citations::is(&ty.schema) => json!(citations::KIND),
        Kind::History => json!("history"),
        Kind::ToolCalls => json!("tool_calls"),
        Kind::Part(PartKind::Image) => json!("image"),
        Kind::Part(PartKind::Audio) => json!("audio"),
        Kind::Part(PartKind::File) => json!("file"),
        Kind::Code { language } => json!({ "code": language }),
        Kind::Choice(choice) => {
            let members = choice.members.iter();
            match &choice.name {
                Some(name) => {
                    let members: Option<Vec<Json>> = members
                        .map(|member| Some(json!([member.name.as_ref()?, encode(&member.value)])))
                        .collect();
                    json!({ "enum": { "name": name, "members": members? } })
                }
                None => json!({ "literal": members.map(|member| encode(&member.value)).collect::<Vec<_>>() }),
            }
        }
        Kind::List { items: None, .. } if ty.schema.get("items").is_none() => json!("array"),
        Kind::List { items, .. } => match items {
            Some(items) => json!({ "list": inner(items)? }),
            None => json!({ "list": "any" }),
        },
        Kind::Map { values: None, .. } => json!({ "dict": "any" }),
        Kind::Map { values: Some(values), .. } => json!({ "dict": inner(values)? }),
        Kind::Union { branches, .. } => {
            let described = branches.iter().map(inner).collect::<Option<Vec<_>>>()?;
            match described.as_slice() {
                [some, null] if null == "null" => json!({ "optional": some }),
                _ => json!({ "union": described }),
            }
        }
        Kind::Ref(at) => inner(&tree.defs.get(*at)?.1)?,
        Kind::Object(object) => {
            let fields = object.properties.iter().map(|property| {
                let mut map = JsonMap::new();
                map.insert("name".to_owned(), property.name.as_str().into());
                map.insert("type".to_owned(), inner(&property.ty)?);
                if let Some(description) = &property.ty.description {
                    map.insert("desc".to_owned(), description.as_str().into());
                }
                if let Some(default) = &property.ty.default {
                    map.insert("default".to_owned(), encode(default));
                }
                let bounds = bounds(tree.optional(&property.ty).unwrap_or(&property.ty));
                if !bounds.is_empty() {
                    map.insert("constraints".to_owned(), bounds.into());
                }
                Some(Json::Object(map))
            });
            let fields = fields.collect::<Option<Vec<_>>>()?;
            let mut map = JsonMap::new();
            map.insert("name".to_owned(), object.name.as_str().into());
            map.insert("fields".to_owned(), fields.into());
            if let Some(doc) = &ty.description {
                map.insert("doc".to_owned(), doc.as_str().into());
            }
            json!({ "object": map })
        }
        Kind::Tuple(_) | Kind::Opaque => return None,
    })
}

fn bounds(ty: &Type) -> Vec<Json> {
    let Some(checks) = &ty.checks else { return Vec::new() };
    let Checks {
        minimum,
        maximum,
        exclusive_minimum,
        exclusive_maximum,
        multiple_of,
        min_length,
        max_length,
        pattern,
        inf_nan,
        answer_shape: _,
    } = &**checks;
    let number = |bound: &Option<Number>| {
        bound.map(|bound| match bound {
            Number::Int(value) => encode(&Value::Int(value)),
            Number::Float(value) => encode(&Value::Float(value)),
        })
    };
    [
        ("gt", number(exclusive_minimum)),
        ("ge", number(minimum)),
        ("lt", number(exclusive_maximum)),
        ("le", number(maximum)),
        ("multiple_of", number(multiple_of)),
        ("min_length", min_length.map(|length| json!(length))),
        ("max_length", max_length.map(|length| json!(length))),
        ("pattern", pattern.as_ref().map(|pattern| json!(pattern.source))),
        ("allow_inf_nan", inf_nan.map(Json::Bool)),
    ]
    .into_iter()
    .filter_map(|(name, bound)| Some(json!([name, bound?])))
    .collect()
}

/// A value in the encoding of the corpus, which JSON alone cannot carry.
fn encode(value: &Value) -> Json {
    match value {
        // Data is read from text, and a part never is.
        Value::Null | Value::Part(_) => Json::Null,
        Value::Bool(value) => json!(value),
        Value::Int(value) => match i64::try_from(*value) {
            Ok(small) => json!(small),
            Err(_) => json!({ "$int": value.to_string() }),
        },
        Value::Float(value) if value.is_nan() => json!({ "$float": "nan" }),
        Value::Float(value) if value.is_infinite() => {
            json!({ "$float": if *value > 0.0 { "inf" } else { "-inf" } })
        }
        Value::Float(value) => json!(value),
        Value::String(text) => json!(text),
        Value::List(items) => items.iter().map(encode).collect(),
        Value::Map(map) => {
            let entries: Vec<Json> = map.iter().map(|(key, value)| json!([key, encode(value)])).collect();
            json!({ "$map": entries })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::field_list::field_list;
    use crate::dialect::Dialect;

    fn output(field: &Json) -> Result<FieldSpec, SpecError> {
        let spec = spec_of(&json!({ "outputs": [field] }))?;
        Ok(FieldSpec::clone(&spec.outputs[0]))
    }

    #[test]
    fn imps_map_form_has_words() {
        for (field, label, note) in [
            (json!({"type": "code", "language": "elixir"}), "code in elixir", None),
            (
                json!({"type": "string", "constraints": {"enum": ["a,b", "c"]}}),
                "one of: \"a,b\", c",
                Some("must exactly match (no extra characters) one of: \"a,b\"; c"),
            ),
            (json!({"constraints": {"enum": [true, 3, "foo"]}}), "one of: true, 3, foo", None),
            (
                json!({"type": "integer", "constraints": {"enum": [1, 2]}}),
                "integer",
                Some("must be a single integer"),
            ),
            (
                json!({"type": "union", "constraints": {"any_of": [{"type": "str"}, {"type": "array[int]"}]}}),
                "string or list of integers",
                None,
            ),
            (
                json!({"type": "array", "constraints": {"items": {"type": "str", "constraints": {"enum": ["a"]}}}}),
                "list of values, each one of: a",
                Some(
                    r#"must adhere to the JSON schema: {"type": "array", "items": {"type": "string", "enum": ["a"]}}"#,
                ),
            ),
            (json!({"type": "array[union]", "optional": true}), "", None),
            (
                json!({"type": "object"}),
                "object",
                Some(r#"must adhere to the JSON schema: {"type": "object", "additionalProperties": true}"#),
            ),
            (
                json!({"type": "array"}),
                "list",
                Some(r#"must adhere to the JSON schema: {"type": "array", "items": {}}"#),
            ),
            (json!({"type": "datetime", "optional": true}), "ISO 8601 date and time", None),
            (json!({"type": "null"}), "null", None),
            (json!({"type": "any"}), "value", Some("must adhere to the JSON schema: {}")),
            (
                json!({"type": {"list": {"union": ["int", "str"]}}}),
                "list of integers or strings",
                Some(r#"must adhere to the JSON schema: {"type": "array", "items": {"type": "string"}}"#),
            ),
            (
                json!({"type": {"object": {"name": "P", "doc": "A person.", "fields": [
                    {"name": "born", "type": "datetime", "desc": "when"},
                    {"name": "age", "type": {"optional": "int"}, "constraints": [["ge", 0]], "default": null},
                ]}}}),
                "object",
                Some(
                    r#"must adhere to the JSON schema: {"type": "object", "properties": {"born": {"type": "string", "description": "when"}, "age": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}], "default": null}}, "required": ["born"], "description": "A person."}"#,
                ),
            ),
        ] {
            let mut field = field;
            field["name"] = "v".into();
            let Ok(field) = output(&field) else {
                assert_eq!(label, "");
                continue;
            };
            assert_eq!(Dialect::Plain.label(&field.tree), label);
            if note.is_some() {
                assert_eq!(Dialect::Plain.note(&field).as_deref(), note);
            }
        }
    }

    #[test]
    fn faults_name_the_field_and_the_remedy() {
        for (field, error) in [
            (json!({"type": "strng"}), "field `v`: unknown type `strng`: did you mean `string`?"),
            (json!({"typ": "str"}), "field `v`: it has an unknown key `typ`: did you mean `type`?"),
            (json!({"type": {"lst": "str"}}), "field `v`: unknown type `lst`: did you mean `list`?"),
            (
                json!({"type": "int", "constraints": {"min": 1}}),
                "field `v`: unknown constraint key :min: use minimum, the JSON Schema name",
            ),
            (
                json!({"type": "int", "constraints": [["maximun", 1]]}),
                "field `v`: unknown constraint key :maximun: did you mean `maximum`?",
            ),
            (
                json!({"type": "int", "constraints": {"ge": "x"}}),
                "field `v`: the bound `ge` is a number, not a text",
            ),
            (
                json!({"type": {"object": {"name": "O", "fields": [{"name": "f", "type": "bool", "constraints": [["ge", 1]]}]}}}),
                "field `v`: type `O`: field `f`: this type has no bound `ge`: leave it out",
            ),
            (
                json!({"type": {"union": [{"enum": {"name": "E", "members": [["A", 1]]}}, {"enum": {"name": "E", "members": [["A", 2]]}}]}}),
                "field `v`: two different types are called `E`: rename one of them",
            ),
            (
                json!({"type": {"literal": [null]}}),
                "field `v`: a literal's members are texts, whole numbers and booleans, not null",
            ),
            (
                json!({"name": "completed"}),
                "field `completed`: `[[ ## completed ## ]]` is the end marker of a reply: rename the field",
            ),
        ] {
            let mut field = field;
            if field.get("name").is_none() {
                field["name"] = "v".into();
            }
            assert_eq!(output(&field).unwrap_err().to_string(), error);
        }
        let mut deep = json!("str");
        for _ in 0..200 {
            deep = json!({ "list": deep });
        }
        assert!(output(&json!({"name": "v", "type": deep})).unwrap_err().to_string().contains("64 deep"));
    }

    #[test]
    fn a_described_signature_is_data_again() {
        let person = json!({"object": {"name": "Person", "doc": "Who.", "fields": [
            {"name": "name", "type": "str", "desc": "full", "constraints": [["max_length", 9], ["pattern", "^A"]]},
            {"name": "age", "type": {"optional": "int"}, "constraints": [["ge", 0]], "default": null},
            {"name": "color", "type": {"enum": {"name": "Color", "members": [["RED", "red"], ["BLUE", 2]]}}},
        ]}});
        let json = json!({
            "name": "All",
            "instructions": "Do.",
            "dialect": "dspy",
            "inputs": [{"name": "q", "type": "str"}, {"name": "h", "type": "history"}],
            "outputs": [
                {"name": "a", "type": {"list": person}, "desc": "people"},
                {"name": "b", "type": "int", "default": 3, "constraints": [["le", 4], ["ge", 1]]},
                {"name": "c", "type": {"union": [person, {"dict": "any"}, "null"]}},
                {"name": "d", "type": "str", "answer_shape": "yes_no", "aliases": ["dd"], "text_field": true},
                {"name": "e", "type": {"literal": ["a", 1, true]}, "default": "a"},
                {"name": "f", "type": "float", "default": {"$float": "inf"}},
                {"name": "g", "type": {"code": "rust"}},
                {"name": "h2", "type": "array"},
                {"name": "i", "type": {"schema": {"type": "array", "prefixItems": [{"type": "integer"}]}}},
                {"name": "j", "type": "any", "default": {"$map": [["k", {"$int": "99999999999999999999"}]]}},
            ],
        });
        let spec: SignatureSpec = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(&spec).unwrap(), json);
    }

    // The lists and notes of the system messages that the real DSPy made.
    #[test]
    fn words_are_those_of_dspy() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/conformance/dspy-3.4.0/format.json");
        let corpus: Json = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let mut wrong = Vec::new();
        let mut seen = 0;
        for case in corpus["cases"].as_array().unwrap() {
            let messages = &case["expected"]["messages"];
            let (Some(system), true) = (messages[0]["content"].as_str(), case.get("quirk").is_none()) else {
                continue;
            };
            let spec = spec_of(&case["signature"]).unwrap();
            let mut expected = vec![format!(
                "Your input fields are:\n{}\nYour output fields are:\n{}\nAll interactions will",
                field_list(&spec.inputs, Dialect::Dspy, true),
                field_list(&spec.outputs, Dialect::Dspy, true)
            )];
            for field in &spec.outputs {
                expected.push(match Dialect::Dspy.note(field) {
                    Some(note) => {
                        format!("\n{{{}}}        # note: the value you produce {note}\n\n", field.name)
                    }
                    None => format!("\n{{{}}}\n\n", field.name),
                });
                let request = messages.as_array().unwrap().last().unwrap()["content"].as_str();
                if let Some(request) = request.filter(|text| text.contains("\n\nRespond with the")) {
                    let reminder = Dialect::Dspy.reminder(&field.tree);
                    let reminder = reminder.map(|text| format!(" ({text})")).unwrap_or_default();
                    let part = format!("`[[ ## {} ## ]]`{reminder},", field.name);
                    if !request.contains(&part) {
                        wrong.push(format!("{}: {part}\n", case["id"]));
                    }
                }
            }
            expected.push(crate::adapter::instructions::objective_text(&spec.instructions()));
            seen += 1;
            wrong.extend(
                expected
                    .iter()
                    .filter(|part| !system.contains(*part))
                    .map(|part| format!("{}: {part}\n", case["id"])),
            );
        }
        assert!(seen > 200 && wrong.is_empty(), "{seen}, {}: {}", wrong.len(), wrong.concat());
    }
}
