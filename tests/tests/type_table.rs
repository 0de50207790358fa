//! Each row of the type table of DSPy's corpus as derived structs: the bytes of every prompt and the values of
//! every reply are those of the same signature described as data.

use std::collections::BTreeMap;
use std::fmt::Debug;

use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime, Utc};
use imp::{
    Adapter, Chat, Demo, Dialect, Fields, FormatOptions, History, Map, Missing, Reasoning, Reply, Signature,
    SignatureSpec, ToolCall, ToolCalls, ToolResult, Value, read_reply,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// A signature described as data, and where the derived one differs from it.
struct Told {
    spec: SignatureSpec,
    wrong: Vec<String>,
}

impl Told {
    /// The signature of one field: a type, or an object with a `type` and what else a field has.
    fn new(field: &Json) -> Self {
        let field = match field {
            Json::Object(map) if map.contains_key("type") => field.clone(),
            ty => json!({ "type": ty }),
        };
        let named = |name: &str| {
            let mut field = field.clone();
            field["name"] = name.into();
            field
        };
        let note = json!({ "name": "note", "type": { "optional": "str" }, "default": null });
        let spec = SignatureSpec::from_json(&json!({
            "name": "Ask",
            "instructions": "Do it.",
            "inputs": [{ "name": "q", "desc": "What to do." }, named("v")],
            "outputs": [named("w"), note],
        }));
        Told { spec: spec.unwrap_or_else(|error| panic!("{field}: {error}")), wrong: Vec::new() }
    }

    fn same<T: PartialEq + Debug>(&mut self, what: &str, typed: &T, told: &T) {
        if typed != told {
            self.wrong.push(format!("{what}\n   typed {typed:?}\n    told {told:?}"));
        }
    }

    /// Everything that is written with a value.
    fn writes<I>(&mut self, pair: impl Fn() -> (I, I::Output), value: Value)
    where
        I: Signature<Output: Send + Sync + 'static> + Send + Sync + 'static,
        I::Output: Serialize + imp::OutputSignature,
    {
        let typed = I::spec().expect("a signature");
        let told = self.spec.clone();
        let fields = Fields::from([
            ("q", Value::from("What?")),
            ("v", value.clone()),
            ("w", value),
            ("note", Value::from("n")),
        ]);
        for adapter in adapters() {
            let name = format!("{} {:?}", adapter.name(), adapter.dialect());
            let (inputs, outputs) = pair();
            let options = |demo| FormatOptions::new().demo(demo);
            let bytes = |spec: &SignatureSpec, inputs: &dyn imp::Record, outputs: &dyn imp::Record, demo| {
                let messages = adapter.finetune_messages(spec, inputs, outputs, &options(demo));
                let messages = messages.map_err(|error| error.to_string())?;
                let mut texts: Vec<_> =
                    messages.iter().map(|message| (message.role, message.text().into_owned())).collect();
                let request = adapter.request(spec, inputs, &FormatOptions::new());
                let request = request.map_err(|error| error.to_string())?;
                texts.extend(request.map(|message| (message.role, message.text().into_owned())));
                Ok::<_, String>(texts)
            };
            let (demo_in, demo_out) = pair();
            let ours = bytes(typed, &inputs, &outputs, Demo::new(demo_in, demo_out));
            let theirs = bytes(&told, &fields, &fields, Demo::from_fields(fields.clone()));
            match (ours, theirs) {
                (Ok(ours), Ok(theirs)) => {
                    self.same(&format!("{name} length"), &ours.len(), &theirs.len());
                    for (ours, theirs) in ours.iter().zip(&theirs) {
                        self.same(&name, ours, theirs);
                    }
                }
                (ours, theirs) => self.same(&name, &ours, &theirs),
            }
            // What was written is read back as the same value by both.
            if let Ok(reply) = adapter.assistant_content(typed, &outputs, Missing::LeaveOut) {
                self.reads_with::<I::Output>(&*adapter, &reply);
            }
        }
    }

    /// What a reply is read as.
    fn reads<O: imp::OutputSignature + Serialize>(&mut self, text: &str) {
        let mut reply = text.to_owned();
        if !text.contains("[[ ## ") {
            reply = format!("[[ ## w ## ]]\n{text}\n\n[[ ## completed ## ]]");
        }
        for dialect in [Dialect::Plain, Dialect::Dspy] {
            self.reads_with::<O>(&Chat::new().dialect(dialect), &reply);
        }
    }

    fn reads_with<O: imp::OutputSignature + Serialize>(&mut self, adapter: &dyn Adapter, reply: &str) {
        let spec = O::output_spec().expect("a signature");
        let typed = read_reply::<O, _>(adapter, spec, Reply::Text(reply));
        let told = read_reply::<Fields, _>(adapter, &self.spec, Reply::Text(reply));
        // By way of text, which integers of 128 bits survive.
        let typed = typed.map(|outputs| serde_json::to_string(&outputs).expect("data"));
        let told = told.map(|fields| serde_json::to_string(&fields).expect("data"));
        let is_same = match (&typed, &told) {
            (Ok(typed), Ok(told)) if typed == told => true,
            (Ok(typed), Ok(told)) => {
                let json = |text: &str| serde_json::from_str::<Json>(text).expect("what was written");
                same_value(&json(typed), &json(told))
            }
            (Err(typed), Err(told)) => typed.kind() == told.kind(),
            _ => false,
        };
        if !is_same {
            let show = |read: &Result<String, imp::ParseError>| match read {
                Ok(json) => json.clone(),
                Err(error) => error.to_string().replace('\n', " "),
            };
            self.wrong.push(format!(
                "{} {:?} reads {reply:?}\n   typed {}\n    told {}",
                adapter.name(),
                adapter.dialect(),
                show(&typed),
                show(&told)
            ));
        }
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        let is_same = self.wrong.is_empty() || std::thread::panicking();
        assert!(is_same, "{} differences\n{}", self.wrong.len(), self.wrong.join("\n"));
    }
}

fn adapters() -> Vec<Box<dyn Adapter>> {
    let mut adapters: Vec<Box<dyn Adapter>> = Vec::new();
    for dialect in [Dialect::Plain, Dialect::Dspy] {
        adapters.push(Box::new(Chat::new().dialect(dialect)));
        adapters.push(Box::new(imp::Json::new().dialect(dialect)));
        adapters.push(Box::new(imp::Xml::new().dialect(dialect)));
    }
    adapters
}

/// Whether two values are one: a time may be spelt in several ways.
fn same_value(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b))
        }
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same_value(a, b)))
        }
        (Json::String(a), Json::String(b)) if a != b => {
            let aware = |text: &str| DateTime::parse_from_rfc3339(text).ok();
            let naive = |text: &str| text.parse::<NaiveDateTime>().ok();
            (aware(a).is_some() && aware(a) == aware(b)) || (naive(a).is_some() && naive(a) == naive(b))
        }
        (a, b) => a == b,
    }
}

