//! The elements of a text, read in one pass and without recursion.
//!
//! The text is the content of an element that is not written: text beside the elements is allowed. What is
//! not well-formed is an error with its place; documents that declare anything are refused.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::DEPTH;
use crate::text::scan::{is_blank, trim};

/// How many elements a reply may have.
const ELEMENTS: usize = 10_000;

/// The elements of a text.
#[derive(Debug)]
pub(crate) struct Document<'t> {
    text: &'t str,
    elements: Vec<Element<'t>>,
    roots: Vec<usize>,
}

#[derive(Debug)]
struct Element<'t> {
    name: &'t str,
    /// The attribute `key`.
    key: Option<Cow<'t, str>>,
    /// What is between the tags, in bytes of the text.
    inner: Range<usize>,
    children: Vec<usize>,
    /// Whether there is text beside the children.
    has_text: bool,
}

/// One element of a [`Document`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node<'d, 't> {
    document: &'d Document<'t>,
    at: usize,
}

/// Why a text is no XML.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Error {
    /// `<?xml`, `<!DOCTYPE`, `<!ENTITY`.
    Declaration,
    /// Elements that are nested deeper than [`DEPTH`].
    TooDeep,
    /// More than [`ELEMENTS`] elements.
    TooMany,
    /// Anything else, with what is wrong and what to do, and the byte.
    Malformed(String, usize),
}

impl Error {
    /// The message of spec/imp.md §11; `text` is what was read.
    pub(crate) fn message(&self, text: &str) -> String {
        match self {
            Error::Declaration => "XML declarations, doctypes, and entities are not allowed".to_owned(),
            Error::TooDeep => format!("XML response exceeds depth {DEPTH} (got {})", DEPTH + 1),
            Error::TooMany => format!("XML response exceeds {ELEMENTS} elements"),
            Error::Malformed(what, at) => {
                let before = text.get(..*at).unwrap_or(text);
                let line = before.matches('\n').count() + 1;
                let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
                format!("Failed to parse XML: {what} (line {line}, column {column})")
            }
        }
    }
}

fn malformed<T>(at: usize, what: impl fmt::Display) -> Result<T, Error> {
    Err(Error::Malformed(what.to_string(), at))
}

impl<'t> Document<'t> {
    /// Reads the elements of a text.
    ///
    /// # Errors
    ///
    /// The text is not well-formed, declares something, or breaks a limit.
    pub(crate) fn parse(text: &'t str) -> Result<Self, Error> {
        let mut document = Document { text, elements: Vec::new(), roots: Vec::new() };
        let mut open: Vec<usize> = Vec::new();
        let mut tokens = Tokens::new(text, 0..text.len());
        while let Some(token) = tokens.next()? {
            match token {
                Token::Text(text) => {
                    if let Some(element) = open.last().and_then(|at| document.elements.get_mut(*at)) {
                        element.has_text |= !text.chars().all(is_blank);
                    }
                }
                Token::Literal(text) => {
                    if let Some(element) = open.last().and_then(|at| document.elements.get_mut(*at)) {
                        element.has_text |= !text.is_empty();
                    }
                }
                Token::Open { name, key, empty, .. } => {
                    if open.len() == DEPTH {
                        return Err(Error::TooDeep);
                    }
                    let at = document.elements.len();
                    if at == ELEMENTS {
                        return Err(Error::TooMany);
                    }
                    match open.last().and_then(|parent| document.elements.get_mut(*parent)) {
                        Some(parent) => parent.children.push(at),
                        None => document.roots.push(at),
                    }
                    let inner = tokens.at..tokens.at;
                    document.elements.push(Element {
                        name,
                        key,
                        inner,
                        children: Vec::new(),
                        has_text: false,
                    });
                    if !empty {
                        open.push(at);
                    }
                }
                Token::Close { name, span } => {
                    let element = open.pop().and_then(|at| document.elements.get_mut(at));
                    match element {
                        Some(element) if element.name == name => element.inner.end = span.start,
                        Some(element) => {
                            let wanted = element.name;
                            return malformed(
                                span.start,
                                format_args!("`</{name}>` stands where `</{wanted}>` is missing"),
                            );
                        }
                        None => {
                            return malformed(
                                span.start,
                                format_args!("`</{name}>` closes a tag that is not open"),
                            );
                        }
                    }
                }
            }
        }
        match open.last().and_then(|at| document.elements.get(*at)) {
            Some(element) => malformed(text.len(), format_args!("`</{}>` is missing", element.name)),
            None => Ok(document),
        }
    }

    /// The elements that are inside no other.
    pub(crate) fn roots(&self) -> impl Iterator<Item = Node<'_, 't>> {
        self.roots.iter().map(|&at| Node { document: self, at })
    }
}

impl<'d, 't> Node<'d, 't> {
    // Nodes are made of the document's own places only.
    fn element(self) -> Option<&'d Element<'t>> {
        self.document.elements.get(self.at)
    }

