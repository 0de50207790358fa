//! JSON read from front to back, with the slips that are forgiven.
//!
//! One reader, no strict one beside it: at every place strict JSON is tried first, and only where it ends a
//! slip may be forgiven. So every text that is strict JSON is read as such, with an empty receipt; a test
//! holds the reader to that. There is one thing that only the whole text decides: what a backslash
//! means in a text that is no strict JSON (§10). A string in which that matters sets `diverged`, and if
//! something was forgiven too, the caller reads once more with `loose_escapes`.
//!
//! Nothing here is generic, so that it is compiled once for all types.

use std::borrow::Cow;

use super::super::json::plain_len;
use super::failure::{Failure, Why};
use super::forgive::{Receipts, Slips};
use super::scalar::{self, Number};
use crate::dialect::Dialect;
use crate::value::{Map, Value};

/// How deep containers, `Some` and newtypes may be nested.
pub(super) const DEPTH: u8 = 128;

/// The place in a text up to which it was read.
#[derive(Debug)]
pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) pos: usize,
    /// How many levels may still be opened.
    room: u8,
    allowed: Slips,
    pub(super) receipts: Receipts,
    /// Whether a string was read that means something else in a text that is no strict JSON.
    diverged: bool,
    loose_escapes: bool,
    /// Whether the end of the text closes all containers.
    pub(super) closes_at_end: bool,
    pub(super) dialect: Dialect,
}

/// A piece of a text that was read: a part of it, or decoded.
pub(super) type Piece<'a> = Cow<'a, str>;

