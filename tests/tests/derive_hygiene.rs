//! The derive among hostile names, strict lints and odd names.

use imp::Describe;

/// The names that a signature's prompt has.
fn names<S: Describe>() -> Vec<&'static str> {
    S::META.fields.iter().map(|field| field.name).collect()
}

/// What the standard names mean to others.
mod hostile_names {
    #![allow(
        dead_code,
        non_camel_case_types,
        non_upper_case_globals,
        unused_macros,
        clippy::struct_field_names
    )]

    mod core {}
    mod std {}
    mod serde {}
    mod schemars {}
    mod imp {}
    type Result<T> = ::std::result::Result<T, ()>;
    struct Option;
    struct String;
    struct Vec;
    struct Box;
    struct Default;
    struct Some;
    struct str;
    struct usize;
    struct bool;
    struct Field;
    struct Signature;
    trait Clone {}
    trait Debug {}
    trait Record {}
    macro_rules! vec {
        () => {};
    }
    macro_rules! concat {
        () => {};
    }
    macro_rules! panic {
        () => {};
    }
    // Each is the name of a local in the expansion.
    const all: u8 = 0;
    const absent: u8 = 0;
    const f: u8 = 0;
    const index: u8 = 0;
    const missing: u8 = 0;
    const out: u8 = 0;
    const reader: u8 = 0;
    const whole: u8 = 0;
    const question: u8 = 0;

    /// Takes every method that the expansion calls.
    trait Grabby {
        fn or_else(self) -> Self;
        fn value(self) -> Self;
        fn shown(&self) -> u8;
        fn bound(&self) -> u8;
        fn ok_or(self) -> Self;
        fn is_none(&self) -> u8;
    }
    impl<T> Grabby for T {
        fn or_else(self) -> Self {
            self
        }
        fn value(self) -> Self {
            self
        }
        fn shown(&self) -> u8 {
            0
        }
        fn bound(&self) -> u8 {
            0
        }
        fn ok_or(self) -> Self {
            self
        }
        fn is_none(&self) -> u8 {
            0
        }
    }

    /// Answers.
    #[derive(::imp::Signature)]
    #[signature(output = Answer)]
    pub(super) struct Ask<'a> {
        /// The question.
        pub(super) question: &'a ::core::primitive::str,
        #[field(default = "none", max_length = 10)]
        pub(super) context: ::std::string::String,
    }

    #[derive(::imp::Signature)]
    pub(super) struct Answer {
        pub(super) answer: ::std::string::String,
        pub(super) also: ::core::option::Option<::std::string::String>,
        #[field(default, min = 0)]
        pub(super) score: f64,
    }
}