    /// The name, or of an `<entry key="…">` its key.
    pub(crate) fn key(self) -> &'d str {
        match self.element() {
            Some(Element { name: "entry", key: Some(key), .. }) => key,
            Some(element) => element.name,
            None => "",
        }
    }

    /// Whether this is an `<item>`.
    pub(crate) fn is_item(self) -> bool {
        self.element().is_some_and(|element| element.name == "item")
    }

    pub(crate) fn children(self) -> impl ExactSizeIterator<Item = Node<'d, 't>> + Clone {
        let children = self.element().map_or(&[][..], |element| &element.children);
        let document = self.document;
        children.iter().map(move |&at| Node { document, at })
    }

    /// Whether there are no elements inside.
    pub(crate) fn is_leaf(self) -> bool {
        self.children().len() == 0
    }

    /// Whether there is text beside the elements inside.
    pub(crate) fn has_text(self) -> bool {
        self.element().is_some_and(|element| element.has_text)
    }

    /// What is between the tags, in bytes of the text.
    pub(crate) fn bytes(self) -> Range<usize> {
        self.element().map_or(0..0, |element| element.inner.clone())
    }

    /// Where the content starts in the text, blanks left out.
    pub(crate) fn start(self) -> usize {
        let bytes = self.bytes();
        let inner = self.document.text.get(bytes.clone()).unwrap_or_default();
        bytes.start + inner.len() - inner.trim_start_matches(is_blank).len()
    }

    /// The content as text, trimmed: references are decoded, comments left out, line ends are `\n`, and the
    /// tags of elements inside stand as they were written.
    pub(crate) fn text(self) -> Cow<'t, str> {
        let Some(element) = self.element() else { return Cow::Borrowed("") };
        let text = self.document.text;
        let inner = text.get(element.inner.clone()).unwrap_or_default();
        if !inner.contains(['<', '&', '\r']) {
            return Cow::Borrowed(trim(inner));
        }
        let mut out = String::with_capacity(inner.len());
        let mut tokens = Tokens::new(text, element.inner.clone());
        // The whole text was read before, so that no token fails.
        while let Ok(Some(token)) = tokens.next() {
            match token {
                Token::Text(text) => decode(text, &mut out),
                Token::Literal(text) => push_lines(&mut out, text),
                Token::Open { span, .. } | Token::Close { span, .. } => {
                    push_lines(&mut out, text.get(span).unwrap_or_default());
                }
            }
        }
        Cow::Owned(trim(&out).to_owned())
    }
}

enum Token<'t> {
    /// Text with references.
    Text(&'t str),
    /// The content of a CDATA section.
    Literal(&'t str),
    Open {
        name: &'t str,
        key: Option<Cow<'t, str>>,
        empty: bool,
        span: Range<usize>,
    },
    Close {
        name: &'t str,
        span: Range<usize>,
    },
}

/// Cuts a text into tokens.
struct Tokens<'t> {
    text: &'t str,
    at: usize,
    end: usize,
}

impl<'t> Tokens<'t> {
    fn new(text: &'t str, range: Range<usize>) -> Self {
        Tokens { text, at: range.start, end: range.end }
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..self.end).unwrap_or_default()
    }

    fn next(&mut self) -> Result<Option<Token<'t>>, Error> {
        loop {
            let rest = self.rest();
            if rest.is_empty() {
                return Ok(None);
            }
            if !rest.starts_with('<') {
                let end = memchr::memchr(b'<', rest.as_bytes()).unwrap_or(rest.len());
                let text = rest.get(..end).unwrap_or_default();
                check_references(text, self.at)?;
                self.at += end;
                return Ok(Some(Token::Text(text)));
            }
            if rest.starts_with("<!--") {
                self.skip_past("<!--", "-->", "the comment")?;
            } else if rest.starts_with("<![CDATA[") {
                let start = self.at + "<![CDATA[".len();
                self.skip_past("<![CDATA[", "]]>", "the CDATA section")?;
                let text = self.text.get(start..self.at - "]]>".len()).unwrap_or_default();
                return Ok(Some(Token::Literal(text)));
            } else if rest.starts_with("<!") || rest.starts_with("<?") {
                self.declaration(rest)?;
            } else {
                return self.tag().map(Some);
            }
        }
    }

    fn skip_past(&mut self, open: &str, close: &str, what: &str) -> Result<(), Error> {
        let rest = self.rest().get(open.len()..).unwrap_or_default();
        match memchr::memmem::find(rest.as_bytes(), close.as_bytes()) {
            Some(length) => self.at += open.len() + length + close.len(),
            None => return malformed(self.at, format_args!("{what} does not end: `{close}` is missing")),
        }
        Ok(())
    }

    /// Other processing instructions than `<?xml` say nothing to us.
    fn declaration(&mut self, rest: &str) -> Result<(), Error> {
        let is = |word: &str| rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        if is("<?xml") || is("<!doctype") || is("<!entity") {
            return Err(Error::Declaration);
        }
        if rest.starts_with("<?") {
            return self.skip_past("<?", "?>", "the processing instruction");
        }
        malformed(self.at, "`<!` starts nothing that is known here: write `&lt;!`")
    }

    fn tag(&mut self) -> Result<Token<'t>, Error> {
        let start = self.at;
        self.at += 1;
        let close = self.eat('/');
        let Some(name) = self.name() else {
            return malformed(start, "`<` starts no tag: write `&lt;`");
        };
        let mut key = None;
        loop {
            let blank = self.blank();
            let at = self.at;
            if self.eat('>') {
                let span = start..self.at;
                return Ok(if close {
                    Token::Close { name, span }
                } else {
                    Token::Open { name, key, empty: false, span }
                });
            }
            if !close && self.rest().starts_with("/>") {
                self.at += 2;
                return Ok(Token::Open { name, key, empty: true, span: start..self.at });
            }
            let attribute = if blank && !close { self.name() } else { None };
            let Some(attribute) = attribute else {
                return malformed(at, format_args!("the tag `{name}` does not end: `>` is missing"));
            };
            let value = self.attribute()?;
            if attribute == "key" {
                key = Some(value);
            }
        }
    }

    /// `="…"` behind the name of an attribute.
    fn attribute(&mut self) -> Result<Cow<'t, str>, Error> {
        self.blank();
        let equals = self.eat('=');
        self.blank();
        let at = self.at;
        let quote = if self.eat('"') { '"' } else { '\'' };
        if !equals || (quote == '\'' && !self.eat('\'')) {
            return malformed(at, "an attribute is written `name=\"value\"`");
        }
        let rest = self.rest();
        let start = self.at;
        let Some(value) = rest
            .find([quote, '<'])
            .and_then(|end| rest.get(end..)?.starts_with(quote).then(|| rest.get(..end))?)
        else {
            return malformed(at, "the value of the attribute does not end");
        };
        check_references(value, start)?;
        self.at += value.len() + 1;
        if !value.contains(['&', '\n', '\r', '\t']) {
            return Ok(Cow::Borrowed(value));
        }
        // A line end of an attribute is a blank, a reference to one is not.
        let plain = value.replace("\r\n", " ").replace(['\n', '\r', '\t'], " ");
        let mut decoded = String::with_capacity(plain.len());
        decode(&plain, &mut decoded);
        Ok(Cow::Owned(decoded))
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.rest().starts_with(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    fn blank(&mut self) -> bool {
        let rest = self.rest();
        let length = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        self.at += length;
        length > 0
    }

    fn name(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        if !rest.starts_with(is_name_start) {
            return None;
        }
        let end = rest.find(|c| !is_name_part(c)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end)
    }
}

