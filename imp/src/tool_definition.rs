//! What a model is told of a tool.

use std::fmt;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value as Json, json};

use crate::types::{check_depth, key};
use crate::value::Value;

/// The most characters that a tool's name may have (OpenAI's and Anthropic's limit).
const NAME_LENGTH: usize = 64;

/// What a model is told of a tool: its name, what it does, and the JSON Schema of its arguments.
///
/// A [`Tool`](crate::Tool) has one; a request carries a list of them. It has no function, so it can stand
/// for a tool that somebody else runs. Clones share the schema.
///
/// As data it is `{"name", "description", "parameters"}`; OpenAI's form
/// `{"type": "function", "function": {…}}` is read too.
///
/// ```
/// use imp::ToolDefinition;
/// use serde_json::json;
///
/// let schema = json!({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]});
/// let search = ToolDefinition::new("search", "Search the web.", schema)?;
/// assert_eq!(search.name(), "search");
/// assert!(ToolDefinition::new("web search", "", json!({})).is_err());
/// # Ok::<(), imp::ToolDefinitionError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    name: Arc<str>,
    description: Arc<str>,
    parameters: Arc<Json>,
}

impl ToolDefinition {
    /// A definition. A schema without anything in it stands for a tool without parameters.
    ///
    /// # Errors
    ///
    /// The name is not what providers take (`^[a-zA-Z0-9_-]{1,64}$`), or the schema is no object or is nested
    /// too deeply.
    pub fn new(
        name: impl Into<Arc<str>>,
        description: impl Into<Arc<str>>,
        parameters: Json,
    ) -> Result<Self, ToolDefinitionError> {
        let name = name.into();
        check_name(&name)?;
        let wrong = |what: &str| ToolDefinitionError(format!("tool `{name}`: {what}"));
        check_depth(&parameters, "the schema of the arguments").map_err(|error| wrong(&error))?;
        let parameters = match parameters {
            Json::Object(map) if map.is_empty() => no_parameters(),
            Json::Object(_) => parameters,
            _ => {
                return Err(wrong(
                    "the schema of the arguments is a JSON object, as `{\"type\": \"object\"}`",
                ));
            }
        };
        Ok(ToolDefinition { name, description: description.into(), parameters: Arc::new(parameters) })
    }

    /// One that says of itself, where it is used, that something is wrong with it.
    pub(crate) fn unchecked(name: Arc<str>, description: Arc<str>) -> Self {
        ToolDefinition { name, description, parameters: Arc::new(no_parameters()) }
    }

    /// The name by which the model calls the tool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the tool does, in the words that the model reads; empty if nothing is said.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The JSON Schema of the arguments: an object.
    pub fn parameters(&self) -> &Json {
        &self.parameters
    }

    /// The tool in words, for a model that cannot call tools (Imp §14.3).
    ///
    /// ```
    /// use imp::ToolDefinition;
    /// use serde_json::json;
    ///
    /// let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]});
    /// let search = ToolDefinition::new("search", "Search\nthe web.", schema)?;
    /// assert_eq!(
    ///     search.listing(),
    ///     "search, whose description is <desc>Search  the web.</desc>. \
    ///      It takes arguments {\"properties\":{\"q\":{\"type\":\"string\"}},\"required\":[\"q\"]}.",
    /// );
    /// # Ok::<(), imp::ToolDefinitionError>(())
    /// ```
    pub fn listing(&self) -> String {
        // In this order, and no other key: the type of the arguments is always an object.
        let mut shown = serde_json::Map::new();
        shown.insert(
            "properties".to_owned(),
            self.parameters.get("properties").cloned().unwrap_or_else(|| json!({})),
        );
        for key in ["required", "$defs"] {
            if let Some(value) = self.parameters.get(key) {
                shown.insert(key.to_owned(), value.clone());
            }
        }
        self.listing_with(&Json::Object(shown).to_string())
    }

    /// The tool in words, with its arguments as they are written.
    pub(crate) fn listing_with(&self, arguments: &str) -> String {
        if self.description.is_empty() {
            return format!("{}. It takes arguments {arguments}.", self.name);
        }
        let description = self.description.replace('\n', "  ");
        format!(
            "{}, whose description is <desc>{description}</desc>. It takes arguments {arguments}.",
            self.name
        )
    }
}

fn no_parameters() -> Json {
    json!({ "type": "object", "properties": {} })
}

