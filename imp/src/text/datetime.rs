//! Dates and times in ISO 8601: which texts are one, and how they are spelt.

use std::fmt::Write as _;

/// A day of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Date {
    year: u16,
    month: u8,
    day: u8,
}

/// A day and a time, with an offset from UTC or without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DateTime {
    date: Date,
    hour: u8,
    minute: u8,
    second: u8,
    micros: u32,
    /// Minutes east of UTC.
    offset: Option<i16>,
}

/// Takes `count` digits from the front.
fn digits(text: &mut &[u8], count: usize) -> Option<u32> {
    let (front, rest) = text.split_at_checked(count)?;
    let mut value = 0;
    for byte in front {
        value = value * 10 + u32::from(byte.is_ascii_digit().then(|| byte - b'0')?);
    }
    *text = rest;
    Some(value)
}

fn eat(text: &mut &[u8], wanted: &[u8]) -> bool {
    match text.split_first() {
        Some((byte, rest)) if wanted.contains(byte) => {
            *text = rest;
            true
        }
        _ => false,
    }
}

fn two(text: &mut &[u8], max: u32) -> Option<u8> {
    let value = digits(text, 2).filter(|value| *value <= max)?;
    u8::try_from(value).ok()
}

impl Date {
    /// Reads `2024-02-29`.
    fn take(text: &mut &[u8]) -> Option<Date> {
        let year = u16::try_from(digits(text, 4)?).ok()?;
        let month = eat(text, b"-").then(|| two(text, 12))??;
        let day = eat(text, b"-").then(|| two(text, 31))??;
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            0 => return None,
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        (year > 0 && (1..=days).contains(&day)).then_some(Date { year, month, day })
    }

    /// Reads a date, or a time at midnight exactly, as pydantic does.
    pub(crate) fn parse(text: &str) -> Option<Date> {
        let time = DateTime::parse(text)?;
        (time.hour == 0 && time.minute == 0 && time.second == 0 && time.micros == 0).then_some(time.date)
    }

    fn push(self, out: &mut String) {
        let _ = write!(out, "{:04}-{:02}-{:02}", self.year, self.month, self.day);
    }

    /// `2024-02-29`.
    pub(crate) fn to_iso(self) -> String {
        let mut out = String::new();
        self.push(&mut out);
        out
    }
}

impl DateTime {
    /// Reads `2024-01-02T03:04:05.678+01:00` and what pydantic takes for the same: a blank or `_` for `T`, no
    /// seconds, no time at all, an offset without its colon. More than six digits of a fraction are cut.
    pub(crate) fn parse(text: &str) -> Option<DateTime> {
        let mut rest = text.as_bytes();
        let date = Date::take(&mut rest)?;
        let mut time = DateTime { date, hour: 0, minute: 0, second: 0, micros: 0, offset: None };
        if rest.is_empty() {
            return Some(time);
        }
        if !eat(&mut rest, b"Tt _") {
            return None;
        }
        time.hour = two(&mut rest, 23)?;
        if !eat(&mut rest, b":") {
            return None;
        }
        time.minute = two(&mut rest, 59)?;
        if eat(&mut rest, b":") {
            time.second = two(&mut rest, 59)?;
            if eat(&mut rest, b".,") {
                time.micros = fraction(&mut rest)?;
            }
        }
        if !rest.is_empty() {
            time.offset = Some(offset(&mut rest)?);
        }
        rest.is_empty().then_some(time)
    }

    fn push(self, out: &mut String) {
        self.date.push(out);
        let _ = write!(out, "T{:02}:{:02}:{:02}", self.hour, self.minute, self.second);
        if self.micros > 0 {
            let _ = write!(out, ".{:06}", self.micros);
        }
    }

    /// As Python's `isoformat`: `2024-01-02T03:04:05+00:00`.
    pub(crate) fn to_iso(self) -> String {
        let mut out = String::new();
        self.push(&mut out);
        if let Some(offset) = self.offset {
            let sign = if offset < 0 { '-' } else { '+' };
            let _ = write!(out, "{sign}{:02}:{:02}", offset.abs() / 60, offset.abs() % 60);
        }
        out
    }

    /// As pydantic writes JSON: `2024-01-02T03:04:05Z`.
    pub(crate) fn to_json(self) -> String {
        if self.offset != Some(0) {
            return self.to_iso();
        }
        let mut out = String::new();
        self.push(&mut out);
        out.push('Z');
        out
    }
}

/// The digits of a fraction as microseconds; more than nine are refused, as pydantic does.
fn fraction(rest: &mut &[u8]) -> Option<u32> {
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if count == 0 || count > 9 {
        return None;
    }
    let mut value = digits(rest, count)?;
    for _ in count..6 {
        value *= 10;
    }
    for _ in 6..count {
        value /= 10;
    }
    Some(value)
}

/// An offset in minutes.
fn offset(rest: &mut &[u8]) -> Option<i16> {
    if eat(rest, b"Zz") {
        return Some(0);
    }
    let negative = rest.first() == Some(&b'-');
    if !eat(rest, b"+-") {
        return None;
    }
    let hours = i16::from(two(rest, 23)?);
    eat(rest, b":");
    let minutes = i16::from(two(rest, 59)?);
    let offset = hours * 60 + minutes;
    Some(if negative { -offset } else { offset })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_spelt_as_pydantic_does() {
        for (text, iso, json) in [
            ("2024-01-02T03:04:05", "2024-01-02T03:04:05", "2024-01-02T03:04:05"),
            ("2024-01-02T03:04:05Z", "2024-01-02T03:04:05+00:00", "2024-01-02T03:04:05Z"),
            ("2024-01-02 03:04:05-0800", "2024-01-02T03:04:05-08:00", "2024-01-02T03:04:05-08:00"),
            ("2024-01-02t03:04:05z", "2024-01-02T03:04:05+00:00", "2024-01-02T03:04:05Z"),
            ("2024-01-02", "2024-01-02T00:00:00", "2024-01-02T00:00:00"),
            ("2024-01-02T03:04", "2024-01-02T03:04:00", "2024-01-02T03:04:00"),
            ("2024-01-02T03:04:05.12Z", "2024-01-02T03:04:05.120000+00:00", "2024-01-02T03:04:05.120000Z"),
            ("2024-01-02T03:04:05.123456789", "2024-01-02T03:04:05.123456", "2024-01-02T03:04:05.123456"),
            ("2024-01-02T03:04:05+23:59", "2024-01-02T03:04:05+23:59", "2024-01-02T03:04:05+23:59"),
        ] {
            let time = DateTime::parse(text).unwrap();
            assert_eq!((time.to_iso().as_str(), time.to_json().as_str()), (iso, json));
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "now",
            "January 2, 2024",
            "2024-02-30T00:00:00",
            "2023-02-29",
            "0000-01-01",
            "2024-01-02T24:00:00",
            "2016-12-31T23:59:60Z",
            "10000-01-01T00:00:00",
            "2024-01-02T03:04:05 UTC",
            "2024-01-02T03:04:05.",
            "2024-01-02T03:04:05+1",
            "2024-1-2",
            "2024/01/02",
            "2024-01-02T",
            "２０２４-01-02",
        ] {
            assert_eq!(DateTime::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_date_may_be_a_time_at_midnight() {
        assert_eq!(Date::parse("2024-02-29").unwrap().to_iso(), "2024-02-29");
        assert_eq!(Date::parse("2024-01-02T00:00:00Z").unwrap().to_iso(), "2024-01-02");
        assert_eq!(Date::parse("2024-01-02T00:00:01"), None);
    }
}
