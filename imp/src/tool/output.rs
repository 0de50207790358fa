//! What a tool's function may return.

use std::any::Any;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use serde::Serialize;

use super::error::ToolError;
use crate::media::{Audio, File, Image};
use crate::text::write::to_value;
use crate::value::{Map, Value};

/// What a tool's function may return: a `Result` of anything that is `Serialize`, or a plain value of a type of
/// `std` or of this crate.
///
/// A text is shown to the model as it is, other data as JSON. Images, recordings and documents may stand in it:
/// `Ok(("the map", image))`.
///
/// A struct of your own is returned in a `Result`, since Rust could not tell apart "anything that can be
/// serialised" and "a `Result`" otherwise.
///
/// ```
/// use imp::{Tool, ToolError};
/// use serde::Serialize;
///
/// #[derive(Serialize)]
/// struct Shift {
///     name: &'static str,
///     until: u8,
/// }
///
/// let text = Tool::new("motto", "The motto.", |(): ()| async { "be kind" });
/// let data = Tool::new("on_call", "Who is on call.", |(): ()| async {
///     Ok::<_, ToolError>(Shift { name: "Ada", until: 18 })
/// });
/// # let _ = (text, data);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be what a tool returns",
    label = "a tool cannot return this",
    note = "return a `Result<T, E>` where `T` is `serde::Serialize` and `E` is `Display`: `Ok::<_, imp::ToolError>(value)`"
)]
pub trait ToolReturn {
    /// The value that the model reads, or why there is none.
    ///
    /// # Errors
    ///
    /// The function's own error, or that its value cannot be serialised.
    fn into_result(self) -> Result<Value, ToolError>;
}

impl<T: Serialize, E: fmt::Display + Send + 'static> ToolReturn for Result<T, E> {
    fn into_result(self) -> Result<Value, ToolError> {
        match self {
            Ok(value) => written(&value),
            Err(error) => {
                let text = error.to_string();
                // The one error that knows more than its text.
                let error: Box<dyn Any + Send> = Box::new(error);
                Err(error.downcast::<ToolError>().map_or_else(|_| ToolError::new(text), |error| *error))
            }
        }
    }
}

fn written<T: Serialize + ?Sized>(value: &T) -> Result<Value, ToolError> {
    to_value(value).map_err(|error| ToolError::new(format!("its result cannot be written: {error}")))
}

macro_rules! plain {
    ($({$($params:tt)*} $ty:ty),* $(,)?) => {$(
        impl<$($params)*> ToolReturn for $ty {
            fn into_result(self) -> Result<Value, ToolError> {
                written(&self)
            }
        }
    )*};
}

plain! {
    {} (), {} bool, {} char, {} String, {} &'static str, {} Cow<'static, str>, {} Box<str>,
    {} i8, {} i16, {} i32, {} i64, {} i128, {} isize, {} u8, {} u16, {} u32, {} u64, {} usize, {} f32, {} f64,
    {} Value, {} Map, {} serde_json::Value, {} Image, {} Audio, {} File,
    {T: Serialize} Option<T>, {T: Serialize} Vec<T>, {T: Serialize} BTreeSet<T>,
    {K: Serialize, T: Serialize} BTreeMap<K, T>, {K: Serialize, T: Serialize, S} HashMap<K, T, S>,
    {T: Serialize, U: Serialize} (T, U), {T: Serialize, U: Serialize, V: Serialize} (T, U, V),
    {T: Serialize, U: Serialize, V: Serialize, W: Serialize} (T, U, V, W),
}
