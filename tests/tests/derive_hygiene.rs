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

/// Fields and structs that are called what the expansion, or what it calls, might be called.
mod odd_names {
    #![allow(non_camel_case_types, non_snake_case, dead_code)]

    #[derive(Debug, PartialEq, imp::Signature)]
    #[signature(output = Option)]
    pub(super) struct Result<S, D, T, const N: usize, const M: bool>
    where
        S: serde::Serialize + schemars::JsonSchema,
    {
        pub(super) self_: S,
        pub(super) this: D,
        pub(super) out: T,
        pub(super) writer: ::std::string::String,
        pub(super) __serializer: ::std::vec::Vec<T>,
        pub(super) __imp: u8,
        pub(super) __all: u8,
        pub(super) __out: u8,
        pub(super) __index: u8,
        pub(super) __f: u8,
        pub(super) sized: [u8; N],
    }

    #[derive(Debug, PartialEq, imp::Signature)]
    pub(super) struct Option {
        pub(super) Ok: ::std::string::String,
        pub(super) None: ::core::option::Option<u8>,
        pub(super) Some: u8,
        #[field(default)]
        pub(super) Default: bool,
        pub(super) complete: u8,
        pub(super) default: u8,
        pub(super) FIELDS: u8,
        pub(super) Self_: u8,
        pub(super) read: u8,
        pub(super) write: u8,
        pub(super) spec: u8,
        pub(super) META: u8,
        pub(super) __reader: u8,
        pub(super) __whole: u8,
        pub(super) __missing: u8,
        pub(super) __absent: u8,
        pub(super) __Output: u8,
        pub(super) r#async: u8,
        pub(super) r#dyn: u8,
    }

    #[derive(imp::Signature)]
    #[signature(output = Vec)]
    pub(super) struct String<'__a, 'b: '__a> {
        pub(super) a: &'__a str,
        #[field(max_length = 4)]
        pub(super) b: &'b [&'__a str],
    }

    #[derive(imp::Signature)]
    pub(super) struct Vec {
        #[field(min = -1, max = 1, default = 0)]
        pub(super) a_: i8,
    }

    #[derive(imp::Signature)]
    #[signature(output = Field, partial = Partial_, fields = Fields_)]
    pub(super) struct Signature {
        pub(super) x: u8,
    }

    #[derive(imp::Signature)]
    pub(super) struct Field {
        pub(super) y: u8,
    }
}

