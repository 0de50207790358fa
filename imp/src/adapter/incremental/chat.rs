//! The sections of a reply of markers while it is written.
//!
//! One pass over its characters. What is not certain to be text is waited with: white space, which the end of a section
//! cuts off; what may become a marker, with what could be its decoration; a tag that may end a think block. A marker that
//! only a lenient reading would take ends the pass: what follows is known when the reply ends.

use std::ops::Range;

use crate::adapter::Adapter as _;
use crate::adapter::chat::Chat;
use crate::adapter::incremental::ending::{self, Said};
use crate::adapter::incremental::{Certain, Incremental};
use crate::adapter::record::Section;
use crate::spec::SignatureSpec;
use crate::text::marker::{self, folded};
use crate::text::scan::{self, Lines, is_blank, trim};
use crate::text::write::is_escaped_opening;

/// How long the decoration in front of a marker may be, in bytes.
const LONGEST_LEAD: usize = 64;

/// How many signs of emphasis may stand on either side of a marker.
const MOST_SIGNS: usize = 4;

/// The state of the reading of one reply.
#[derive(Debug)]
pub(crate) struct Scanner {
    chat: Chat,
    spec: SignatureSpec,
    /// What a lenient reading may call an output, or the end.
    known: Vec<String>,
    /// The names of think blocks, but for those that are outputs.
    think: Vec<&'static str>,
    part: Part,
    state: State,
    /// How much of the reply was looked at.
    at: usize,
    /// Where what is read as a text of its own begins: behind the think blocks.
    base: usize,
    /// Where the line begins.
    line: usize,
    /// Where the section begins, behind its marker.
    from: usize,
    /// Up to where the section's text was said.
    done: usize,
    /// Up to where it is certain.
    solid: usize,
    /// How many signs of emphasis were the last.
    signs: usize,
    /// Whether the text that was said ends on the line of the marker; none if there was no text.
    on_marker_line: Option<bool>,
    said: Vec<Said>,
    places: Vec<Option<Range<usize>>>,
    ended: Vec<Option<Section<'static>>>,
    /// How many characters were looked at.
    #[cfg(test)]
    looked_at: usize,
}

/// The part of the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// In front of the first marker.
    Front,
    /// In a think block of that name.
    Think(&'static str),
    /// In the section of an output.
    Output(usize),
    /// In a section of nothing that was asked for.
    Other,
    /// Behind the end marker.
    Behind,
    /// Where only the end tells.
    Held,
}

/// What the last characters may be.
#[derive(Debug, Clone, Copy)]
enum State {
    /// The decoration of a marker, at the front of a line.
    Lead,
    Text,
    Marker(Candidate),
    /// A tag that begins there.
    Tag(usize),
}

/// A text that may become a marker.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    start: usize,
    brackets: usize,
    hashes: usize,
    phase: Phase,
    /// Whether only decoration stands in front of it.
    leads: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    Gap,
    Hashes,
    Name,
    CloseHashes,
    CloseGap,
    Close,
}

enum Verdict {
    Pending,
    /// It is none, and the character is not part of it.
    No,
    /// It has the shape of one; whether the character is part of it.
    Shape(bool),
}

impl Candidate {
    fn step(&mut self, c: char) -> Verdict {
        let gap = c != '\n' && c != '\r' && marker::is_blank(c);
        self.phase = match (self.phase, c) {
            (Phase::Open, '[') => {
                self.brackets += 1;
                Phase::Open
            }
            (Phase::Open, _) if self.brackets > 2 => return Verdict::No,
            (Phase::Open | Phase::Gap, '#') => {
                self.hashes = 1;
                Phase::Hashes
            }
            (Phase::Open | Phase::Gap, _) if gap => Phase::Gap,
            (Phase::Hashes, '#') => {
                self.hashes += 1;
                Phase::Hashes
            }
            (Phase::Hashes, _) if self.hashes < 2 => return Verdict::No,
            (Phase::Hashes | Phase::Name, '[' | '\\' | '\n' | '\r') => return Verdict::No,
            (Phase::Name | Phase::CloseHashes, '#') => Phase::CloseHashes,
            (Phase::Hashes | Phase::Name | Phase::CloseHashes | Phase::CloseGap, ']') => Phase::Close,
            (Phase::Hashes | Phase::Name, _) => Phase::Name,
            (Phase::CloseHashes | Phase::CloseGap, _) if gap => Phase::CloseGap,
            (Phase::Close, _) => return Verdict::Shape(c == ']'),
            _ => return Verdict::No,
        };
        Verdict::Pending
    }
}