/// XML 1.0's `NameStartChar`.
pub(super) fn is_name_start(c: char) -> bool {
    matches!(c, ':' | '_' | 'A'..='Z' | 'a'..='z') || (!c.is_ascii() && is_name_part(c) && !super::is_mark(c))
}

/// XML 1.0's `NameChar`.
pub(super) fn is_name_part(c: char) -> bool {
    matches!(c,
        ':' | '_' | '-' | '.' | 'A'..='Z' | 'a'..='z' | '0'..='9' | '\u{b7}' | '\u{c0}'..='\u{d6}'
        | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{37d}' | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}'
        | '\u{203f}'..='\u{2040}' | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}'
        | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}'
        | '\u{10000}'..='\u{effff}')
}

/// Whether every `&` of a text starts a reference; `start` is where the text is.
fn check_references(text: &str, start: usize) -> Result<(), Error> {
    for at in memchr::memchr_iter(b'&', text.as_bytes()) {
        if reference(text.get(at..).unwrap_or_default()).is_none() {
            return malformed(start + at, "`&` starts no reference that is known here: write `&amp;`");
        }
    }
    Ok(())
}

/// The character that a reference at the start of a text stands for, and the reference's length: one of the
/// five that XML knows, or a number.
fn reference(text: &str) -> Option<(char, usize)> {
    // The longest number of a character has seven digits; more zeros in front than fit here mean nothing.
    let end = text.bytes().take(16).position(|byte| byte == b';')?;
    let c = match text.get(1..end)? {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        name => {
            let digits = name.strip_prefix('#')?;
            let (digits, radix) = match digits.strip_prefix('x') {
                Some(digits) => (digits, 16),
                None => (digits, 10),
            };
            if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return None;
            }
            char::from_u32(u32::from_str_radix(digits, radix).ok()?).filter(|c| *c != '\0')?
        }
    };
    Some((c, end + 1))
}

/// Writes a text with its references decoded and its line ends as `\n`.
fn decode(text: &str, out: &mut String) {
    let mut from = 0;
    for at in memchr::memchr_iter(b'&', text.as_bytes()) {
        if let Some((c, length)) = reference(text.get(at..).unwrap_or_default()) {
            push_lines(out, text.get(from..at).unwrap_or_default());
            out.push(c);
            from = at + length;
        }
    }
    push_lines(out, text.get(from..).unwrap_or_default());
}

fn push_lines(out: &mut String, text: &str) {
    let mut from = 0;
    for at in memchr::memchr_iter(b'\r', text.as_bytes()) {
        out.push_str(text.get(from..at).unwrap_or_default());
        from = at + 1;
        if text.as_bytes().get(from) != Some(&b'\n') {
            out.push('\n');
        }
    }
    out.push_str(text.get(from..).unwrap_or_default());
}
