//! Programming languages, as parameters of [`Code`](crate::Code).
//!
//! A language of your own is a type that implements [`Language`]:
//!
//! ```
//! use imp::Code;
//! use imp::language::Language;
//!
//! struct Zig;
//!
//! impl Language for Zig {
//!     const NAME: &'static str = "zig";
//! }
//!
//! assert_eq!(Code::<Zig>::LANGUAGE, "zig");
//! ```

/// A programming language.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no programming language",
    note = "use one of `imp::language`, or implement `imp::language::Language` for a type of your own"
)]
pub trait Language {
    /// What prompts call it, and what stands behind a fence: `python`.
    const NAME: &'static str;
}

macro_rules! languages {
    ($($type:ident => $name:literal),* $(,)?) => {$(
        #[doc = concat!("The language `", $name, "`.")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct $type;

        impl Language for $type {
            const NAME: &'static str = $name;
        }
    )*};
}

languages! {
    Bash => "bash", C => "c", Cpp => "cpp", CSharp => "csharp", Css => "css", Elixir => "elixir", Go => "go",
    Haskell => "haskell", Html => "html", Java => "java", JavaScript => "javascript", Kotlin => "kotlin",
    Lua => "lua", Php => "php", Python => "python", R => "r", Ruby => "ruby", Rust => "rust", Scala => "scala",
    Sql => "sql", Swift => "swift", TypeScript => "typescript",
}