impl Scanner {
    pub(crate) fn new(chat: Chat, spec: &SignatureSpec) -> Self {
        let names = spec.outputs.iter().flat_map(|field| std::iter::once(&field.name).chain(&field.aliases));
        let mut known: Vec<String> = names.map(|name| folded(name)).collect();
        known.push("completed".to_owned());
        let think = ["think", "thinking"]
            .into_iter()
            .filter(|name| spec.outputs.iter().all(|field| field.name != *name))
            .collect();
        let count = spec.outputs.len();
        Scanner {
            chat,
            spec: spec.clone(),
            known,
            think,
            part: Part::Front,
            state: State::Lead,
            at: 0,
            base: 0,
            line: 0,
            from: 0,
            done: 0,
            solid: 0,
            signs: 0,
            on_marker_line: None,
            said: vec![Said::default(); count],
            places: vec![None; count],
            ended: vec![None; count],
            #[cfg(test)]
            looked_at: 0,
        }
    }

    /// Looks at the character `c` at `at`.
    fn look(&mut self, front: &str, at: usize, c: char, certain: &mut Vec<Certain>) {
        let lines = self.chat.lines();
        // A character that ends what was waited for is looked at once more, as what it is.
        match self.state {
            State::Marker(mut candidate) => {
                if lines == Lines::Python && marker::is_separator(c) {
                    // A line end to the exact reading, a blank to the lenient one.
                    return self.hold(certain, front);
                }
                match candidate.step(c) {
                    Verdict::Pending => {
                        self.state = State::Marker(candidate);
                        return;
                    }
                    Verdict::No => self.no_marker(front, candidate, at, certain),
                    Verdict::Shape(true) => return self.shape(front, candidate, at + 1, certain),
                    Verdict::Shape(false) => self.shape(front, candidate, at, certain),
                }
                if self.part == Part::Held {
                    return;
                }
            }
            State::Tag(start) => {
                let tag = front.get(start..at + c.len_utf8()).unwrap_or_default();
                let is_front = self.part == Part::Front;
                let mut found = self.think.iter().map(|name| (*name, tag_of(tag, name, !is_front)));
                match found.rfind(|(_, found)| *found != Tag::None) {
                    Some((_, Tag::Front)) => return,
                    Some((name, _)) => {
                        let before = front.get(self.base..start).unwrap_or_default();
                        let line = before.trim_end_matches([' ', '\t']);
                        let begins = trim(before).is_empty() || line.ends_with(['\n', '\r']);
                        if !is_front || !begins {
                            return self.hold(certain, front);
                        }
                        self.part = Part::Think(name);
                        self.at = at + 1;
                        return;
                    }
                    None => {
                        self.solid = at;
                        self.state = State::Text;
                    }
                }
            }
            State::Lead | State::Text => {}
        }
        let end = at + c.len_utf8();
        let leads = matches!(self.state, State::Lead);
        let is_sign = matches!(c, '*' | '_' | '`' | '"' | '\'');
        self.signs = if is_sign { self.signs + 1 } else { 0 };
        if matches!(c, '\n' | '\r') || lines.ends_at(c) {
            self.line = end;
            self.state = State::Lead;
        } else if c == '[' {
            let candidate = Candidate { start: at, brackets: 1, hashes: 0, phase: Phase::Open, leads };
            self.state = State::Marker(candidate);
        } else if c == '<' {
            self.state = State::Tag(at);
        } else if is_blank(c) {
            // It counts when something follows.
        } else if leads && end - self.line <= LONGEST_LEAD && is_lead(c) {
            // So does what may be decoration.
        } else {
            self.state = State::Text;
            // The last signs wait, with the white space in front of them.
            if is_sign {
                if self.signs > MOST_SIGNS {
                    self.solid = self.solid.max(end - MOST_SIGNS);
                }
            } else if c != '\\' {
                self.solid = self.solid.max(end);
            } else if front.get(..at).is_some_and(|before| before.ends_with('\\')) {
                self.solid = self.solid.max(at);
            }
        }
    }