/// What begins at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Peek {
    Null,
    True,
    False,
    Number,
    String,
    List,
    Object,
    /// A text without quotes.
    Bare,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, allowed: Slips, dialect: Dialect) -> Self {
        Parser {
            text,
            pos: 0,
            room: DEPTH,
            allowed,
            receipts: Receipts::default(),
            diverged: false,
            loose_escapes: false,
            closes_at_end: false,
            dialect,
        }
    }

    /// Whether the text must be read once more with the escapes of §10: it is no strict JSON, and it has a
    /// string in which they matter.
    pub(super) fn must_repeat(&self) -> bool {
        self.diverged && !self.loose_escapes && self.receipts.slips.in_syntax()
    }

    /// Whether a string was read that means something else in a text that is no strict JSON.
    pub(super) fn diverged(&self) -> bool {
        self.diverged
    }

    pub(super) fn with_loose_escapes(self, loose_escapes: bool) -> Self {
        Parser { loose_escapes, ..self }
    }

    pub(super) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.pos).copied()
    }

    fn byte_at(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.pos..).unwrap_or_default()
    }

    fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }

    pub(super) fn allows(&self, slip: Slips) -> bool {
        self.allowed.contains(slip)
    }

    /// Forgives a slip, if that is allowed.
    #[cold]
    pub(super) fn forgive(&mut self, slip: Slips, at: usize) -> bool {
        let allowed = self.allowed.contains(slip);
        if allowed {
            self.receipts.add(slip, at);
        }
        allowed
    }

    #[cold]
    pub(super) fn broken(&self, message: impl Into<String>) -> Failure {
        let failure = if self.pos >= self.text.len() {
            Failure::new(Why::Syntax, "the text breaks off")
        } else {
            Failure::new(Why::Syntax, message)
        };
        failure.at(self.pos)
    }

    /// Goes past white space and comments.
    pub(super) fn blank(&mut self) -> Result<(), Failure> {
        loop {
            match self.byte() {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.pos += 1,
                Some(b'/' | b'#') if self.allows(Slips::COMMENT) => {
                    if !self.comment()? {
                        return Ok(());
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    #[cold]
    fn comment(&mut self) -> Result<bool, Failure> {
        let start = self.pos;
        let rest = self.rest();
        let len = if rest.starts_with('#') || rest.starts_with("//") {
            memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len())
        } else if let Some(inner) = rest.strip_prefix("/*") {
            match memchr::memmem::find(inner.as_bytes(), b"*/") {
                Some(len) => len + 4,
                None => return Err(self.broken("a comment does not end")),
            }
        } else {
            return Ok(false);
        };
        self.pos += len;
        self.receipts.add(Slips::COMMENT, start);
        Ok(true)
    }

    /// What begins behind the blanks. The quote of a string may be any that is allowed.
    pub(super) fn peek(&mut self) -> Result<Peek, Failure> {
        self.blank()?;
        let Some(byte) = self.byte() else { return Err(self.broken("")) };
        Ok(match byte {
            b'"' => Peek::String,
            b'{' => Peek::Object,
            b'[' => Peek::List,
            b'0'..=b'9' | b'-' => Peek::Number,
            b'n' if self.is_word("null") => Peek::Null,
            b't' if self.is_word("true") => Peek::True,
            b'f' if self.is_word("false") => Peek::False,
            _ => self.peek_slip(byte)?,
        })
    }

    #[cold]
    fn peek_slip(&mut self, byte: u8) -> Result<Peek, Failure> {
        if byte == b'\'' && self.allows(Slips::SINGLE_QUOTES) {
            return Ok(Peek::String);
        }
        if self.rest().starts_with(['“', '”']) && self.allows(Slips::SMART_QUOTES) {
            return Ok(Peek::String);
        }
        for (word, peek) in [("True", Peek::True), ("False", Peek::False), ("None", Peek::Null)] {
            if self.is_word(word) && self.allows(Slips::PYTHON_WORDS) {
                return Ok(peek);
            }
        }
        // In any case, where texts need no quotes: `TRUE`.
        if self.allows(Slips::BARE_TEXT) {
            let len = self.literal_len();
            if len > 0 && self.ends_item(self.slice(self.pos + len, self.text.len())) {
                return Ok(match byte {
                    b't' | b'T' => Peek::True,
                    b'f' | b'F' => Peek::False,
                    _ => Peek::Null,
                });
            }
        }
        if matches!(byte, b'.' | b'+') && self.allows(Slips::NUMBER_SHAPE) {
            return Ok(Peek::Number);
        }
        if self.allows(Slips::BARE_TEXT) && self.rest().starts_with(|c: char| c.is_alphanumeric() || c == '_')
        {
            return Ok(Peek::Bare);
        }
        Err(self.broken("this is no JSON value"))
    }

    fn is_word(&self, word: &str) -> bool {
        self.rest().strip_prefix(word).is_some_and(|after| {
            !after.starts_with(|c: char| c.is_alphanumeric() || c == '_') && self.ends_item(after)
        })
    }

    /// Whether a word or a number in front of `after` is the whole item: where texts need no quotes, it may be
    /// the first word of one.
    fn ends_item(&self, after: &str) -> bool {
        if !self.allows(Slips::BARE_TEXT) {
            return true;
        }
        let trimmed = after.trim_start_matches([' ', '\t']);
        if trimmed.is_empty()
            || trimmed.starts_with([',', ']', '}', '\n', '\r', ':', ';', '#', '/', '"', '\'', '{', '['])
        {
            return true;
        }
        // A comma is missing in front of another number or word.
        let next = self.text.len() - trimmed.len();
        trimmed.len() < after.len()
            && (trimmed.starts_with(|c: char| c.is_ascii_digit()) || self.literal_len_at(next) > 0)
    }

    /// The length of `null`, `true`, `false` or `none` at the place, in any case.
    fn literal_len(&self) -> usize {
        self.literal_len_at(self.pos)
    }

    fn literal_len_at(&self, at: usize) -> usize {
        let rest = self.slice(at, self.text.len());
        let word = |word: &&str| rest.get(..word.len()).is_some_and(|given| given.eq_ignore_ascii_case(word));
        let found = ["null", "true", "false", "none"].into_iter().find(word).map_or(0, str::len);
        let glued =
            self.slice(at + found, self.text.len()).starts_with(|c: char| c.is_alphanumeric() || c == '_');
        if glued { 0 } else { found }
    }

    /// Goes past `null`, `true` or `false`, in another spelling too.
    pub(super) fn word(&mut self) {
        let strict = matches!(self.byte(), Some(b'n' | b't' | b'f'))
            && ["null", "true", "false"].into_iter().any(|word| self.rest().starts_with(word));
        if !strict {
            self.receipts.add(Slips::PYTHON_WORDS, self.pos);
        }
        self.pos += self.literal_len();
    }

    /// Reads a number. What only begins like one is a text, where texts need no quotes.
    pub(super) fn number(&mut self) -> Result<Result<Number, Piece<'a>>, Failure> {
        let start = self.pos;
        let bytes = self.text.as_bytes();
        // Most numbers are short integers, and their value comes with finding their end.
        let mut at = start + usize::from(bytes.get(start) == Some(&b'-'));
        let first = at;
        let mut value: u64 = 0;
        while let Some(byte @ b'0'..=b'9') = bytes.get(at) {
            value = value.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
            at += 1;
        }
        let digits = at - first;
        let leading_zero = digits > 1 && bytes.get(first) == Some(&b'0');
        let mut whole = true;
        if digits > 0 && !leading_zero {
            let mut fraction = |at: usize| {
                let end = at + bytes.iter().skip(at).take_while(|byte| byte.is_ascii_digit()).count();
                whole = false;
                (end > at).then_some(end)
            };
            let mut end = Some(at);
            if bytes.get(at) == Some(&b'.') {
                end = fraction(at + 1);
            }
            if let Some(at) = end.filter(|&at| matches!(bytes.get(at), Some(b'e' | b'E'))) {
                let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
                end = fraction(at + 1 + sign);
            }
            if let Some(end) = end.filter(|&end| self.ends_number(end)) {
                if whole && digits < 19 {
                    self.pos = end;
                    let value = i128::from(value);
                    return Ok(Ok(Number::Int(if first > start { -value } else { value })));
                }
                if let Some(value) =
                    self.slice(start, end).parse::<f64>().ok().filter(|value| !whole && value.is_finite())
                {
                    self.pos = end;
                    return Ok(Ok(Number::Float(value)));
                }
            }
        }
        self.long_number(start)
    }

    /// Whether a number ends at `at`, and nothing is glued to it.
    #[inline]
    fn ends_number(&self, at: usize) -> bool {
        match self.byte_at(at) {
            None | Some(b',' | b']' | b'}' | b'\n') => true,
            Some(b' ' | b'\r' | b'\t') => self.ends_item(self.slice(at, self.text.len())),
            Some(_) => false,
        }
    }

    fn long_number(&mut self, start: usize) -> Result<Result<Number, Piece<'a>>, Failure> {
        let bytes = self.text.as_bytes();
        let mut end = start;
        while let Some(b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-') = bytes.get(end) {
            end += 1;
        }
        let text = self.slice(start, end);
        let ends =
            !bytes.get(end).is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | 0x80..))
                && self.ends_item(self.slice(end, self.text.len()));
        if !ends && self.allows(Slips::BARE_TEXT) {
            return Ok(Err(self.bare()?));
        }
        if ends {
            self.pos = end;
            if is_json_number(text) {
                // An integer that fits is exact; a longer one is a float, as it is for serde_json.
                if let Some(number) = scalar::number(text, Dialect::Dspy) {
                    return Ok(Ok(number));
                }
                self.pos = start;
                return Err(self.broken("the number is too big"));
            }
            if let Some(number) = scalar::number(text, Dialect::Dspy) {
                let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
                let zeros = unsigned.len() > 1
                    && unsigned.starts_with('0')
                    && unsigned.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
                let closed = scalar::number(text, Dialect::Plain).is_some() && !text.starts_with('+');
                if (!zeros || self.forgive(Slips::LEADING_ZERO, start))
                    && (closed || self.forgive(Slips::NUMBER_SHAPE, start))
                {
                    return Ok(Ok(number));
                }
            } else if self.allows(Slips::BARE_TEXT) && !text.starts_with(['+', '.']) {
                // A date: digits and dashes.
                self.pos = start;
                return Ok(Err(self.bare()?));
            }
        }
        let infinity = "-Infinity";
        if self.slice(start, self.text.len()).starts_with(infinity) && self.forgive(Slips::NOT_FINITE, start)
        {
            self.pos = start + infinity.len();
            return Ok(Ok(Number::Float(f64::NEG_INFINITY)));
        }
        self.pos = start;
        Err(self.broken("this is no JSON number"))
    }

    /// Reads a text without quotes, up to what ends an item.
    ///
    /// A text with a bracket, a quote or a line break in it may be anything, and is refused.
    #[cold]
    pub(super) fn bare(&mut self) -> Result<Piece<'a>, Failure> {
        let start = self.pos;
        let rest = self.rest();
        let end = rest
            .char_indices()
            .find(|&(at, c)| {
                matches!(c, ',' | ']' | '}' | ';' | '\n' | '\r' | '"' | '“' | '”' | '{' | '[' | '`')
                    || (c == ':' && rest.as_bytes().get(at + 1).is_none_or(u8::is_ascii_whitespace))
                    || (matches!(c, '#') || rest.get(at..).is_some_and(|rest| rest.starts_with("//")))
                        && rest.as_bytes().get(at.wrapping_sub(1)).is_none_or(u8::is_ascii_whitespace)
            })
            .map_or(rest.len(), |(at, _)| at);
        let text = rest.get(..end).unwrap_or_default().trim_end();
        self.pos = start + text.len();
        let ends = match rest.get(end..).and_then(|rest| rest.chars().next()) {
            // Behind the end of the text, what the item is in does not end either, and says so.
            None | Some(',' | ']' | '}' | ';' | '#' | '/') => true,
            // At the end of a line only if the item ends there as well.
            Some('\n' | '\r') => {
                rest.get(end..).is_some_and(|rest| rest.trim_start().starts_with([',', ']', '}', '#', '/']))
            }
            _ => false,
        };
        let words_are_numbers = text.split_ascii_whitespace().all(scalar::number_is_closed);
        if text.is_empty() || !ends || text.starts_with('-') || words_are_numbers {
            self.pos = start + end;
            return Err(self.broken("a text without quotes does not end clearly"));
        }
        if !self.forgive(Slips::BARE_TEXT, start) {
            self.pos = start;
            return Err(self.broken("a text must be in quotes"));
        }
        Ok(Cow::Borrowed(text))
    }

    /// Reads a string; the place is at its quote.
    pub(super) fn string(&mut self) -> Result<Piece<'a>, Failure> {
        if self.byte() != Some(b'"') {
            return self.other_string();
        }
        let start = self.pos + 1;
        let bytes = self.text.as_bytes();
        let at = start + plain_len(bytes.get(start..).unwrap_or_default());
        if bytes.get(at) != Some(&b'"') {
            return self.escaped_string("\"", at);
        }
        self.pos = at + 1;
        Ok(Cow::Borrowed(self.slice(start, at)))
    }

    #[cold]
    fn other_string(&mut self) -> Result<Piece<'a>, Failure> {
        let at = self.pos;
        match self.rest().chars().next() {
            Some('\'') if self.forgive(Slips::SINGLE_QUOTES, at) => self.escaped_string("'", at + 1),
            Some('“' | '”') if self.forgive(Slips::SMART_QUOTES, at) => self.escaped_string("”", at + 3),
            _ => Err(self.broken("a string must begin with a quote")),
        }
    }

    /// Reads a string whose first quote is at the place, which is plain up to `at`, and which ends with `quote`.
    fn escaped_string(&mut self, quote: &str, mut at: usize) -> Result<Piece<'a>, Failure> {
        let bytes = self.text.as_bytes();
        let close = quote.as_bytes().first().copied().unwrap_or(b'"');
        let start = self.pos;
        let mut done = start + quote.len();
        let mut out = String::new();
        loop {
            at += plain_run(bytes.get(at..).unwrap_or_default(), close);
            match bytes.get(at) {
                None => {
                    self.pos = self.text.len();
                    return Err(self.broken("a string does not end"));
                }
                Some(&byte) if byte == close && self.slice(at, self.text.len()).starts_with(quote) => break,
                Some(b'\\') => {
                    out.push_str(self.slice(done, at));
                    at = self.escape(at, quote, &mut out)?;
                    done = at;
                }
                Some(0..0x20) => {
                    if !self.forgive(Slips::CONTROL, at) {
                        self.pos = at;
                        return Err(self.broken("a control character in a string must be escaped"));
                    }
                    at += 1;
                }
                Some(_) => at += 1,
            }
        }
        self.pos = at + quote.len();
        let piece = if done == start + quote.len() {
            Cow::Borrowed(self.slice(done, at))
        } else {
            out.push_str(self.slice(done, at));
            Cow::Owned(out)
        };
        if piece.ends_with('\n') {
            if self.loose_escapes {
                return Ok(Cow::Owned(piece.trim_end().to_owned()));
            }
            self.diverged = true;
        }
        Ok(piece)
    }

    /// Decodes the escape at `at` and returns the place behind it.
    fn escape(&mut self, at: usize, quote: &str, out: &mut String) -> Result<usize, Failure> {
        let Some(byte) = self.byte_at(at + 1) else {
            self.pos = self.text.len();
            return Err(self.broken("a string does not end"));
        };
        let simple = match byte {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'"' => '"',
            b'\\' => return Ok(self.backslashes(at, quote, out)),
            b'f' | b'/' if !self.loose_escapes => {
                self.diverged = true;
                if byte == b'f' { '\u{c}' } else { '/' }
            }
            b'u' => return self.unicode(at, out),
            _ => return self.loose_escape(at, byte, out),
        };
        out.push(simple);
        Ok(at + 2)
    }

    /// Two backslashes are one. In a text that is no strict JSON those that follow them are dropped, and a
    /// closing quote behind those is text (§10).
    fn backslashes(&mut self, at: usize, quote: &str, out: &mut String) -> usize {
        out.push('\\');
        let next = at + 2;
        // json_repair, which DSPy reads with, decodes them in pairs.
        if self.byte_at(next) != Some(b'\\') || self.dialect == Dialect::Dspy {
            return next;
        }
        if !self.loose_escapes {
            self.diverged = true;
            return next;
        }
        let rest = self.slice(next, self.text.len());
        let after = rest.trim_start_matches('\\');
        let next = next + rest.len() - after.len();
        if after.starts_with(quote) {
            out.push_str(quote);
            return next + quote.len();
        }
        next
    }

    fn hex(&self, at: usize, count: usize) -> Option<u32> {
        let digits = self.text.get(at..at + count)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        u32::from_str_radix(digits, 16).ok()
    }

    fn unicode(&mut self, at: usize, out: &mut String) -> Result<usize, Failure> {
        let Some(high) = self.hex(at + 2, 4) else { return self.loose_escape(at, b'u', out) };
        if let Some(c) = char::from_u32(high) {
            out.push(c);
            return Ok(at + 6);
        }
        let low = if self.slice(at + 6, at + 8) == "\\u" { self.hex(at + 8, 4) } else { None };
        let pair = low
            .filter(|low| high < 0xdc00 && (0xdc00..0xe000).contains(low))
            .and_then(|low| char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)));
        if let Some(c) = pair {
            out.push(c);
            return Ok(at + 12);
        }
        self.pos = at;
        Err(self.broken("half of a character cannot be read"))
    }

    /// An escape that strict JSON does not have.
    #[cold]
    fn loose_escape(&mut self, at: usize, byte: u8, out: &mut String) -> Result<usize, Failure> {
        if !self.forgive(Slips::ESCAPE, at) {
            self.pos = at;
            return Err(self.broken("a backslash escapes nothing"));
        }
        if let (b'x', Some(code)) = (byte, self.hex(at + 2, 2)) {
            out.extend(char::from_u32(code));
            return Ok(at + 4);
        }
        let escaped = self.slice(at + 1, self.text.len()).chars().next().filter(|c| "'“”".contains(*c));
        if let Some(quote) = escaped {
            out.push(quote);
            return Ok(at + 1 + quote.len_utf8());
        }
        out.push('\\');
        Ok(at + 1)
    }

    /// Goes one level down.
    pub(super) fn enter(&mut self) -> Result<(), Failure> {
        match self.room.checked_sub(1) {
            Some(room) => {
                self.room = room;
                Ok(())
            }
            None => {
                Err(Failure::new(Why::Syntax, "the value is nested more than 128 levels deep").at(self.pos))
            }
        }
    }

    pub(super) fn leave(&mut self) {
        self.room += 1;
    }

    /// Opens a container whose bracket is at the place.
    pub(super) fn open(&mut self) -> Result<(), Failure> {
        self.enter()?;
        self.pos += 1;
        Ok(())
    }

    /// Whether another item follows; goes to its front.
    pub(super) fn more(&mut self, close: u8, first: bool) -> Result<bool, Failure> {
        self.blank()?;
        match self.byte() {
            Some(byte) if byte == close => return Ok(false),
            Some(b',') if !first => {}
            None if self.closes_at_end => return Ok(false),
            None => return Err(self.broken("")),
            _ if first => return Ok(true),
            Some(b']' | b'}') => return self.extra_close(close),
            Some(byte) => return self.separator_slip(byte, close),
        }
        let comma = self.pos;
        self.pos += 1;
        self.blank()?;
        match self.byte() {
            Some(byte) if byte == close => {
                if self.forgive(Slips::TRAILING_COMMA, comma) {
                    return Ok(false);
                }
                Err(self.broken("there is a comma but no item behind it"))
            }
            Some(b',') => self.commas(close),
            None if self.closes_at_end => Ok(false),
            _ => Ok(true),
        }
    }

    /// Goes past commas too many.
    #[cold]
    fn commas(&mut self, close: u8) -> Result<bool, Failure> {
        let at = self.pos;
        while self.byte() == Some(b',') {
            self.pos += 1;
            self.blank()?;
        }
        if self.forgive(Slips::SEPARATOR, at) {
            return Ok(self.byte() != Some(close));
        }
        self.pos = at;
        Err(self.broken("there are two commas but no item between them"))
    }

    #[cold]
    fn separator_slip(&mut self, byte: u8, close: u8) -> Result<bool, Failure> {
        let at = self.pos;
        // What follows must be a key with its colon, so no string goes on here.
        if close == b'}' && byte == b'"' && self.forgive(Slips::MISSING_COMMA, at) {
            return Ok(true);
        }
        if byte == b';' && self.forgive(Slips::SEPARATOR, at) {
            self.pos += 1;
            self.blank()?;
            return match self.byte() {
                Some(b']' | b'}') => Ok(false),
                _ => Ok(true),
            };
        }
        // Two items with a blank between them; glued ones may be one item with a quote inside.
        let apart = at
            .checked_sub(1)
            .and_then(|before| self.byte_at(before))
            .is_some_and(|byte| byte.is_ascii_whitespace() || byte == b'/');
        if apart
            && (matches!(byte, b'"' | b'\'' | b'{' | b'[' | b'-' | b'0'..=b'9') || self.literal_len() > 0)
            && self.forgive(Slips::SEPARATOR, at)
        {
            return Ok(true);
        }
        Err(self.broken("there is no comma between two items"))
    }

    /// Goes past the bracket of another container, which is one too many if this one plainly goes on or ends
    /// behind it.
    #[cold]
    fn extra_close(&mut self, close: u8) -> Result<bool, Failure> {
        let at = self.pos;
        self.pos += 1;
        self.blank()?;
        let goes_on = self.byte().is_some_and(|byte| byte == b',' || byte == close);
        if goes_on && self.forgive(Slips::EXTRA_CLOSE, at) {
            return self.more(close, false);
        }
        self.pos = at;
        Err(self.broken("there is no comma between two items"))
    }

    /// Closes a container. One comma in front of the bracket may be left: a tuple never asks for the item
    /// that it has no place for.
    pub(super) fn close(&mut self, close: u8) -> Result<(), Failure> {
        self.blank()?;
        if self.byte() == Some(b',') {
            let comma = self.pos;
            self.pos += 1;
            self.blank()?;
            if self.byte() == Some(close) && !self.forgive(Slips::TRAILING_COMMA, comma) {
                self.pos = comma;
            }
        }
        if self.byte().is_none() && self.closes_at_end {
            self.leave();
            return Ok(());
        }
        if self.byte() != Some(close) {
            return Err(if self.pos >= self.text.len() {
                self.broken("")
            } else {
                Failure::new(Why::Type, "there are more items than the type has").at(self.pos)
            });
        }
        self.pos += 1;
        self.leave();
        Ok(())
    }

    /// Reads a key; the place is in front of it.
    pub(super) fn key(&mut self) -> Result<Piece<'a>, Failure> {
        match self.byte() {
            Some(b'"') => self.string(),
            Some(b'\'') if self.allows(Slips::SINGLE_QUOTES) => self.string(),
            Some(_) if self.rest().starts_with(['“', '”']) && self.allows(Slips::SMART_QUOTES) => {
                self.string()
            }
            Some(_) if self.allows(Slips::BARE_KEY) => self.bare_key(),
            _ => Err(self.broken("a key must be in quotes")),
        }
    }

    #[cold]
    fn bare_key(&mut self) -> Result<Piece<'a>, Failure> {
        let rest = self.rest();
        let end = rest.find(|c| ":\"'“”{}[],;`\n\r=".contains(c)).unwrap_or(rest.len());
        let key = rest.get(..end).unwrap_or_default().trim_end();
        if key.is_empty() || rest.as_bytes().get(end) != Some(&b':') {
            return Err(self.broken("a key must be in quotes"));
        }
        self.receipts.add(Slips::BARE_KEY, self.pos);
        self.pos += key.len();
        Ok(Cow::Borrowed(key))
    }

    /// Goes past the colon behind a key.
    pub(super) fn colon(&mut self) -> Result<(), Failure> {
        if self.byte() != Some(b':') {
            self.blank()?;
        }
        if self.byte() != Some(b':') {
            return Err(self.broken("there is no colon behind a key"));
        }
        self.pos += 1;
        if self.byte() == Some(b':') && self.forgive(Slips::SEPARATOR, self.pos) {
            self.pos += 1;
        }
        Ok(())
    }

    /// Reads any value.
    pub(super) fn value(&mut self) -> Result<Value, Failure> {
        Ok(match self.peek()? {
            Peek::Null => {
                self.word();
                Value::Null
            }
            Peek::True => {
                self.word();
                Value::Bool(true)
            }
            Peek::False => {
                self.word();
                Value::Bool(false)
            }
            Peek::Number => match self.number()? {
                Ok(number) => number_value(number),
                Err(text) => Value::String(text.into_owned()),
            },
            Peek::String => Value::String(self.string()?.into_owned()),
            Peek::Bare => self.bare_value()?,
            Peek::List => {
                self.open()?;
                let mut items = Vec::new();
                while self.more(b']', items.is_empty())? {
                    items.push(self.value()?);
                }
                self.close(b']')?;
                Value::List(items)
            }
            Peek::Object => {
                self.open()?;
                let mut map = Map::new();
                let mut first = true;
                while self.more(b'}', first)? {
                    first = false;
                    let key = self.key()?.into_owned();
                    self.colon()?;
                    let value = self.value()?;
                    map.insert(key, value);
                }
                self.close(b'}')?;
                Value::Map(map)
            }
        })
    }

    /// A word without quotes: a text, or a float that is not finite.
    #[cold]
    pub(super) fn bare_value(&mut self) -> Result<Value, Failure> {
        let start = self.pos;
        let text = self.bare()?;
        if matches!(&*text, "NaN" | "Infinity") && self.forgive(Slips::NOT_FINITE, start) {
            return Ok(Value::Float(if text == "NaN" { f64::NAN } else { f64::INFINITY }));
        }
        Ok(Value::String(text.into_owned()))
    }

    /// Goes past any value.
    pub(super) fn skip(&mut self) -> Result<(), Failure> {
        match self.peek()? {
            Peek::Null | Peek::True | Peek::False => self.word(),
            Peek::Number => {
                let _ = self.number()?;
            }
            Peek::String => {
                self.string()?;
            }
            Peek::Bare => {
                self.bare()?;
            }
            Peek::List => {
                self.open()?;
                let mut first = true;
                while self.more(b']', first)? {
                    first = false;
                    self.skip()?;
                }
                self.close(b']')?;
            }
            Peek::Object => {
                self.open()?;
                let mut first = true;
                while self.more(b'}', first)? {
                    first = false;
                    self.key()?;
                    self.colon()?;
                    self.skip()?;
                }
                self.close(b'}')?;
            }
        }
        Ok(())
    }

    /// The entries of the object at the place: each key with the place of its value. After a failure `list`
    /// has those in front of it, and `open` the key whose value was being read.
    pub(super) fn entries(
        &mut self,
        list: &mut Vec<(Piece<'a>, std::ops::Range<usize>)>,
        open: &mut Option<(Piece<'a>, usize)>,
    ) -> Result<(), Failure> {
        self.open()?;
        while self.more(b'}', list.is_empty())? {
            let key = self.key()?;
            self.colon()?;
            self.blank()?;
            let start = self.pos;
            *open = Some((key, start));
            self.skip()?;
            list.extend(open.take().map(|(key, _)| (key, start..self.pos)));
        }
        self.close(b'}')
    }

    /// Makes sure that nothing follows the value.
    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.byte() {
            self.pos += 1;
        }
        if self.pos == self.text.len() { Ok(()) } else { self.surroundings_behind() }
    }

    /// What may follow a value: brackets too many, a fence's end, a text without another value in it.
    #[cold]
    fn surroundings_behind(&mut self) -> Result<(), Failure> {
        let start = self.pos;
        let rest = self.rest();
        let after = rest.trim_start_matches([']', '}', ' ', '\n', '\r', '\t']);
        if after.len() < rest.len() && !self.forgive(Slips::EXTRA_CLOSE, start) {
            return Err(self.broken("something follows the value"));
        }
        let text = without_marker(after);
        if after.is_empty() || (!text.contains(['{', '[', '}']) && self.forgive(Slips::SURROUNDINGS, start)) {
            self.pos = self.text.len();
            return Ok(());
        }
        Err(self.broken("something follows the value"))
    }

    /// Goes to the container in the text, past a fence or words in front of it.
    pub(super) fn find_container(&mut self) {
        self.pos += self.rest().len() - self.rest().trim_start().len();
        if matches!(self.byte(), Some(b'{' | b'[')) || !self.allows(Slips::SURROUNDINGS) {
            return;
        }
        if let Some(at) = self.rest().find(['{', '[']) {
            self.receipts.add(Slips::SURROUNDINGS, self.pos);
            self.pos += at;
        }
    }
}

