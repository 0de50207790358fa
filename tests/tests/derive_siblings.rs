//! Siblings of the macro crates' cases: other ways to write a field that a derive must not misread.

#![allow(dead_code, unused_parens, unused_qualifications, reason = "that is what is tested")]

use std::borrow::Cow;
use std::collections::BTreeMap;

use imp::{Chat, Describe, Signature};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

fn names<S: Describe>() -> Vec<&'static str> {
    S::META.fields.iter().map(|field| field.name).collect()
}

fn section(name: &str, text: &str) -> String {
    format!("[[ ## {name} ## ]]\n{text}\n\n")
}

/// What is optional is so by its type, not by the word `Option`.
#[test]
fn an_alias_of_option_is_optional() {
    type Maybe<T> = Option<T>;
    type Note = Maybe<String>;

    #[derive(Debug, PartialEq, Signature)]
    struct Answer {
        text: String,
        note: Note,
        count: Maybe<u8>,
        path: std::option::Option<u8>,
    }

    let answer = Chat::new().parse::<Answer>(&*section("text", "yes"));
    let expected = Answer { text: "yes".to_owned(), note: None, count: None, path: None };
    assert_eq!(answer.ok(), Some(expected));
    assert!(AnswerPartial { text: Some(String::new()), ..Default::default() }.complete().is_ok());
}

#[test]
fn attributes_behind_cfg() {
    #[derive(Signature)]
    #[cfg_attr(all(), signature(rename_all = "UPPERCASE"))]
    struct Answer {
        #[cfg_attr(all(), field(rename = "kept", max = 4))]
        first: u8,
        #[cfg(any())]
        gone: NoSuchType,
        #[cfg_attr(any(), field(rename = "never"))]
        second: u8,
    }

    assert_eq!(names::<Answer>(), ["kept", "SECOND"]);
}

#[test]
fn types_that_a_macro_or_a_trait_names() {
    macro_rules! text {
        () => {
            String
        };
    }

    trait Family {
        type Member;
    }
    struct Bytes;
    impl Family for Bytes {
        type Member = u8;
    }

    #[derive(Signature)]
    #[signature(output = Answer)]
    struct Ask<'a> {
        text: Cow<'a, str>,
        slice: &'a [&'a str],
        boxed: Box<str>,
    }

    #[derive(Signature)]
    struct Answer {
        made: text!(),
        member: <Bytes as Family>::Member,
        parenthesised: (u8),
        array: [u8; 1 + 1],
    }

    let reply = section("made", "x")
        + &section("member", "1")
        + &section("parenthesised", "2")
        + &section("array", "[3, 4]");
    let answer = Chat::new().parse::<Answer>(&*reply);
    let answer = answer.map(|answer| (answer.made, answer.member, answer.parenthesised, answer.array));
    assert_eq!(answer.ok(), Some(("x".to_owned(), 1, 2, [3, 4])));
    let ask = Ask { text: "a".into(), slice: &["c"], boxed: "d".into() };
    assert!(Chat::new().format(&ask).is_ok());
}

#[test]
fn parameters_with_defaults_and_where_clauses() {
    #[derive(Signature)]
    #[signature(output = Answer<Vec<u8>>)]
    struct Ask<'a, T = u8, const N: usize = 2>
    where
        T: Serialize + JsonSchema + 'a,
        Option<T>: Serialize,
    {
        about: &'a [T; N],
        maybe: Option<T>,
    }

    #[derive(Signature)]
    struct Answer<T>
    where
        T: Serialize + for<'de> Deserialize<'de> + JsonSchema,
    {
        answer: T,
        several: Vec<T>,
    }

    let ask: Ask<'_> = Ask { about: &[1, 2], maybe: None };
    assert!(Chat::new().format(&ask).is_ok_and(|messages| messages[1].text().contains("[1, 2]")));
    let reply = section("answer", "[1]") + &section("several", "[[2], []]");
    let answer = Chat::new().parse::<Answer<Vec<u8>>>(&*reply);
    assert_eq!(
        answer.map(|answer| (answer.answer, answer.several)).ok(),
        Some((vec![1], vec![vec![2], vec![]]))
    );
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(non_camel_case_types)]
enum Kind {
    r#type,
    TwoWords,
    #[serde(rename = "A b")]
    Odd,
}

#[test]
fn names_of_an_enums_members() {
    #[derive(Signature)]
    struct Answer {
        kind: Kind,
        by_kind: BTreeMap<Kind, u8>,
        list: Vec<Kind>,
    }

    let reply =
        section("kind", "A b") + &section("by_kind", r#"{"two-words": 1}"#) + &section("list", r#"["type"]"#);
    let answer = Chat::new().parse::<Answer>(&*reply);
    let answer = answer.map(|answer| (answer.kind, answer.by_kind, answer.list));
    assert_eq!(answer.ok(), Some((Kind::Odd, BTreeMap::from([(Kind::TwoWords, 1)]), vec![Kind::r#type])));
}

#[test]
fn attributes_of_others_stay_theirs() {
    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema, Signature)]
    #[serde(rename_all = "camelCase", default, deny_unknown_fields)]
    #[non_exhaustive]
    #[must_use]
    struct Answer {
        #[deprecated = "use `next_step`"]
        #[serde(alias = "step")]
        old_step: String,
        #[doc(alias = "after")]
        #[schemars(description = "what comes next", length(min = 1), title = "Next")]
        next_step: Option<String>,
        #[serde(rename = "n", default)]
        r#number: u8,
    }

    assert_eq!(names::<Answer>(), ["oldStep", "nextStep", "n"]);
    let answer = Chat::new().parse::<Answer>(&*section("step", "a"));
    #[allow(deprecated)]
    let old = answer.map(|answer| (answer.old_step, answer.next_step, answer.r#number));
    assert_eq!(old.ok(), Some(("a".to_owned(), None, 0)));
}