    /// The text that might have become a marker and ends at `end` is none.
    fn no_marker(&mut self, front: &str, candidate: Candidate, end: usize, certain: &mut Vec<Certain>) {
        let start = candidate.start;
        if let Part::Output(output) = self.part {
            let bare = self.spec.outputs.get(output).is_some_and(|field| field.tree.is_bare_text());
            let text = front.get(self.from..end).unwrap_or_default();
            // The backslash in front of it was waited with.
            if bare && start > self.from && is_escaped_opening(text, start - self.from, candidate.brackets) {
                if self.chat.escapes_markers() {
                    self.solid = start - 1;
                    self.say(front, certain);
                    self.done = start;
                } else if self.chat.lines() == Lines::Plain {
                    // The lenient reading takes it off all the same.
                    return self.hold(certain, front);
                }
            }
        }
        let body = front.get(start..end).unwrap_or_default();
        self.solid = self.solid.max(start + body.trim_end_matches(is_blank).len());
        self.state = State::Text;
    }

    /// A text of the shape of a marker ends at `end`.
    fn shape(&mut self, front: &str, candidate: Candidate, end: usize, certain: &mut Vec<Certain>) {
        let start = candidate.start;
        let text = front.get(self.base..end).unwrap_or_default();
        let place = start - self.base;
        if let Some(marker) = scan::marker_at(text, place, self.chat.lines()) {
            // Behind a line end of Python's, or far from the line's front, the lenient reading has another one.
            if marker::lead(text, place).is_none_or(|lead| !trim(lead).is_empty()) {
                return self.hold(certain, front);
            }
            return self.mark(front, marker.name, self.base + marker.line, end, certain);
        }
        let escaped = text.get(..place).is_some_and(|before| before.ends_with('\\'));
        let loose = marker::marker_at(text, place, candidate.brackets).filter(|_| !escaped);
        let matters = loose.is_some_and(|marker| {
            self.known.contains(&folded(marker.name)) || (marker.full && candidate.leads)
        });
        if matters {
            return self.hold(certain, front);
        }
        self.no_marker(front, candidate, end, certain);
    }

    /// A marker line begins at `line`, and its marker ends at `end`.
    fn mark(&mut self, front: &str, name: &str, line: usize, end: usize, certain: &mut Vec<Certain>) {
        match self.part {
            Part::Front => {
                let before = front.get(self.base..line).unwrap_or_default();
                let names = self.spec.outputs.iter().map(|field| field.name.as_str());
                // A fence may be around the whole; an object or an element may be what is read leniently.
                let other = ["```", "~~~", "{"].iter().any(|sign| before.contains(sign));
                if other || scan::has_tag(before, &names) {
                    return self.hold(certain, front);
                }
            }
            Part::Output(output) => {
                let rest = front.get(self.solid..line).unwrap_or_default();
                let rest = rest.trim_end_matches(is_blank);
                self.solid = self.solid.max(self.solid + rest.len());
                self.say(front, certain);
                if let Some(said) = self.said.get_mut(output) {
                    said.closed = true;
                }
                if let Some(place) = self.places.get_mut(output) {
                    *place = Some(self.from..line);
                }
                certain.push(Certain::Closed { output });
            }
            Part::Think(_) | Part::Other | Part::Behind | Part::Held => {}
        }
        let called = self.spec.outputs.iter().position(|field| field.is_called(name));
        let first = called.filter(|at| self.said.get(*at).is_some_and(|said| !said.closed));
        self.part = match (self.part, first) {
            (Part::Behind, _) => Part::Behind,
            (_, Some(output)) => Part::Output(output),
            // The first section of a name wins.
            (_, None) if called.is_some() => Part::Other,
            (_, None) if name == "completed" => Part::Behind,
            // A lenient reading takes it for an output's.
            (_, None) if self.known.contains(&folded(name)) => Part::Held,
            (_, None) => Part::Other,
        };
        self.state = State::Text;
        (self.line, self.from, self.done, self.solid, self.signs) = (end, end, end, end, 0);
        self.on_marker_line = None;
    }

    /// Waits for the end from here on.
    fn hold(&mut self, certain: &mut Vec<Certain>, front: &str) {
        self.say(front, certain);
        self.part = Part::Held;
    }