/// A text behind a value without the opening of an end marker that may be in front of it, one that is not quite
/// right or breaks off. Another output's marker is none: its value would be lost.
fn without_marker(text: &str) -> &str {
    let Some(name) = text.trim_start_matches('[').trim_start().strip_prefix('#') else { return text };
    let name = name.trim_start_matches(['#', ' ']);
    let end = name.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(name.len());
    let word = name.get(..end).unwrap_or_default();
    if word == "completed" || (end == name.len() && "completed".starts_with(word)) { name } else { text }
}

/// How many bytes from the front a string that ends with `close` goes on with, at least.
fn plain_run(bytes: &[u8], close: u8) -> usize {
    if close == b'"' {
        return plain_len(bytes);
    }
    bytes.iter().take_while(|&&byte| byte != close && byte != b'\\' && byte >= 0x20).count()
}

/// A number without a type; an integer beyond 128 bits is a float.
#[allow(clippy::cast_precision_loss, reason = "there is no integer that holds it")]
pub(super) fn number_value(number: Number) -> Value {
    match number {
        Number::Int(value) => Value::Int(value),
        Number::Big(value) => Value::Float(value as f64),
        Number::Float(value) => Value::Float(value),
    }
}

/// JSON's own grammar of numbers.
fn is_json_number(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let leading = matches!(unsigned, [b'0', b'0'..=b'9', ..]);
    let first = unsigned.first().is_some_and(u8::is_ascii_digit);
    first && !leading && scalar::number_is_closed(text)
}