#[test]
fn odd_names() {
    use odd_names::{
        Field, FieldPartial, Option as Answer, Result as Ask, Signature, String as Text, Vec as List,
    };

    type Asked = Ask<u8, bool, char, 2, true>;
    assert_eq!(names::<Asked>()[..5], ["self_", "this", "out", "writer", "__serializer"]);
    assert_eq!(names::<Answer>()[..3], ["Ok", "None", "Some"]);
    assert_eq!(names::<Answer>()[17..], ["async", "dyn"]);
    assert_eq!(names::<Text<'_, '_>>(), ["a", "b"]);
    let ask: Asked = Ask {
        self_: 1,
        this: true,
        out: 'c',
        writer: String::new(),
        __serializer: vec!['x'],
        __imp: 1,
        __all: 2,
        __out: 3,
        __index: 4,
        __f: 5,
        sized: [7, 8],
    };
    let messages = imp::Chat::new().format(&ask).map(|messages| messages[1].text().into_owned());
    let user = messages.unwrap_or_default();
    assert!(user.contains("[[ ## out ## ]]\nc\n") && user.contains("[[ ## sized ## ]]\n[7, 8]\n"), "{user}");
    let sections = names::<Answer>().into_iter().filter(|name| !["None", "Default", "Ok"].contains(name));
    let reply = sections.map(|name| format!("[[ ## {name} ## ]]\n1\n\n")).collect::<Vec<_>>().concat();
    let answer = imp::Chat::new().parse::<Answer>(&*format!("[[ ## Ok ## ]]\nyes\n\n{reply}"));
    let answer = answer.map(|answer| (answer.Ok, answer.None, answer.Default, answer.r#dyn));
    assert_eq!(answer.ok(), Some(("yes".to_owned(), None, false, 1)));
    assert_eq!(
        <Text<'_, '_> as imp::Signature>::spec().map(|spec| spec.name().to_owned()).ok().as_deref(),
        Some("String")
    );
    assert_eq!(List::FIELDS.a_.name(), "a_");
    let (whole, named) = (FieldPartial { y: Some(1) }.complete(), Signature::FIELDS.x.name());
    assert_eq!((whole.map(|field| Field { y: field.y }.y), named), (Ok(1), "x"));
}

/// Doc comments are data, whatever is in them.
#[test]
fn doc_comments_with_syntax_in_them() {
    /// Say "hi" \ {name} {} {{x}} `code` #"raw"# %s \n \u{1F600} é 🎉 */ /* 'c'
    #[derive(imp::Signature)]
    #[signature(output = Answer)]
    struct Ask {
        /// A "quoted" \path\ with {braces}
        /// and [[ ## answer ## ]]
        question: String,
    }

    #[derive(imp::Signature)]
    struct Answer {
        #[doc = "one\ntwo"]
        answer: String,
    }

    let spec = <Ask as imp::Signature>::spec().map_err(ToString::to_string);
    let spec = spec.expect("it can be described");
    assert_eq!(
        spec.instructions(),
        "Say \"hi\" \\ {name} {} {{x}} `code` #\"raw\"# %s \\n \\u{1F600} é 🎉 */ /* 'c'"
    );
    let description =
        |at: usize| spec.inputs().chain(spec.outputs()).nth(at).and_then(|field| field.description());
    assert_eq!(description(0), Some("A \"quoted\" \\path\\ with {braces}\nand [[ ## answer ## ]]"));
    assert_eq!(description(1), Some("one\ntwo"));
    assert_eq!(Ask { question: String::new() }.question, Answer { answer: String::new() }.answer);
}

/// A struct with three hundred fields, one of them with a name of sixty letters.
macro_rules! many {
    ($name:ident: $($field:ident)*) => {
        #[derive(imp::Signature)]
        struct $name {
            a_name_that_is_as_long_as_sixty_letters_are_in_a_row_of_them: u8,
            $(#[field(min = 1, max = 200, default = 7)] $field: u8,)*
        }
    };
}

macro_rules! hundreds {
    ($name:ident: $($tail:ident)*) => { tens!($name: [$($tail)*]); };
}

macro_rules! tens {
    ($name:ident: [$($tail:ident)*]) => { many!($name: $($tail)*); };
}

hundreds!(Many:
    a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 c0 c1 c2 c3 c4 c5 c6 c7 c8 c9
    d0 d1 d2 d3 d4 d5 d6 d7 d8 d9 e0 e1 e2 e3 e4 e5 e6 e7 e8 e9 f0 f1 f2 f3 f4 f5 f6 f7 f8 f9
    g0 g1 g2 g3 g4 g5 g6 g7 g8 g9 h0 h1 h2 h3 h4 h5 h6 h7 h8 h9 i0 i1 i2 i3 i4 i5 i6 i7 i8 i9
    j0 j1 j2 j3 j4 j5 j6 j7 j8 j9 k0 k1 k2 k3 k4 k5 k6 k7 k8 k9 l0 l1 l2 l3 l4 l5 l6 l7 l8 l9
    m0 m1 m2 m3 m4 m5 m6 m7 m8 m9 n0 n1 n2 n3 n4 n5 n6 n7 n8 n9 o0 o1 o2 o3 o4 o5 o6 o7 o8 o9
    p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 q0 q1 q2 q3 q4 q5 q6 q7 q8 q9 r0 r1 r2 r3 r4 r5 r6 r7 r8 r9
    s0 s1 s2 s3 s4 s5 s6 s7 s8 s9 t0 t1 t2 t3 t4 t5 t6 t7 t8 t9 u0 u1 u2 u3 u4 u5 u6 u7 u8 u9
    v0 v1 v2 v3 v4 v5 v6 v7 v8 v9 w0 w1 w2 w3 w4 w5 w6 w7 w8 w9 x0 x1 x2 x3 x4 x5 x6 x7 x8 x9
    y0 y1 y2 y3 y4 y5 y6 y7 y8 y9 z0 z1 z2 z3 z4 z5 z6 z7 z8 z9 aa ab ac ad ae af ag ah ai aj
    ba bb bc bd be bf bg bh bi bj ca cb cc cd ce cf cg ch ci cj da db dc dd de df dg dh di dj
);

#[test]
fn three_hundred_fields() {
    let long = "a_name_that_is_as_long_as_sixty_letters_are_in_a_row_of_them";
    assert_eq!((names::<Many>().len(), long.len()), (301, 60));
    let read = imp::Chat::new().parse::<Many>(&*format!("[[ ## {long} ## ]]\n3\n\n[[ ## dj ## ]]\n200"));
    let read = read
        .map(|many| (many.a_name_that_is_as_long_as_sixty_letters_are_in_a_row_of_them, many.a0, many.dj));
    assert_eq!(read.ok(), Some((3, 7, 200)));
}

/// The whole declaration is a macro's, its names too, and it is derived under other attributes.
mod made_whole {
    macro_rules! pair {
        ($($(#[$meta:meta])* $vis:vis struct $name:ident $(<$life:lifetime>)? { $($body:tt)* })*) => {
            $(
                #[derive(::imp::Signature)]
                $(#[$meta])*
                $vis struct $name $(<$life>)? { $($body)* }
            )*
        };
    }

    macro_rules! local {
        ($ty:ty) => {
            pair! {
                #[signature(output = Answer)]
                pub(super) struct Ask<'a> { pub(super) made: &'a str, #[field(max = 3 + 1)] pub(super) local: $ty }
                pub(super) struct Answer { #[field(default = 2 * 2, max = 4)] pub(super) answer: $ty }
            }
        };
    }

    local!(u8);
}

#[test]
fn a_macros_own_declaration() {
    use made_whole::{Answer, AnswerPartial, Ask};

    assert_eq!((names::<Ask<'_>>(), names::<Answer>()), (vec!["made", "local"], vec!["answer"]));
    assert_eq!(AnswerPartial::default().complete().map(|answer| answer.answer), Ok(4));
    let spec = <Ask<'_> as imp::Signature>::spec().map_err(ToString::to_string);
    assert_eq!(spec.map(|spec| spec.inputs().len()), Ok(2));
    let ask = Ask { made: "x", local: 4 };
    assert_eq!((ask.made, ask.local), ("x", 4));
}

/// Under `deny(unused_qualifications)`, with our own traits in scope.
mod our_traits_in_scope {
    #![deny(warnings, unused_qualifications, unused_imports, clippy::pedantic)]
    #[allow(unused_imports, reason = "that is the case")]
    use imp::{Describe, InputType, Inputs, OutputSignature, OutputType, Outputs, PartOf, Record, Signature};

    #[derive(Signature)]
    #[signature(output = Answer)]
    pub(super) struct Ask {
        pub(super) question: String,
    }

    #[derive(Signature)]
    pub(super) struct Answer {
        #[field(max = 3)]
        pub(super) answer: u8,
    }
}

#[test]
fn our_traits_in_scope() {
    use our_traits_in_scope::{Answer, Ask};
    assert_eq!(names::<Ask>().len() + names::<Answer>().len(), 2);
    assert_eq!(Ask { question: "x".to_owned() }.question.len() + usize::from(Answer { answer: 1 }.answer), 2);
}
