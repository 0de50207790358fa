//! `#[tool]` among hostile names and strict lints.

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
