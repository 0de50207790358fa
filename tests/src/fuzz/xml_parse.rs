//! Replies in XML elements, read exactly.

use imp::Xml;

use super::case::Case;
use super::chat_parse::exact;

/// A reply of the XML adapter: what holds of one in sections holds here, too.
///
/// # Panics
///
/// Something is wrong.
pub fn xml_parse(bytes: &[u8]) {
    let Some(Case { signature, dialect, reply }) = Case::new(bytes) else { return };
    exact(&Xml::new().dialect(dialect), signature, dialect, &reply);
}