/// Whether providers take the name of a tool: letters, digits, `_` and `-`, at most 64 (servers refuse
/// others with status 400).
pub(crate) fn is_name(name: &str) -> bool {
    (1..=NAME_LENGTH).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

fn check_name(name: &str) -> Result<(), ToolDefinitionError> {
    if is_name(name) {
        return Ok(());
    }
    let what = if name.is_empty() {
        "it is empty".to_owned()
    } else if name.len() > NAME_LENGTH {
        format!("it has {} bytes, and at most {NAME_LENGTH} are allowed", name.len())
    } else {
        let bad = name.chars().find(|c| !c.is_ascii_alphanumeric() && *c != '_' && *c != '-');
        format!("`{}` is in it", bad.unwrap_or_default().escape_debug())
    };
    Err(ToolDefinitionError(format!(
        "`{}` cannot be the name of a tool, since {what}: use letters, digits, `_` and `-`",
        name.escape_debug()
    )))
}

/// A tool that cannot be offered to a model: a name that providers refuse, or arguments without a schema
/// of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDefinitionError(String);

impl ToolDefinitionError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        ToolDefinitionError(message.into())
    }
}

impl fmt::Display for ToolDefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ToolDefinitionError {}

#[derive(Serialize, Deserialize)]
struct Data {
    name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    parameters: Option<Json>,
}

impl Serialize for ToolDefinition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let data = Data {
            name: self.name.to_string(),
            description: Some(self.description.to_string()),
            parameters: Some(Json::clone(&self.parameters)),
        };
        data.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolDefinition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut json = Json::deserialize(deserializer)?;
        if let Some(function) = json.get_mut("function") {
            json = function.take();
        }
        let Data { name, description, parameters } =
            serde_json::from_value(json).map_err(D::Error::custom)?;
        let parameters = parameters.filter(|schema| !schema.is_null()).unwrap_or_else(no_parameters);
        ToolDefinition::new(name, description.unwrap_or_default(), parameters).map_err(D::Error::custom)
    }
}

/// What a field that holds a tool says of its type.
pub(crate) fn schema() -> Json {
    json!({ "type": "string", key::KIND: "tool" })
}

/// The definition that a value is, if it is one.
pub(crate) fn read(value: &Value) -> Option<ToolDefinition> {
    let Value::Map(_) = value else { return None };
    serde_json::from_value(serde_json::to_value(value).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_providers_take() {
        let long = "x".repeat(65);
        for (name, holds) in [
            ("search", true),
            ("Search_2-b", true),
            (&long[1..], true),
            (&long, false),
            ("", false),
            ("web search", false),
            ("a.b", false),
            ("größe", false),
        ] {
            assert_eq!(ToolDefinition::new(name, "", json!({})).is_ok(), holds, "{name}");
        }
        let error = ToolDefinition::new("a b", "", json!({})).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`a b` cannot be the name of a tool, since ` ` is in it: use letters, digits, `_` and `-`"
        );
    }

    #[test]
    fn a_definition_is_read_in_both_forms() {
        let flat =
            json!({"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}});
        let definition: ToolDefinition = serde_json::from_value(flat.clone()).unwrap();
        assert_eq!(serde_json::to_value(&definition).unwrap(), flat);
        let nested = json!({"type": "function", "function": {"name": "f", "description": "d"}});
        assert_eq!(serde_json::from_value::<ToolDefinition>(nested).unwrap(), definition);
        for wrong in [json!({"name": "a b"}), json!({}), json!("f"), json!({"name": "f", "parameters": [1]})]
        {
            assert!(serde_json::from_value::<ToolDefinition>(wrong).is_err());
        }
    }

    #[test]
    fn the_listing_says_what_is_required() {
        let schema = json!({
            "$defs": {"R": {"type": "string"}},
            "type": "object",
            "properties": {"sku": {"type": "string"}, "region": {"$ref": "#/$defs/R"}},
            "required": ["sku", "region"],
        });
        let listed = |description: &str, schema: Json| {
            ToolDefinition::new("search", description, schema).unwrap().listing()
        };
        assert_eq!(
            listed("Find\nit", schema),
            "search, whose description is <desc>Find  it</desc>. It takes arguments \
             {\"properties\":{\"sku\":{\"type\":\"string\"},\"region\":{\"$ref\":\"#/$defs/R\"}},\
             \"required\":[\"sku\",\"region\"],\"$defs\":{\"R\":{\"type\":\"string\"}}}."
        );
        assert_eq!(listed("", json!({})), "search. It takes arguments {\"properties\":{}}.");
    }
}
