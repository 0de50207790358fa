//! When a request is sent again.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use super::{Headers, LmError};

/// When and how often a client repeats a request that failed.
///
/// Only what may succeed then is repeated ([`LmError::is_retryable`]): 408, 409, 425, 429 and 5xx, and a connection
/// that failed before a reply. The waits double, each shortened at random by up to a half, so that clients that failed
/// together do not come back together. A provider's `Retry-After` is obeyed. A client that fails all the time stops
/// repeating: every repetition costs five of 500 points, every success gives one back (AWS's rule).
///
/// | setting | default |
/// | --- | --- |
/// | [`most`](Self::most) | 2 repetitions |
/// | [`first_wait`](Self::first_wait) | 0.5 seconds |
/// | [`longest_wait`](Self::longest_wait) | 8 seconds |
/// | [`longest_retry_after`](Self::longest_retry_after) | 60 seconds |
///
/// ```
/// use std::time::Duration;
/// use imp::OpenAi;
/// use imp::lm::Retries;
///
/// let patient = OpenAi::new("gpt-4.1-mini").retries(Retries::new().most(5).longest_wait(Duration::from_secs(30)));
/// let strict = OpenAi::new("gpt-4.1-mini").retries(Retries::none());
/// # let _ = (patient, strict);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    most: u32,
    first_wait: Duration,
    longest_wait: Duration,
    longest_retry_after: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Retries {
            most: 2,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(8),
            longest_retry_after: Duration::from_secs(60),
        }
    }
}

impl Retries {
    /// The defaults.
    pub fn new() -> Self {
        Retries::default()
    }

    /// No repetition, but for that of a connection that the server had closed meanwhile.
    pub fn none() -> Self {
        Retries::new().most(0)
    }

    /// Sets how often a request is repeated.
    pub fn most(mut self, times: u32) -> Self {
        self.most = times;
        self
    }

    /// Sets the wait before the first repetition; each further one is twice as long.
    pub fn first_wait(mut self, wait: Duration) -> Self {
        self.first_wait = wait;
        self
    }

    /// Sets the longest wait, where the provider does not ask for one.
    pub fn longest_wait(mut self, wait: Duration) -> Self {
        self.longest_wait = wait;
        self
    }

    /// Sets the longest wait that a provider may ask for. A longer one ends the call with the provider's error, which
    /// says how long it is.
    pub fn longest_retry_after(mut self, wait: Duration) -> Self {
        self.longest_retry_after = wait;
        self
    }

    /// How long to wait after the failure of the try `tried` (the first is 0); `None` if it was the last.
    pub(super) fn wait(&self, tried: u32, error: &LmError) -> Option<Duration> {
        if tried >= self.most || !error.is_retryable() {
            return None;
        }
        let factor = 2_u32.checked_pow(tried).unwrap_or(u32::MAX);
        let backoff = self.first_wait.saturating_mul(factor).min(self.longest_wait);
        let backoff = backoff.mul_f64(1.0 - random() / 2.0);
        match error.retry_after() {
            // A little later than asked, since clocks differ and others wait, too.
            Some(asked) if asked <= self.longest_retry_after => {
                Some(asked.saturating_add(asked.mul_f64(random() * 0.1)).max(backoff))
            }
            Some(_) => None,
            None => Some(backoff),
        }
    }
}

/// A number from 0 to 1. The hasher's keys differ with every one.
fn random() -> f64 {
    let bits = RandomState::new().hash_one(0_u8) >> 32;
    f64::from(u32::try_from(bits).unwrap_or(0)) / f64::from(u32::MAX)
}

/// What a client may still spend on repetitions.
#[derive(Debug)]
pub(super) struct Budget(AtomicI64);

const POINTS: i64 = 500;
const COST: i64 = 5;

impl Default for Budget {
    fn default() -> Self {
        Budget(AtomicI64::new(POINTS))
    }
}

impl Budget {
    pub(super) fn spend(&self) -> bool {
        let spent = |points: i64| (points >= COST).then(|| points - COST);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spent).is_ok()
    }

    /// After a success; what its repetition cost is given back.
    pub(super) fn earn(&self, repeated: bool) {
        let earned = |points: i64| Some((points + if repeated { COST } else { 1 }).min(POINTS));
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, earned);
    }
}

