//! Reading a reply while it is written: what is certain of each output so far.

pub(crate) mod chat;
mod ending;

use std::fmt;

use crate::adapter::record::Section;

/// What has become certain of a reply that is still being written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Certain {
    /// More of an output's text.
    Text {
        /// The output, by its place in the signature.
        output: usize,
        /// What comes behind the text that came before. It is never empty.
        text: String,
    },
    /// Nothing more comes of an output: its section can be read.
    Closed {
        /// The output, by its place in the signature.
        output: usize,
    },
}

/// The state of a reading of one reply that is still being written; see
/// [`Adapter::incremental`](crate::Adapter::incremental).
///
/// Nothing is taken back: the texts of an output, joined, are the text of its section as [`sections`] cuts it out of
/// the whole reply, wherever the reply was cut on its way. What only a lenient reading could take for a mark of an
/// output is waited with until the reply ends. Each piece is looked at once, however small the pieces are.
///
/// [`sections`]: crate::Adapter::sections
pub trait Incremental: fmt::Debug + Send {
    /// Looks at what is new of `front`, the reply so far, and adds what is certain now.
    fn advance(&mut self, front: &str, certain: &mut Vec<Certain>);

    /// The reply has ended as `reply`: adds what was waited with, as far as the exact reading has it.
    fn end(&mut self, reply: &str, certain: &mut Vec<Certain>);

    /// The section of an output that is closed; an empty one of any other.
    fn section<'r>(&self, front: &'r str, output: usize) -> Section<'r>;
}