/// Each line is a test with a signature of its own: the attributes and the type of a field, the same field as
/// data, values with the same as data, and the texts of replies.
macro_rules! rows {
    ($($name:ident: $(#[$attr:meta])* $ty:ty = $field:expr,
        [$($value:expr => $data:expr),* $(,)?], [$($reply:expr),* $(,)?];)*) => {$(
        #[test]
        fn $name() {
            #[derive(Signature)]
            #[signature(output = Answer, instructions = "Do it.")]
            struct Ask {
                /// What to do.
                q: String,
                $(#[$attr])*
                v: $ty,
            }
            #[derive(Signature, Serialize)]
            struct Answer {
                $(#[$attr])*
                w: $ty,
                #[field(default)]
                note: Option<String>,
            }
            let mut told = Told::new(&$field);
            $(
                let value = || -> $ty { $value };
                let pair = || {
                    (Ask { q: "What?".to_owned(), v: value() }, Answer { w: value(), note: Some("n".to_owned()) })
                };
                told.writes::<Ask>(pair, Value::from($data));
            )*
            $(told.reads::<Answer>($reply);)*
        }
    )*};
}

/// An enum of values that are no texts. One with a name is called by it, as Python's `Enum` is; others are
/// literals.
macro_rules! valued {
    ($name:ident $(as $names:expr)?, { $($member:ident = $value:expr),* $(,)? }) => {
        #[derive(Debug, Clone, Copy, PartialEq)]
        enum $name { $($member),* }

        impl $name {
            const ALL: &'static [$name] = &[$($name::$member),*];

            fn value(self) -> Value {
                match self { $($name::$member => $value.into()),* }
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.value().serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = Value::deserialize(deserializer)?;
                let found = $name::ALL.iter().find(|member| member.value() == value);
                found.copied().ok_or_else(|| serde::de::Error::custom("no member has this value"))
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let members: Vec<Value> = $name::ALL.iter().map(|member| member.value()).collect();
                #[allow(unused_mut, reason = "not every enum has names")]
                let mut schema = schemars::json_schema!({ "enum": members });
                $(schema.insert("x-imp-names".to_owned(), json!($names));)?
                schema
            }
        }
    };
}

rows! {
    str_bare: String = json!("str"),
        ["a b".to_owned() => json!("a b"), String::new() => json!(""), " é\n[[ ## w ## ]]\n\"q\" ".to_owned() => json!(" é\n[[ ## w ## ]]\n\"q\" ")],
        ["x", "  null ", "\"quoted\"", "{\"a\": 1}", "", "[[ ## note ## ]]\nn"];
    str_bounded: #[field(desc = "short", min_length = 2, max_length = 5, pattern = "^[a-z]+$", default = "none")] String
        = json!({ "type": "str", "desc": "short", "default": "none", "constraints": [["min_length", 2], ["max_length", 5], ["pattern", "^[a-z]+$"]] }),
        ["abc".to_owned() => json!("abc")],
        ["a", "abc", "abcdef", "ABC", "[[ ## note ## ]]\nn"];

    int_bare: i64 = json!("int"),
        [-7 => json!(-7), i64::MAX => json!(i64::MAX)],
        ["42", " +7 ", "3.0", "3.5", "1e3", "\"5\"", "'5'", "true", "4 2", ""];
    int_wide: i128 = json!("int"), [1 << 80 => 1i128 << 80], ["1208925819614629174706176", "-5", "five"];
    int_bounded: #[field(ge = 1, lt = 10, multiple_of = 3)] u8
        = json!({ "type": "int", "constraints": [["ge", 1], ["lt", 10], ["multiple_of", 3]] }),
        [3 => json!(3)], ["0", "3", "4", "9", "12", "6.0"];

    float_bare: f64 = json!("float"),
        [1.0 => json!(1.0), 1e16 => json!(1e16), 1e-5 => json!(1e-5), -0.5 => json!(-0.5), 0.1 => json!(0.1)],
        ["1", "1.5", "1e-3", "\"2.5\"", "nan", "inf", "1.", "85%", "1,5"];
    float_infinite: #[field(allow_inf_nan = true, gt = 0)] f64
        = json!({ "type": "float", "constraints": [["allow_inf_nan", true], ["gt", 0]] }),
        [f64::INFINITY => f64::INFINITY, 2.5 => json!(2.5)], ["2", "0", "-1.5", "x"];

    bool_bare: bool = json!("bool"), [true => json!(true), false => json!(false)],
        ["true", "False", "YES", "no", "1", "0", "\"true\"", "t", "2", "maybe"];
    bool_defaulted: #[field(default = true)] bool = json!({ "type": "bool", "default": true }),
        [false => json!(false)], ["false", "[[ ## note ## ]]\nn"];

    datetime_chrono_offset: DateTime<FixedOffset> = json!("datetime"),
        ["2024-01-02T03:04:05+05:30".parse().unwrap() => json!("2024-01-02T03:04:05+05:30"),
         "2024-01-02T03:04:05.120Z".parse().unwrap() => json!("2024-01-02T03:04:05.120Z")],
        ["2024-01-02T03:04:05Z", "2024-01-02T03:04:05.5+02:00", "2024-01-02 03:04:05+00:00", "soon", "2024-02-30T00:00:00Z"];
    datetime_chrono_utc: DateTime<Utc> = json!("datetime"),
        ["2024-01-02T03:04:05Z".parse().unwrap() => json!("2024-01-02T03:04:05Z")],
        ["2024-01-02T03:04:05Z", "2024-01-02T03:04:05+02:00", "soon"];
    datetime_chrono_naive: NaiveDateTime = json!("datetime"),
        ["2024-01-02T03:04:05".parse().unwrap() => json!("2024-01-02T03:04:05"),
         "2024-01-02T03:04:05.000001".parse().unwrap() => json!("2024-01-02T03:04:05.000001")],
        ["2024-01-02T03:04:05", " 2024-01-02T03:04:05.25", "noon"];
    datetime_jiff: jiff::Timestamp = json!("datetime"),
        ["2024-01-02T03:04:05Z".parse().unwrap() => json!("2024-01-02T03:04:05Z"),
         "2024-01-02T03:04:05.25Z".parse().unwrap() => json!("2024-01-02T03:04:05.25Z")],
        ["2024-01-02T03:04:05Z", "2024-01-02T03:04:05+02:00", "soon"];
    datetime_jiff_civil: jiff::civil::DateTime = json!("datetime"),
        ["2024-01-02T03:04:05".parse().unwrap() => json!("2024-01-02T03:04:05")],
        ["2024-01-02T03:04:05", "2024-01-02T03:04:05.5", "noon"];
    datetime_list: Vec<DateTime<Utc>> = json!({ "list": "datetime" }),
        [vec!["2024-01-02T03:04:05Z".parse().unwrap()] => json!(["2024-01-02T03:04:05Z"])],
        ["[\"2024-01-02T03:04:05Z\", \"2024-01-02T03:04:05.5+01:00\"]", "[]", "[1]"];

    date_chrono: NaiveDate = json!("date"), ["2024-02-29".parse().unwrap() => json!("2024-02-29")],
        ["2024-02-29", " 2024-12-01 ", "2023-02-29", "today"];
    date_jiff: #[field(desc = "the day")] jiff::civil::Date = json!({ "type": "date", "desc": "the day" }),
        ["2024-02-29".parse().unwrap() => json!("2024-02-29")], ["2024-02-29", "2024-13-01", "today"];
    date_optional: Option<NaiveDate> = json!({ "optional": "date" }),
        [None => json!(null), "2024-02-29".parse().ok() => json!("2024-02-29")], ["null", "2024-02-29", "x"];

    any_json: Json = json!("any"),
        [json!({ "b": [1, 2.5, null], "a": "x" }) => json!({ "b": [1, 2.5, null], "a": "x" }), json!("42") => json!("42"),
         json!(3) => json!(3), json!(true) => json!(true), json!("plain") => json!("plain")],
        ["42", "\"42\"", "prose", "{\"a\": [1]}", "null", "[1, 2"];
    any_value: #[field(desc = "whatever")] Value = json!({ "type": "any", "desc": "whatever" }),
        [Value::Int(1 << 80) => 1i128 << 80, Value::from("x") => json!("x"), Value::from(json!([1.0])) => json!([1.0])],
        ["1.50", "True", "{'a': None}", "text\nover lines"];
    any_list: Vec<Json> = json!({ "list": "any" }), [vec![json!(1), json!({ "k": [] })] => json!([1, { "k": [] }])],
        ["[1, \"a\", {\"b\": null}]", "1"];

    reasoning_bare: Reasoning = json!("reasoning"), ["because\nof it".into() => json!("because\nof it")],
        ["so", "\"all quoted\"", "{\"content\": \"zz\"}", "null", ""];
    reasoning_described: #[field(desc = "step by step", default = Reasoning::from("none"))] Reasoning
        = json!({ "type": "reasoning", "desc": "step by step", "default": "none" }),
        ["1. [[ ## w ## ]]".into() => json!("1. [[ ## w ## ]]")], ["so\n\nthen", "[[ ## note ## ]]\nn"];

    optional_str: Option<String> = json!({ "optional": "str" }),
        [None => json!(null), Some("x".to_owned()) => json!("x"), Some("null".to_owned()) => json!("null")],
        ["null", "None", "x", "\"null\"", "", "[[ ## note ## ]]\nn"];
    optional_int: #[field(default, ge = 0)] Option<u32> = json!({ "type": { "optional": "int" }, "default": null, "constraints": [["ge", 0]] }),
        [None => json!(null), Some(5) => json!(5)], ["null", "None", "5", "-5", "x", "[[ ## note ## ]]\nn"];
    optional_list: Option<Vec<bool>> = json!({ "optional": { "list": "bool" } }),
        [None => json!(null), Some(vec![true]) => json!([true])], ["[true, false]", "null", "true"];

    list_str: Vec<String> = json!({ "list": "str" }),
        [vec!["a".to_owned(), "é\n".to_owned()] => json!(["a", "é\n"]), vec![] => json!([])],
        ["[\"a\", 'b']", "[]", "a, b", "[1]", "[\"a\""];
    list_nested: #[field(min_length = 1)] Vec<Vec<f64>> = json!({ "type": { "list": { "list": "float" } }, "constraints": [["min_length", 1]] }),
        [vec![vec![1.0, 2.5], vec![]] => json!([[1.0, 2.5], []])], ["[[1, 2.5]]", "[]", "[[\"x\"]]", "[1]"];

    dict_int: BTreeMap<String, i64> = json!({ "dict": "int" }),
        [BTreeMap::from([("a".to_owned(), 1), ("b c".to_owned(), 2)]) => json!({ "a": 1, "b c": 2 }), BTreeMap::new() => json!({})],
        ["{\"b\": 1, \"a\": 2}", "{}", "[1]", "{\"a\": \"x\"}"];
    dict_any: Map = json!({ "dict": "any" }),
        [Map::from([("z", Value::Int(1)), ("a", Value::Null)]) => json!({ "z": 1, "a": null })], ["{\"z\": [1], \"a\": {}}", "x"];
    dict_of_lists: BTreeMap<String, Vec<Option<String>>> = json!({ "dict": { "list": { "optional": "str" } } }),
        [BTreeMap::from([("k".to_owned(), vec![None, Some("x".to_owned())])]) => json!({ "k": [null, "x"] })], ["{\"k\": [null, \"x\"]}"];
}

// What the typed reader does not read as the described one does.
rows! {
    date_quoted: NaiveDate = json!("date"), [], ["\"2024-02-29\"", "'2024-02-29'"];
    datetime_quoted: DateTime<Utc> = json!("datetime"), [], ["\"2024-01-02T03:04:05Z\"", "'2024-01-02T03:04:05Z'"];
    enum_str_by_name: Color = color(), [], ["GREEN", "\"RED\"", "'GREEN'"];
    enum_int_by_name: Option<Priority> = json!({ "optional": priority() }), [], ["HIGH", "\"LOW\""];
    literal_wrapped: Level = json!({ "literal": [1, 22] }), [], ["Literal[1]", "Literal['22']"];
    literal_mixed_text: Mixed = json!({ "literal": ["auto", 2, true] }), [Mixed::Auto => json!("auto")], ["auto", "'auto'", "Literal[auto]"];
    union_optional_scalar: Option<Scalar> = json!({ "optional": { "union": ["int", "float", "bool", "datetime", "str"] } }),
        [Some(Scalar::Int(1)) => json!(1)], ["1", "\"1\"", "true"];
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Team {
    Atlas,
    HarborMaster,
    #[serde(rename = "it's")]
    Third,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
enum Only {
    #[serde(rename = "only \"one\"")]
    One,
}

valued!(Level, { Low = 1, High = 22 });
valued!(Flag, { On = true, Off = false });
valued!(Mixed, { Auto = "auto", Two = 2, Yes = true });

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(extend("x-imp-names" = ["RED", "GREEN"]))]
enum Color {
    Red,
    Green,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-imp-names" = ["N", "S"]))]
enum Wind {
    #[serde(rename = "north wind")]
    North,
    #[serde(rename = "S")]
    South,
}

valued!(Priority as ["LOW", "HIGH"], { Low = 1, High = 2 });
valued!(Ratio as ["HALF", "WHOLE"], { Half = 0.5, Whole = 1.0 });

fn team() -> Json {
    json!({ "literal": ["atlas", "harbor_master", "it's"] })
}

fn color() -> Json {
    json!({ "enum": { "name": "Color", "members": [["RED", "red"], ["GREEN", "green"]] } })
}

fn priority() -> Json {
    json!({ "enum": { "name": "Priority", "members": [["LOW", 1], ["HIGH", 2]] } })
}

rows! {
    literal_str: Team = team(), [Team::HarborMaster => json!("harbor_master"), Team::Third => json!("it's")],
        ["atlas", "\"atlas\"", "Literal['atlas']", " it's ", "Atlas", "x"];
    literal_one: #[field(desc = "always the same")] Only = json!({ "type": { "literal": ["only \"one\""] }, "desc": "always the same" }),
        [Only::One => json!("only \"one\"")], ["only \"one\"", "one"];
    literal_list: Vec<Team> = json!({ "list": team() }), [vec![Team::Atlas] => json!(["atlas"])],
        ["[\"atlas\", \"it's\"]", "[\"x\"]", "atlas"];
    literal_int: Level = json!({ "literal": [1, 22] }), [Level::High => json!(22)],
        ["22", "\"1\"", "'22'", "2", "1.0", "x"];
    literal_int_optional: Option<Level> = json!({ "optional": { "literal": [1, 22] } }), [None => json!(null), Some(Level::Low) => json!(1)],
        ["1", "null", "3"];
    literal_bool: Flag = json!({ "literal": [true, false] }), [Flag::On => json!(true), Flag::Off => json!(false)],
        ["true", "False", "\"true\"", "yes", "1"];
    literal_bool_list: Vec<Flag> = json!({ "list": { "literal": [true, false] } }), [vec![Flag::On] => json!([true])], ["[true, false]", "[1]"];
    literal_mixed: Mixed = json!({ "literal": ["auto", 2, true] }),
        [Mixed::Two => json!(2), Mixed::Yes => json!(true)],
        ["2", "True", "\"2\"", "x"];
    literal_mixed_dict: BTreeMap<String, Mixed> = json!({ "dict": { "literal": ["auto", 2, true] } }),
        [BTreeMap::from([("k".to_owned(), Mixed::Two)]) => json!({ "k": 2 })], ["{\"k\": \"auto\", \"l\": true}", "{\"k\": false}"];

    enum_str: Color = color(), [Color::Green => json!("green")], ["red", "\"red\"", "Red", "x"];
    enum_str_value_before_name: Wind
        = json!({ "enum": { "name": "Wind", "members": [["N", "north wind"], ["S", "S"]] } }),
        [Wind::North => json!("north wind"), Wind::South => json!("S")], ["S", "north wind", "'north wind'"];
    enum_str_list: Vec<Option<Color>> = json!({ "list": { "optional": color() } }), [vec![Some(Color::Red), None] => json!(["red", null])],
        ["[\"red\", null]", "[\"RED\"]"];
    enum_int: Priority = priority(), [Priority::High => json!(2)], ["1", "\"2\"", "3", "x"];
    enum_int_optional: #[field(default)] Option<Priority> = json!({ "type": { "optional": priority() }, "default": null }),
        [Some(Priority::Low) => json!(1), None => json!(null)], ["2", "null", "[[ ## note ## ]]\nn"];
    enum_int_dict: BTreeMap<String, Priority> = json!({ "dict": priority() }), [BTreeMap::from([("k".to_owned(), Priority::Low)]) => json!({ "k": 1 })],
        ["{\"k\": 2}", "{\"k\": 3}"];
    enum_float: Ratio = json!({ "enum": { "name": "Ratio", "members": [["HALF", 0.5], ["WHOLE", 1.0]] } }),
        [Ratio::Half => json!(0.5), Ratio::Whole => json!(1.0)], ["0.5", "1.0", "1", "2"];
    enum_float_list: Vec<Ratio> = json!({ "list": { "enum": { "name": "Ratio", "members": [["HALF", 0.5], ["WHOLE", 1.0]] } } }),
        [vec![Ratio::Whole] => json!([1.0])], ["[0.5, 1.0]", "[2]"];
}

/// A line of an invoice.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct LineItem {
    /// Stock keeping unit
    #[schemars(length(min = 1, max = 9), regex(pattern = "^[A-Z]"))]
    sku: String,
    #[schemars(range(min = 1, max = 99), extend("multipleOf" = 3))]
    quantity: u32,
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1e6))]
    unit_price: f64,
    #[serde(default)]
    note: Option<String>,
    #[serde(default = "two")]
    copies: i64,
}

fn two() -> i64 {
    2
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Customer {
    name: String,
    /// first
    /// second
    born: NaiveDate,
    color: Priority,
}

/// All of it.
///
/// In two paragraphs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Invoice {
    customer: Customer,
    #[schemars(length(min = 1))]
    items: Vec<LineItem>,
    /// The best one
    #[serde(default)]
    best: Option<LineItem>,
    by_name: BTreeMap<String, Vec<Customer>>,
    sent_at: DateTime<Utc>,
    #[serde(rename = "type")]
    kind: Mixed,
    extra: Json,
    amount: Amount,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Amount {
    Count(i64),
    Line(LineItem),
    Text(String),
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Circle {
    radius: f64,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Square {
    side: f64,
    #[serde(default)]
    at: Vec<Circle>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Shape {
    Circle(Circle),
    Square(Square),
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Scalar {
    Int(i64),
    Float(f64),
    Bool(bool),
    When(DateTime<Utc>),
    Text(String),
}

fn line_item() -> Json {
    json!({ "object": { "name": "LineItem", "doc": "A line of an invoice.", "fields": [
        { "name": "sku", "type": "str", "desc": "Stock keeping unit",
          "constraints": [["min_length", 1], ["max_length", 9], ["pattern", "^[A-Z]"]] },
        { "name": "quantity", "type": "int", "constraints": [["ge", 1], ["le", 99], ["multiple_of", 3]] },
        { "name": "unit_price", "type": "float", "constraints": [["gt", 0], ["lt", 1e6]] },
        { "name": "note", "type": { "optional": "str" }, "default": null },
        { "name": "copies", "type": "int", "default": 2 },
    ] } })
}

fn customer() -> Json {
    json!({ "object": { "name": "Customer", "fields": [
        { "name": "name", "type": "str" },
        { "name": "born", "type": "date", "desc": "first\nsecond" },
        { "name": "color", "type": priority() },
    ] } })
}

fn invoice() -> Json {
    json!({ "object": { "name": "Invoice", "doc": "All of it.\n\nIn two paragraphs.", "fields": [
        { "name": "customer", "type": customer() },
        { "name": "items", "type": { "list": line_item() }, "constraints": [["min_length", 1]] },
        { "name": "best", "type": { "optional": line_item() }, "desc": "The best one", "default": null },
        { "name": "by_name", "type": { "dict": { "list": customer() } } },
        { "name": "sent_at", "type": "datetime" },
        { "name": "type", "type": { "literal": ["auto", 2, true] } },
        { "name": "extra", "type": "any" },
        { "name": "amount", "type": { "union": ["int", line_item(), "str"] } },
    ] } })
}

fn an_item() -> LineItem {
    LineItem { sku: "A1".into(), quantity: 3, unit_price: 2.0, note: None, copies: 2 }
}

fn an_item_as_data() -> Json {
    json!({ "sku": "A1", "quantity": 3, "unit_price": 2.0 })
}

fn a_customer() -> Customer {
    Customer { name: "Ä".into(), born: "1999-12-31".parse().unwrap(), color: Priority::Low }
}

fn a_customer_as_data() -> Json {
    json!({ "name": "Ä", "born": "1999-12-31", "color": 1 })
}

fn an_invoice() -> Invoice {
    Invoice {
        customer: a_customer(),
        items: vec![an_item()],
        best: None,
        by_name: BTreeMap::from([("Ä".to_owned(), vec![a_customer()])]),
        sent_at: "2024-01-02T03:04:05Z".parse().unwrap(),
        kind: Mixed::Yes,
        extra: json!({ "k": [1.0] }),
        amount: Amount::Line(an_item()),
    }
}

fn an_invoice_as_data() -> Json {
    json!({
        "customer": a_customer_as_data(), "items": [an_item_as_data()], "by_name": { "Ä": [a_customer_as_data()] },
        "sent_at": "2024-01-02T03:04:05Z", "type": true, "extra": { "k": [1.0] }, "amount": an_item_as_data(),
    })
}

fn shapes() -> Json {
    let circle = json!({ "object": { "name": "Circle", "fields": [{ "name": "radius", "type": "float" }] } });
    let square = json!({ "object": { "name": "Square", "fields": [
        { "name": "side", "type": "float" }, { "name": "at", "type": { "list": circle }, "default": [] },
    ] } });
    json!({ "union": [circle, square] })
}

rows! {
    object_flat: LineItem = line_item(), [an_item() => an_item_as_data()],
        ["{\"sku\": \"A\", \"quantity\": 6, \"unit_price\": 1}", "{\"sku\": \"a\", \"quantity\": 6, \"unit_price\": 1}",
         "{\"quantity\": 4, \"sku\": \"A\", \"unit_price\": 1}", "{\"sku\": \"A\"}", "{\"sku\": \"A\", \"quantity\": 6, \"unit_price\": 0}",
         "{\"unit_price\": 1.5, \"sku\": \"A\", \"note\": \"n\", \"copies\": 3, \"quantity\": 3, \"more\": 1}", "A", "[]"];
    object_described: #[field(desc = "the line", default)] Option<LineItem> = json!({ "type": { "optional": line_item() }, "desc": "the line", "default": null }),
        [Some(an_item()) => an_item_as_data(), None => json!(null)], ["null", "{}", "[[ ## note ## ]]\nn"];
    object_nested: Invoice = invoice(), [an_invoice() => an_invoice_as_data()],
        [&an_invoice_as_data().to_string(), "{\"customer\": {}}"];
    object_list: Vec<Customer> = json!({ "list": customer() }), [vec![a_customer()] => json!([a_customer_as_data()])],
        ["[{\"name\": \"x\", \"born\": \"2000-01-01\", \"color\": 2}]", "[{\"name\": \"x\", \"born\": \"2000-01-01\", \"color\": 3}]", "{}"];
    object_dict: BTreeMap<String, Invoice> = json!({ "dict": invoice() }),
        [BTreeMap::from([("i".to_owned(), an_invoice())]) => json!({ "i": an_invoice_as_data() })], ["{}", "{\"i\": 1}"];

    union_scalars: Scalar = json!({ "union": ["int", "float", "bool", "datetime", "str"] }),
        [Scalar::Int(1) => json!(1), Scalar::Float(1.5) => json!(1.5), Scalar::Bool(true) => json!(true),
         Scalar::Text("x".into()) => json!("x"), Scalar::When("2024-01-02T03:04:05Z".parse().unwrap()) => json!("2024-01-02T03:04:05Z")],
        ["1", "1.5", "true", "2024-01-02T03:04:05Z", "prose", "\"1\""];
    union_optional: Option<Scalar> = json!({ "optional": { "union": ["int", "float", "bool", "datetime", "str"] } }),
        [None => json!(null), Some(Scalar::Text("a".into())) => json!("a")], ["null", "x"];
    union_mixed: Amount = json!({ "union": ["int", line_item(), "str"] }),
        [Amount::Count(3) => json!(3), Amount::Line(an_item()) => an_item_as_data(), Amount::Text("x y".into()) => json!("x y")],
        ["3", "{\"sku\": \"A\", \"quantity\": 3, \"unit_price\": 1}", "some text", "3.5", "{\"sku\": 1}"];
    union_objects: Shape = shapes(),
        [Shape::Circle(Circle { radius: 1.0 }) => json!({ "radius": 1.0 }), Shape::Square(Square { side: 2.0, at: vec![] }) => json!({ "side": 2.0 })],
        ["{\"radius\": 1}", "{\"side\": 2, \"at\": [{\"radius\": 3}]}", "{\"edge\": 1}", "1"];
    union_list: Vec<Option<Shape>> = json!({ "list": { "optional": shapes() } }),
        [vec![None, Some(Shape::Circle(Circle { radius: 0.5 }))] => json!([null, { "radius": 0.5 }])], ["[{\"side\": 2}, null]", "[1]"];

    history_bare: History = json!("history"),
        [[[("question", "a"), ("answer", "b")]].into_iter().collect() => json!([{ "question": "a", "answer": "b" }]), History::new() => json!([])],
        ["{\"messages\": [{\"q\": \"x\", \"n\": [1]}]}"];
    history_given_as_dspy_has_it: #[field(desc = "so far")] History = json!({ "type": "history", "desc": "so far" }),
        [[Map::from([("z", Value::Int(1)), ("a", Value::Null)])].into_iter().collect() => json!({ "messages": [{ "z": 1, "a": null }] })], [];

    tool_calls_bare: ToolCalls = json!("tool_calls"),
        [calls() => calls_as_data(), ToolCalls::default() => json!({ "tool_calls": [] })],
        ["{\"tool_calls\": [{\"name\": \"s\", \"args\": {\"q\": \"x\"}}]}", "[{\"name\": \"s\", \"args\": {}}]", "{\"name\": \"s\", \"arguments\": \"{\\\"a\\\": 1}\"}",
         "{'tool_calls': [{'id': 'c', 'name': 's', 'args': {'x': True}}]}", "{\"tool_calls\": [{\"id\": \"\", \"name\": \"s\"}]}", "{\"tool_calls\": 1}", "search", "[]",
         "{\"tool_calls\": [{\"function\": {\"name\": \"f\", \"arguments\": \"{}\"}, \"call_id\": \"c\"}]}"];
    tool_calls_run: #[field(desc = "what to run")] ToolCalls = json!({ "type": "tool_calls", "desc": "what to run" }),
        [run() => calls_as_data()],
        ["{\"tool_calls\": [{\"id\": \"c\", \"name\": \"s\", \"args\": {}}], \"tool_call_results\": [{\"call_id\": \"c\", \"name\": \"s\", \"value\": [1], \"is_error\": true}]}"];
}

fn calls() -> ToolCalls {
    let call = |id: &str, name: &str, args: Json| match Value::from(args) {
        Value::Map(args) => ToolCall::new(id, name, args),
        other => panic!("no arguments: {other:?}"),
    };
    ToolCalls::from(vec![
        call("c1", "search", json!({ "q": "é", "n": 1.0 })),
        call("", "sum", json!({ "xs": [1, 2] })),
    ])
}

fn run() -> ToolCalls {
    let mut calls = calls();
    calls.results = Some(vec![ToolResult::new("c1", "search", "cats")]);
    calls
}

fn calls_as_data() -> Json {
    json!({ "tool_calls": [
        { "name": "search", "args": { "q": "é", "n": 1.0 } }, { "name": "sum", "args": { "xs": [1, 2] } },
    ] })
}

/// What prompts leave out is in the data.
#[test]
fn tool_calls_and_histories_survive_as_data() {
    let written = serde_json::to_value(run()).unwrap();
    assert_eq!(written["tool_calls"][0]["id"], "c1");
    assert_eq!(written["tool_call_results"][0]["value"], "cats");
    assert_eq!(serde_json::from_value::<ToolCalls>(written).unwrap(), run());
    let history: History = [[("q", 1)]].into_iter().collect();
    assert_eq!(serde_json::from_value::<History>(json!([{ "q": 1 }])).unwrap(), history);
    assert_eq!(serde_json::from_value::<History>(serde_json::to_value(&history).unwrap()).unwrap(), history);
    for wrong in [json!({}), json!([1]), json!({ "messages": 1 }), json!("x")] {
        assert!(serde_json::from_value::<History>(wrong).is_err());
    }
}
