//! Law 6 where it was broken: what an answer says is read back, or is refused before it is shown.

use imp::{
    Adapter, Chat, Dialect, Fields, FormatError, FormatOptions, Json, Missing, Signature, SignatureSpec,
    Value, Xml,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Padded {
    #[serde(rename = " x ")]
    Both,
    #[serde(rename = "x")]
    Bare,
}

#[derive(Signature)]
#[signature(output = Out)]
struct Ask {
    q: String,
}

#[derive(Debug, PartialEq, Signature)]
struct Out {
    padded: Padded,
    any: serde_json::Value,
    #[field(allow_inf_nan)]
    free: f64,
}

#[test]
fn typed_answers_come_back() {
    for any in [json!(null), json!("null"), json!({"a": null})] {
        for padded in [Padded::Both, Padded::Bare] {
            let out = Out { padded, any: any.clone(), free: f64::NEG_INFINITY };
            let spec = <Ask as Signature>::spec().expect("a signature");
            let (json, chat) = (Json::new(), Chat::new());
            let text = json.assistant_content(spec, &out, Missing::LeaveOut).unwrap();
            assert_eq!(
                json.parse::<Out>(&text).unwrap_or_else(|error| panic!("{error}\n{text}")),
                out,
                "{text}"
            );
            let text = chat.assistant_content(spec, &out, Missing::LeaveOut).unwrap();
            assert_eq!(
                chat.parse::<Out>(&text).unwrap_or_else(|error| panic!("{error}\n{text}")),
                out,
                "{text}"
            );
        }
    }
}

#[test]
fn described_answers_come_back() {
    let spec = SignatureSpec::from_json(&json!({ "outputs": [
        {"name": "padded", "type": {"literal": [" x ", "x"]}},
        {"name": "any", "type": "any"},
        {"name": "free", "type": "float", "constraints": {"allow_inf_nan": true}},
    ]}))
    .unwrap();
    for padded in [" x ", "x"] {
        let fields =
            Fields::new().with("padded", padded).with("any", Value::Null).with("free", f64::INFINITY);
        let text = Json::new().assistant_content(&spec, &fields, Missing::LeaveOut).unwrap();
        assert_eq!(Json::new().read_fields(&spec, &text).unwrap(), fields, "{text}");
    }
    let only = SignatureSpec::from_json(&json!({"outputs": [{"name": "any", "type": "any"}]})).unwrap();
    let read = Json::new().read_fields(&only, r#"{"any": null}"#).unwrap();
    assert_eq!(read, Fields::new().with("any", Value::Null));
    let optional = SignatureSpec::parse("q -> a").unwrap();
    assert!(Json::new().read_fields(&optional, r#"{"a": null}"#).is_err());
}

#[test]
fn what_could_not_be_read_back_is_refused() {
    let spec = SignatureSpec::from_json(&json!({
        "inputs": [{"name": "x", "type": "float"}],
        "outputs": [{"name": "n", "type": "float"}, {"name": "list", "type": {"list": "float"}}],
    }))
    .unwrap();
    let good = Fields::new().with("n", 1.5).with("list", vec![Value::from(0.5)]);
    let bad = [good.clone().with("n", f64::NAN), good.clone().with("list", vec![Value::from(f64::INFINITY)])];
    let inputs = Fields::new().with("x", f64::INFINITY);
    let plain: [&dyn Adapter; 3] = [&Chat::new(), &Json::new(), &Xml::new()];
    let (chat, dspy, xml) = (
        Chat::new().dialect(Dialect::Dspy),
        Json::new().dialect(Dialect::Dspy),
        Xml::new().dialect(Dialect::Dspy),
    );
    for adapter in plain {
        for outputs in &bad {
            let error = adapter.assistant_content(&spec, outputs, Missing::LeaveOut).unwrap_err();
            assert!(matches!(&error, FormatError::Value { .. }), "{}: {error:?}", adapter.name());
            assert!(error.to_string().contains("not finite"), "{error}");
        }
        assert!(adapter.assistant_content(&spec, &good, Missing::LeaveOut).is_ok(), "{}", adapter.name());
        assert!(adapter.messages(&spec, &inputs, &FormatOptions::new()).is_ok(), "{}", adapter.name());
    }
    let dspys: [&dyn Adapter; 3] = [&chat, &dspy, &xml];
    for adapter in dspys {
        for outputs in &bad {
            assert!(
                adapter.assistant_content(&spec, outputs, Missing::LeaveOut).is_ok(),
                "{}",
                adapter.name()
            );
        }
    }
}
