//! Messages of a bounded length: an error about a megabyte is not a megabyte.

use std::fmt;

/// How many characters of a long line are shown at its start and at its end.
const SHOWN: usize = 200;

/// A text of which every long line is shown with its start and its end, the rest counted.
///
/// The end is shown since a message has its remedy there.
pub(crate) struct Bounded<'t>(pub(crate) &'t str);

impl fmt::Display for Bounded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Three times, so that what is left out is longer than what says so.
        if self.0.len() <= 3 * SHOWN {
            return f.write_str(self.0);
        }
        for (at, line) in self.0.split('\n').enumerate() {
            if at == 2 * SHOWN {
                let rest = self.0.split('\n').count() - at;
                return write!(f, "\n… ({rest} more lines)");
            }
            if at > 0 {
                f.write_str("\n")?;
            }
            let count = line.chars().count();
            if count <= 3 * SHOWN {
                f.write_str(line)?;
                continue;
            }
            let place = |chars: usize| line.char_indices().nth(chars).map_or(line.len(), |(at, _)| at);
            let (head, tail) = (&line[..place(SHOWN)], &line[place(count - SHOWN)..]);
            write!(f, "{head}… ({} characters left out) …{tail}", count - 2 * SHOWN)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_in_the_middle() {
        let short = "ü".repeat(600);
        assert_eq!(Bounded(&short).to_string(), short);
        let long = format!("start{}end\nlast", "ü".repeat(1000));
        let shown = Bounded(&long).to_string();
        assert!(shown.starts_with("startü") && shown.ends_with("üend\nlast"), "{shown}");
        assert!(shown.contains("ü… (608 characters left out) …ü"), "{shown}");
        let lines = "a\n".repeat(100_000);
        assert!(Bounded(&lines).to_string().ends_with("\n… (99601 more lines)"));
    }
}