#[test]
fn hostile_names() {
    use hostile_names::{Answer, AnswerPartial, Ask, AskPartial};

    assert_eq!(names::<Ask<'_>>(), ["question", "context"]);
    assert_eq!(names::<Answer>(), ["answer", "also", "score"]);
    let ask = AskPartial { question: Some("?"), ..Default::default() }.complete();
    assert_eq!(ask.map(|ask| (ask.question, ask.context)), Ok(("?", "none".to_owned())));
    let answer = AnswerPartial { answer: Some("!".to_owned()), ..Default::default() }.complete();
    assert_eq!(
        answer.map(|answer| (answer.answer, answer.also, answer.score)),
        Ok(("!".to_owned(), None, 0.0))
    );
}

#[no_implicit_prelude]
mod no_prelude {
    #![deny(warnings)]

    #[derive(::imp::Signature)]
    #[signature(output = Answer, instructions = "Answer.", dialect = dspy)]
    pub(crate) struct Ask<T: ::serde::Serialize + ::schemars::JsonSchema> {
        pub(crate) about: T,
        #[field(default)]
        pub(crate) hints: ::std::vec::Vec<T>,
    }

    #[derive(::imp::Signature)]
    pub(crate) struct Answer {
        #[field(pattern = "^.", desc = "the answer", text_field)]
        pub(crate) answer: ::std::string::String,
    }
}

#[test]
fn no_implicit_prelude() {
    let partial = no_prelude::AskPartial { about: Some(7_u8), ..Default::default() };
    let ask = partial.complete().map(|ask| (ask.about, ask.hints));
    assert_eq!(ask, Ok((7, Vec::new())));
    let missing = no_prelude::AskPartial::<u8>::default().complete().err();
    assert_eq!(
        missing.map(|missing| missing.to_string()).unwrap_or_default(),
        "these fields have no value and no default: about"
    );
    let missing = no_prelude::AnswerPartial::default().complete().err();
    assert_eq!(missing.as_ref().map(imp::MissingFields::names), Some(&["answer"][..]));
}

/// Under these, what is generated must be documented, `Debug`, and as visible as the struct.
pub mod lints {
    #![deny(
        warnings,
        missing_docs,
        missing_debug_implementations,
        missing_copy_implementations,
        unreachable_pub,
        unused_qualifications,
        unused_results,
        unused_lifetimes,
        single_use_lifetimes,
        elided_lifetimes_in_paths,
        trivial_casts,
        trivial_numeric_casts,
        variant_size_differences,
        non_camel_case_types,
        non_snake_case,
        dead_code,
        clippy::all,
        clippy::pedantic
    )]

    use imp::Signature;

    const MOST: u8 = 4;

    /// Asks.
    #[derive(Debug, Signature)]
    #[signature(output = Answer)]
    pub struct Ask<'a> {
        /// The question.
        pub question: &'a str,
        pub(crate) context: Vec<String>,
        pub(in crate::lints) note: Option<String>,
        rest: u8,
    }

    /// Answers.
    #[derive(Debug, Signature)]
    pub struct Answer {
        /// The answer.
        #[field(default = "free", min_length = 1)]
        pub answer: String,
        #[field(max = MOST)]
        pub(crate) level: Option<u8>,
        private: Hidden,
    }

    #[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    struct Hidden(bool);

    #[derive(Signature)]
    struct Unused {
        one: String,
    }

    /// Uses what would be dead without the derive.
    #[must_use]
    pub fn all(ask: &Ask<'_>, answer: &Answer) -> String {
        let unused = Unused { one: String::new() };
        format!(
            "{} {:?} {:?} {} {} {}",
            ask.context.len(),
            ask.note,
            answer.level,
            ask.rest,
            answer.private.0,
            unused.one
        )
    }
}

#[test]
fn lints() {
    assert_eq!(lints::Ask::FIELDS.question.name(), "question");
    assert_eq!(lints::Ask::FIELDS.context.index(), 1);
    let shown = format!("{:?}", lints::AskPartial::default());
    assert_eq!(shown, "AskPartial { question: None, context: None, note: None, rest: None }");
}

mod raw_identifiers {
    #![allow(non_camel_case_types)]

    #[derive(imp::Signature)]
    #[signature(output = r#enum)]
    pub(super) struct r#struct {
        pub(super) r#match: String,
    }

    #[derive(imp::Signature)]
    pub(super) struct r#enum {
        pub(super) r#type: String,
        pub(super) r#fn: Option<String>,
    }
}