    /// Says what is certain of the section's text.
    fn say(&mut self, front: &str, certain: &mut Vec<Certain>) {
        let Part::Output(output) = self.part else { return };
        let raw = front.get(self.done..self.solid).unwrap_or_default();
        self.done = self.done.max(self.solid);
        if raw.is_empty() {
            return;
        }
        let lines = self.chat.lines();
        let mut text = raw;
        if self.on_marker_line.is_none() {
            text = raw.trim_start_matches(is_blank);
            let lead = raw.get(..raw.len() - text.len()).unwrap_or_default();
            self.on_marker_line = Some(!lead.contains(|c| lines.ends_at(c)));
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(end) = rest.find(|c| lines.ends_at(c)) {
            let (line, after) = rest.split_at(end);
            // The marker's own line is trimmed on its own.
            let ragged = self.on_marker_line == Some(true);
            out.push_str(if ragged { line.trim_end_matches(is_blank) } else { line });
            self.on_marker_line = Some(false);
            out.push('\n');
            let mut chars = after.chars();
            if chars.next() == Some('\r') && chars.as_str().starts_with('\n') {
                chars.next();
            }
            rest = chars.as_str();
        }
        out.push_str(rest);
        if out.is_empty() {
            return;
        }
        if let Some(said) = self.said.get_mut(output) {
            said.text.push_str(&out);
        }
        match certain.last_mut() {
            Some(Certain::Text { output: last, text }) if *last == output => text.push_str(&out),
            _ => certain.push(Certain::Text { output, text: out }),
        }
    }

    /// Looks for the end of a think block.
    fn skip(&mut self, front: &str, name: &str) {
        let rest = front.get(self.at..).unwrap_or_default();
        let close = memchr::memchr_iter(b'<', rest.as_bytes()).find_map(|at| {
            match tag_of(rest.get(at..).unwrap_or_default(), name, true) {
                Tag::Whole => Some((at, true)),
                Tag::Front => Some((at, false)),
                Tag::None => None,
            }
        });
        match close {
            None => self.at = front.len(),
            Some((at, false)) => self.at += at,
            Some((at, true)) => {
                self.at += at + name.len() + 3;
                (self.base, self.line, self.solid) = (self.at, self.at, self.at);
                self.part = Part::Front;
                self.state = State::Lead;
            }
        }
    }
}

/// How a text begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tag {
    /// With the tag.
    Whole,
    /// With the front of it, which is all of the text.
    Front,
    None,
}

/// Whether a text begins with the opening or the closing tag of that name.
fn tag_of(text: &str, name: &str, close: bool) -> Tag {
    let tag = [if close { "</" } else { "<" }, name, ">"].concat();
    let length = text.len().min(tag.len());
    match (text.as_bytes().get(..length), tag.as_bytes().get(..length)) {
        (Some(front), Some(tag)) if !front.eq_ignore_ascii_case(tag) => Tag::None,
        _ if length == tag.len() => Tag::Whole,
        _ => Tag::Front,
    }
}

/// Whether a character may be decoration in front of a marker.
fn is_lead(c: char) -> bool {
    c.is_ascii_digit()
        || marker::is_blank(c)
        || matches!(c, '#' | '>' | '-' | '+' | '•' | '*' | '_' | '`' | '"' | '\'' | '.' | ')')
}

impl Incremental for Scanner {
    fn advance(&mut self, front: &str, certain: &mut Vec<Certain>) {
        while self.at < front.len() && self.part != Part::Held {
            if let Part::Think(name) = self.part {
                let before = self.at;
                self.skip(front, name);
                if self.at == before {
                    break;
                }
                continue;
            }
            let Some(c) = front.get(self.at..).and_then(|rest| rest.chars().next()) else { break };
            let at = self.at;
            self.at += c.len_utf8();
            #[cfg(test)]
            {
                self.looked_at += 1;
            }
            self.look(front, at, c, certain);
        }
        self.say(front, certain);
    }

    fn end(&mut self, reply: &str, certain: &mut Vec<Certain>) {
        self.advance(reply, certain);
        self.part = Part::Held;
        self.ended = ending::end(&self.chat, &self.spec, reply, &self.said, certain);
    }

    fn section<'r>(&self, front: &'r str, output: usize) -> Section<'r> {
        if let Some(Some(place)) = self.places.get(output) {
            let (text, start) = scan::section(front, place.start, place.end, self.chat.lines());
            return Section::text(text, start);
        }
        self.ended.get(output).cloned().flatten().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_character_is_looked_at_once() {
        let spec = SignatureSpec::parse("question -> answer").unwrap();
        for piece in ["word ", " ", "[[ ", "[", "\\[[ ## x", "#", "\n- ", "</thi", "[[ ## a ## ", "*"] {
            let mut reply = "[[ ## answer ## ]]\n".to_owned();
            reply.push_str(&piece.repeat(200_000 / piece.len()));
            let mut scanner = Scanner::new(Chat::new(), &spec);
            let mut certain = Vec::new();
            let mut length = 0;
            for c in reply.chars() {
                length += c.len_utf8();
                scanner.advance(&reply[..length], &mut certain);
            }
            assert_eq!(scanner.looked_at, reply.chars().count(), "{piece}");
        }
    }
}