/// What a provider asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date.
///
/// A date counts from the reply's own `date`, so that the two clocks need not agree; else from `now`.
pub(super) fn retry_after(headers: &Headers, now: Option<SystemTime>) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.trim().parse::<f64>().ok();
    if let Some(seconds) =
        number("retry-after-ms").map(|millis| millis / 1000.0).or_else(|| number("retry-after"))
    {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = date(headers.get("retry-after")?)?;
    let sent = headers.get("date").and_then(date);
    let since =
        |now: SystemTime| now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let now = sent.or_else(|| now.map(since))?;
    Some(Duration::from_secs(until.saturating_sub(now)))
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Seconds since 1970 of an HTTP date: `Wed, 21 Oct 2026 07:28:00 GMT`.
fn date(text: &str) -> Option<u64> {
    let mut words = text.split_once(',')?.1.split_whitespace();
    let day: u64 = words.next()?.parse().ok().filter(|day| (1..=31).contains(day))?;
    let name = words.next()?;
    let month = u64::try_from(MONTHS.iter().position(|month| *month == name)?).ok()? + 1;
    let year: u64 = words.next()?.parse().ok().filter(|year| (1970..10_000).contains(year))?;
    let mut clock = words.next()?.split(':').map(|part| part.parse::<u64>().ok().filter(|part| *part < 61));
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    // The days before a date, with years that begin in March (Howard Hinnant's `days_from_civil`).
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    let days = days.checked_sub(719_468)?;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lm::LmErrorKind;

    #[test]
    fn dates() {
        for (text, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Wed, 21 Oct 2015 07:28:00 GMT", Some(1_445_412_480)),
            ("Thu, 29 Feb 2024 23:59:59 GMT", Some(1_709_251_199)),
            ("Wed, 21 Foo 2015 07:28:00 GMT", None),
            ("Wed, 21 Oct 2015", None),
            ("soon", None),
        ] {
            assert_eq!(date(text), seconds, "{text}");
        }
    }

    #[test]
    fn what_a_provider_asks() {
        let at = |seconds| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        let date = ("date", "Wed, 21 Oct 2015 07:28:00 GMT");
        let later = ("retry-after", "Wed, 21 Oct 2015 07:28:10 GMT");
        let cases = [
            (vec![("retry-after", "2")], None, Some(2000)),
            (vec![("retry-after", "1.5")], None, Some(1500)),
            (vec![("Retry-After", "2"), ("retry-after-ms", "250")], None, Some(250)),
            (vec![date, later], at(0), Some(10_000)),
            (vec![later], at(1_445_412_487), Some(3000)),
            (vec![later], at(1_445_412_999), Some(0)),
            (vec![later], None, None),
            (vec![("retry-after", "-1")], None, None),
            (vec![("retry-after", "soon")], at(0), None),
            (vec![], at(0), None),
        ];
        for (headers, now, millis) in cases {
            let got = retry_after(&headers.iter().copied().collect(), now);
            assert_eq!(got, millis.map(Duration::from_millis), "{headers:?}");
        }
    }

    #[test]
    fn waits() {
        let retries =
            Retries::new().most(3).first_wait(Duration::from_secs(1)).longest_wait(Duration::from_secs(3));
        let busy = LmError::new(LmErrorKind::Overloaded, "busy");
        for (tried, least, most) in [(0, 0.5, 1.0), (1, 1.0, 2.0), (2, 1.5, 3.0)] {
            let wait = retries.wait(tried, &busy).unwrap().as_secs_f64();
            assert!((least..=most).contains(&wait), "{wait}");
        }
        assert_eq!(retries.wait(3, &busy), None);
        assert_eq!(retries.wait(0, &LmError::new(LmErrorKind::Auth, "no")), None);
        let asked = |seconds| busy.clone().with_retry_after(Duration::from_secs(seconds));
        assert!(retries.wait(0, &asked(20)).unwrap() >= Duration::from_secs(20));
        assert_eq!(retries.wait(0, &asked(61)), None);
    }

    #[test]
    fn a_budget_ends() {
        let budget = Budget::default();
        assert_eq!((0..200).filter(|_| budget.spend()).count(), 100);
        for _ in 0..5 {
            budget.earn(false);
        }
        assert!(budget.spend());
        assert!(!budget.spend());
        budget.earn(true);
        assert!(budget.spend());
    }
}
