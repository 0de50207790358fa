//! Text and values: the markers of a reply, the text of a value, the value of a text. Pure, and
//! knows no signature.

mod datetime;
pub(crate) mod json;
pub(crate) mod marker;
mod number;
pub(crate) mod read;
pub(crate) mod scan;
pub(crate) mod think;
pub(crate) mod write;
pub(crate) mod xml;