#[test]
fn raw_identifiers() {
    use raw_identifiers::{r#enum, enumPartial, r#struct, structFields};

    let structFields { r#match, .. } = r#struct::FIELDS;
    assert_eq!(r#match.name(), "match");
    assert_eq!(names::<r#enum>(), ["type", "fn"]);
    assert_eq!(<r#struct as Describe>::META.name, "struct");
    let shown = format!("{:?}", enumPartial { r#type: Some("x".to_owned()), ..Default::default() });
    assert_eq!(shown, "enumPartial { type: Some(\"x\"), fn: None }");
    let whole = r#enum { r#type: "a".to_owned(), r#fn: None };
    assert_eq!((whole.r#type, whole.r#fn), ("a".to_owned(), None));
    assert_eq!(r#struct { r#match: String::new() }.r#match, "");
}

#[test]
fn inside_a_function() {
    #[derive(imp::Signature)]
    #[signature(output = Answer)]
    struct Ask<'a> {
        question: &'a str,
    }

    #[derive(imp::Signature)]
    struct Answer {
        answer: Local,
    }

    #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    struct Local(u8);

    assert_eq!(Ask::FIELDS.question.name(), "question");
    assert_eq!(AskPartial { question: Some("?") }.complete().map(|ask| ask.question), Ok("?"));
    let shown = format!("{:?}", AnswerPartial { answer: Some(Local(1)) });
    // `Local` has no `Debug`, and nothing asks for it.
    assert_eq!(shown, "AnswerPartial { answer: Some(_) }");
    assert_eq!(AnswerPartial { answer: Some(Local(1)) }.complete().map(|answer| answer.answer.0), Ok(1));
}

mod deep {
    pub(crate) mod er {
        #[derive(imp::Signature)]
        #[allow(dead_code, reason = "only its visibility matters")]
        pub(in crate::deep) struct Inner {
            pub(in crate::deep) near: String,
            pub(crate) far: String,
            pub(self) here: String,
        }
    }

    pub(crate) fn names() -> [&'static str; 2] {
        [er::Inner::FIELDS.near.name(), er::Inner::FIELDS.far.name()]
    }

    pub(crate) fn whole() -> bool {
        er::InnerPartial::default().complete().is_ok()
    }
}

#[test]
fn restricted_visibility() {
    assert_eq!(deep::names(), ["near", "far"]);
    assert!(!deep::whole());
}

/// A struct made by a macro: its types, names and attributes come as fragments in invisible groups.
macro_rules! signature {
    (
        $(#[$meta:meta])* $vis:vis struct $name:ident -> $output:ty {
            $($(#[$inner:meta])* $field:ident: $ty:ty = $default:expr, $max:literal),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(imp::Signature)]
        #[signature(output = $output)]
        $vis struct $name {
            $($(#[$inner])* #[field(default = $default, max_length = $max)] $field: $ty,)*
        }
    };
}

macro_rules! renamed {
    ($name:ident, $doc:expr, $rename:literal, $ty:ty, $path:path, $min:expr) => {
        #[derive(imp::Signature)]
        #[signature(crate = $path)]
        struct $name {
            #[doc = $doc]
            #[field(rename = $rename, default = "atlas")]
            team: $ty,
            #[field(min = $min)]
            level: u8,
        }
    };
}

const LEAST: u8 = 1;

signature! {
    /// Made by a macro.
    struct Made -> Renamed {
        /// The text.
        text: String = "none", 100,
        parts: Vec<&'static str> = vec!["a", "b"], 2,
    }
}

renamed!(Renamed, concat!("The ", "squad."), "squad", String, ::imp, LEAST);

#[test]
fn made_by_a_macro() {
    let made = MadePartial::default().complete().map(|made| (made.text, made.parts));
    assert_eq!(made, Ok(("none".to_owned(), vec!["a", "b"])));
    assert_eq!(<Made as Describe>::META.docs, " Made by a macro.\n");
    assert_eq!(names::<Renamed>(), ["squad", "level"]);
    assert_eq!(<Renamed as Describe>::META.fields[0].docs, "The squad.\n");
    let renamed = RenamedPartial { level: Some(2), ..Default::default() }.complete();
    assert_eq!(renamed.map(|renamed| (renamed.team, renamed.level)), Ok(("atlas".to_owned(), 2)));
}

/// `#[tool]` among hostile names: what it writes means the same everywhere.
mod hostile_tool {
    #![allow(dead_code, non_camel_case_types, non_upper_case_globals)]
    #![deny(missing_docs, unused_qualifications, unreachable_pub, clippy::pedantic)]

    mod core {}
    mod std {}
    mod serde {}
    mod schemars {}
    mod imp {}
    type Result<T> = ::std::result::Result<T, ()>;
    struct String;
    struct Box;
    struct Arc;
    const this: u8 = 0;
    const arguments: u8 = 0;

    /// A type that is called like one of the expansion's.
    #[derive(::serde::Deserialize, ::schemars::JsonSchema)]
    #[schemars(crate = "::schemars")]
    pub(super) struct Arguments {
        pub(super) count: u8,
    }

    /// Counts.
    #[::imp::tool]
    pub(super) async fn count(name: ::std::string::String, r#type: Arguments) -> ::std::string::String {
        format!("{name} {}", r#type.count)
    }

    pub(super) struct Counter;

    impl Counter {
        /// Counts too.
        #[::imp::tool]
        pub(super) async fn clone(&self, arguments_: u8) -> u8 {
            arguments_
        }
    }
}

#[tokio::test]
async fn a_tool_among_hostile_names() {
    let nested = imp::Map::from([("count", 3)]);
    let arguments = imp::Map::from([("name", imp::Value::from("x")), ("type", nested.into())]);
    assert_eq!(hostile_tool::count_tool().call(&arguments).await, Ok("x 3".into()));
    let tool = std::sync::Arc::new(hostile_tool::Counter).clone_tool();
    assert_eq!(tool.call(&imp::Map::from([("arguments_", 3)])).await, Ok(3.into()));
}
