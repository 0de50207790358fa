//! Shorthands of the tests of the plain dialect: a signature as a line or as data, values as JSON.
//!
//! They panic where a test's own data is wrong.

use std::fmt::Write as _;

use imp::{
    Adapter as _, Chat, Demo, Fields, FormatOptions, Message, Missing, ParseError, SignatureSpec, Value,
};
use serde_json::Value as Json;

/// The signature that a line describes.
///
/// # Panics
///
/// The line is no signature.
pub fn line(text: &str) -> SignatureSpec {
    SignatureSpec::parse(text).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// The signature that data describes.
///
/// # Panics
///
/// The data are no signature.
pub fn data(json: &Json) -> SignatureSpec {
    SignatureSpec::from_json(json).unwrap_or_else(|error| panic!("{json}\n{error}"))
}

/// A signature `q -> x` whose output is the field `x`: a type, or a whole field without its name.
pub fn output(field: &Json) -> SignatureSpec {
    let mut field = match field {
        Json::Object(map) if map.contains_key("type") => field.clone(),
        ty => serde_json::json!({ "type": ty }),
    };
    field["name"] = "x".into();
    data(&serde_json::json!({ "inputs": [{ "name": "q" }], "outputs": [field] }))
}

/// Values by name.
///
/// # Panics
///
/// The JSON is no object.
pub fn fields(json: &Json) -> Fields {
    match Value::from(json.clone()) {
        Value::Map(map) => map.into(),
        other => panic!("not an object: {other:?}"),
    }
}

/// Values by name as JSON, to be compared.
///
/// # Panics
///
/// Never for values that JSON has.
pub fn json(fields: &Fields) -> Json {
    serde_json::to_value(fields).unwrap_or_else(|error| panic!("{fields:?}\n{error}"))
}

/// A demo of values by name.
pub fn demo(json: &Json) -> Demo {
    Demo::from_fields(fields(json))
}

/// The system message.
pub fn system(spec: &SignatureSpec) -> String {
    Chat::new().system(spec).into_string()
}

/// All messages of a request.
///
/// # Panics
///
/// The values cannot be formatted.
pub fn messages(spec: &SignatureSpec, inputs: &Json, options: &FormatOptions) -> Vec<Message> {
    Chat::new()
        .messages(spec, &fields(inputs), options)
        .unwrap_or_else(|error| panic!("{spec:?}\n{inputs}\n{error}"))
}

/// The last message of a request without options.
///
/// # Panics
///
/// As for [`messages`].
pub fn request(spec: &SignatureSpec, inputs: &Json) -> String {
    messages(spec, inputs, &FormatOptions::new())
        .last()
        .map_or_else(String::new, |last| last.text().into_owned())
}

/// The sections of the inputs, without the sentence that says how to answer.
///
/// # Panics
///
/// The values cannot be written.
pub fn user(spec: &SignatureSpec, inputs: &Json) -> String {
    Chat::new()
        .user_content(spec, &fields(inputs), "", "")
        .unwrap_or_else(|error| panic!("{spec:?}\n{inputs}\n{error}"))
        .text()
        .into_owned()
}

/// An assistant's message with these outputs.
///
/// # Panics
///
/// The values cannot be written.
pub fn assistant(spec: &SignatureSpec, outputs: &Json) -> String {
    Chat::new()
        .assistant_content(spec, &fields(outputs), Missing::LeaveOut)
        .unwrap_or_else(|error| panic!("{spec:?}\n{outputs}\n{error}"))
}

/// The text of one value of an input of the type `ty`.
///
/// # Panics
///
/// As for [`user`].
pub fn written(ty: &Json, value: &Json) -> String {
    let spec = data(&serde_json::json!({
        "inputs": [{ "name": "x", "type": ty }],
        "outputs": [{ "name": "y" }],
    }));
    let text = user(&spec, &serde_json::json!({ "x": value }));
    text.strip_prefix("[[ ## x ## ]]\n").unwrap_or_else(|| panic!("no section: {text:?}")).to_owned()
}

/// What the text of a reply says.
///
/// # Errors
///
/// The parse error.
pub fn read(spec: &SignatureSpec, reply: &str) -> Result<Json, ParseError> {
    Chat::new().read_fields(spec, reply).map(|fields| json(&fields))
}

/// What a reply that is a JSON value says.
///
/// # Errors
///
/// The parse error.
pub fn read_json(spec: &SignatureSpec, reply: Json) -> Result<Json, ParseError> {
    Chat::new().read_fields(spec, reply).map(|fields| json(&fields))
}

/// What the section `[[ ## x ## ]]` with this text says of the output `x`.
///
/// # Errors
///
/// The parse error.
pub fn read_x(spec: &SignatureSpec, text: &str) -> Result<Json, ParseError> {
    let reply = format!("[[ ## x ## ]]\n{text}\n\n[[ ## completed ## ]]");
    read(spec, &reply).map(|mut outputs| outputs["x"].take())
}

/// The same signature with an input `history` that holds a conversation.
///
/// # Panics
///
/// It has an input of that name already.
pub fn with_history(spec: &SignatureSpec) -> SignatureSpec {
    let mut json = serde_json::to_value(spec).unwrap_or_else(|error| panic!("{error}"));
    json["instructions"] = spec.instructions().into();
    if let Some(inputs) = json["inputs"].as_array_mut() {
        inputs.push(serde_json::json!({ "name": "history", "type": "history" }));
    }
    data(&json)
}

/// Messages as lines that say who says what: `assistant<bot>: text + name(arguments)#id`.
pub fn transcript(messages: &[Message]) -> Vec<String> {
    messages
        .iter()
        .map(|message| {
            let mut line = message.role.as_str().to_owned();
            if let Some(name) = &message.name {
                let _ = write!(line, "<{name}>");
            }
            if let Some(id) = &message.tool_call_id {
                let _ = write!(line, "#{id}");
            }
            let _ = write!(line, ": {}", message.text());
            for call in &message.tool_calls {
                let arguments = serde_json::to_string(&call.arguments).unwrap_or_default();
                let _ = write!(line, " + {}({arguments})#{}", call.name, call.id);
            }
            line
        })
        .collect()
}
