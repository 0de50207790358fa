//! Server-sent events (WHATWG HTML, 9.2), decoded as their bytes come.

use memchr::memchr2;

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Event {
    /// What kind of event it is; empty if the server does not say.
    pub name: String,
    /// The lines of its data, with `\n` between them.
    pub data: String,
}

/// Takes the bytes of a stream, cut anywhere, and gives its events.
///
/// Lines end with LF, CR or CRLF; comments, `id` and `retry` are passed over; a byte order mark at the start
/// is, too. Bytes that are no UTF-8 become U+FFFD.
///
/// ```
/// use imp::lm::wire::sse::Decoder;
///
/// let mut events = Vec::new();
/// let mut decoder = Decoder::new(1024);
/// for piece in ["da", "ta: Ah", "oy\r", "\n\r\n: still here\n"] {
///     decoder.push(piece.as_bytes(), &mut events)?;
/// }
/// assert_eq!(events[0].data, "Ahoy");
/// assert_eq!((events.len(), decoder.finish()), (1, None));
/// # Ok::<(), imp::lm::wire::sse::TooLong>(())
/// ```
#[derive(Debug, Clone)]
pub struct Decoder {
    /// The line so far.
    line: Vec<u8>,
    /// The last line ended with CR: an LF now is of the same end.
    after_cr: bool,
    /// A line was read.
    started: bool,
    event: Event,
    has_data: bool,
    limit: usize,
}

/// An event has more bytes than the limit allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong {
    limit: usize,
}

impl std::fmt::Display for TooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "an event of the stream has more than {} bytes", self.limit)
    }
}

impl std::error::Error for TooLong {}

impl Decoder {
    /// A decoder of a stream whose events have at most `limit` bytes each.
    pub fn new(limit: usize) -> Self {
        Decoder {
            line: Vec::new(),
            after_cr: false,
            started: false,
            event: Event::default(),
            has_data: false,
            limit,
        }
    }

    /// Takes the next bytes, and adds the events that they complete.
    ///
    /// # Errors
    ///
    /// An event is longer than the limit; what follows it cannot be read.
    pub fn push(&mut self, bytes: &[u8], events: &mut Vec<Event>) -> Result<(), TooLong> {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            let end = memchr2(b'\r', b'\n', rest);
            let (part, tail) = rest.split_at(end.unwrap_or(rest.len()));
            if part.len() > self.limit.saturating_sub(self.line.len() + self.event.data.len()) {
                return Err(TooLong { limit: self.limit });
            }
            self.line.extend_from_slice(part);
            rest = tail.get(1..).unwrap_or_default();
            if end.is_some() {
                self.after_cr = tail.first() == Some(&b'\r');
                self.end_line(events);
            }
        }
        Ok(())
    }

    /// The event that the stream ended in, if it has data. A browser drops it; servers leave out the empty line
    /// at the end.
    pub fn finish(mut self) -> Option<Event> {
        let mut events = Vec::new();
        self.end_line(&mut events);
        if self.has_data {
            events.push(self.event);
        }
        events.pop()
    }

    fn end_line(&mut self, events: &mut Vec<Event>) {
        let mut line = self.line.as_slice();
        if !std::mem::replace(&mut self.started, true) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        let line = String::from_utf8_lossy(line);
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            if std::mem::take(&mut self.has_data) {
                events.push(event);
            }
        } else {
            let (field, value) = line.split_once(':').unwrap_or((&line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "event" => value.clone_into(&mut self.event.name),
                "data" | "error" => {
                    // Older llama.cpp servers send a failure as a field of its own.
                    if field == "error" {
                        "error".clone_into(&mut self.event.name);
                    }
                    if std::mem::replace(&mut self.has_data, true) {
                        self.event.data.push('\n');
                    }
                    self.event.data.push_str(value);
                }
                _ => {}
            }
        }
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<(String, String)> {
        let mut events = Vec::new();
        let mut decoder = Decoder::new(1000);
        for piece in pieces {
            decoder.push(piece, &mut events).unwrap();
        }
        events.extend(decoder.finish());
        events.into_iter().map(|event| (event.name, event.data)).collect()
    }

    #[test]
    fn events_however_they_are_cut() {
        let cases: [(&str, &[(&str, &str)]); 13] = [
            ("", &[]),
            ("data: a\n\ndata:b\n\n", &[("", "a"), ("", "b")]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", &[("", "a"), ("", "b")]),
            ("data: a\r\rdata: b\r\r", &[("", "a"), ("", "b")]),
            ("data: a\ndata:  b\ndata\n\n", &[("", "a\n b\n")]),
            ("event: ping\ndata: {}\n\nevent: x\n\ndata: y\n\n", &[("ping", "{}"), ("", "y")]),
            (": hi\n\n:\n\nid: 7\nretry: 9\ndata: a\n: hi\nother: b\n\n", &[("", "a")]),
            ("\u{feff}data: \u{feff}a😀é\n\n", &[("", "\u{feff}a😀é")]),
            ("data: a\n\ndata: end", &[("", "a"), ("", "end")]),
            ("data: a\n\ndata: end\n", &[("", "a"), ("", "end")]),
            ("error: {\"code\": 500}\n\n", &[("error", "{\"code\": 500}")]),
            ("data:\n\n", &[("", "")]),
            ("\n\r\n\r\n\ndata: a\n\n\n", &[("", "a")]),
        ];
        for (text, expected) in cases {
            let bytes = text.as_bytes();
            let expected: Vec<_> =
                expected.iter().map(|(name, data)| ((*name).to_owned(), (*data).to_owned())).collect();
            for cut in 0..=bytes.len() {
                let (first, second) = bytes.split_at(cut);
                assert_eq!(read(&[first, b"", second]), expected, "{text:?} cut at {cut}");
            }
            assert_eq!(read(&bytes.chunks(1).collect::<Vec<_>>()), expected, "{text:?}");
        }
        assert_eq!(read(&[b"data: \xff\n\n"]), [(String::new(), "\u{fffd}".to_owned())]);
    }

    #[test]
    fn the_length_of_an_event_is_limited() {
        for text in ["data: 0123456789", "data: 01\ndata: 23\ndata: 45\ndata: 67\n"] {
            let mut decoder = Decoder::new(12);
            assert_eq!(decoder.push(text.as_bytes(), &mut Vec::new()), Err(TooLong { limit: 12 }));
        }
        let mut decoder = Decoder::new(12);
        assert_eq!(decoder.push("data: 01\n\n".repeat(50).as_bytes(), &mut Vec::new()), Ok(()));
    }
}
