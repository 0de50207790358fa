//! What a reader forgives, and what it has forgiven.

use crate::dialect::Dialect;

/// A set of slips.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Slips(u32);

impl Slips {
    pub(crate) const NONE: Slips = Slips(0);

    // What the tolerant literal parser of spec/imp.md §10 reads.
    /// A string in `'`.
    pub(crate) const SINGLE_QUOTES: Slips = Slips(1);
    /// `True`, `False`, `None`.
    pub(crate) const PYTHON_WORDS: Slips = Slips(1 << 1);
    /// A comma in front of a closing bracket.
    pub(crate) const TRAILING_COMMA: Slips = Slips(1 << 2);
    /// A backslash that escapes nothing; it stays.
    pub(crate) const ESCAPE: Slips = Slips(1 << 3);
    /// A line break, a tab or another control character inside a string.
    pub(crate) const CONTROL: Slips = Slips(1 << 4);
    /// `007`.
    pub(crate) const LEADING_ZERO: Slips = Slips(1 << 5);

    // What DSPy's parse reads beyond that (json_repair, as far as its outcome is no guess).
    /// `.5`, `5.`, `+1`.
    pub(crate) const NUMBER_SHAPE: Slips = Slips(1 << 6);
    /// `// …`, `# …`, `/* … */` between tokens.
    pub(crate) const COMMENT: Slips = Slips(1 << 7);
    /// A key without quotes.
    pub(crate) const BARE_KEY: Slips = Slips(1 << 8);
    /// A text without quotes.
    pub(crate) const BARE_TEXT: Slips = Slips(1 << 9);
    /// A string in `“` and `”`.
    pub(crate) const SMART_QUOTES: Slips = Slips(1 << 10);
    /// No comma between items, or a semicolon.
    pub(crate) const SEPARATOR: Slips = Slips(1 << 11);
    /// Text around the value, a code fence too.
    pub(crate) const SURROUNDINGS: Slips = Slips(1 << 12);
    /// A closing bracket too many at the end.
    pub(crate) const EXTRA_CLOSE: Slips = Slips(1 << 13);
    /// `NaN`, `Infinity`.
    pub(crate) const NOT_FINITE: Slips = Slips(1 << 14);
    /// A value of a neighbouring type where the type was certain: a number in quotes, `yes` for true, `3.0`
    /// for an integer.
    pub(crate) const TYPE: Slips = Slips(1 << 15);

    /// No comma in front of a key in quotes.
    pub(crate) const MISSING_COMMA: Slips = Slips(1 << 16);

    /// What a salvage forgives: all of which there is one reading only. Texts without quotes, commas too many
    /// and numbers that are not finite are guesses.
    pub(crate) const LOOSE: Slips = Slips(
        Slips::PLAIN.0
            | Slips::COMMENT.0
            | Slips::BARE_KEY.0
            | Slips::SMART_QUOTES.0
            | Slips::MISSING_COMMA.0,
    );

    const PLAIN: Slips = Slips((1 << 6) - 1);
    const DSPY: Slips = Slips((1 << 16) - 1);

    /// What `parse` forgives.
    pub(crate) fn of(dialect: Dialect) -> Slips {
        match dialect {
            Dialect::Plain => Slips::PLAIN,
            Dialect::Dspy => Slips::DSPY,
        }
    }

    pub(crate) fn contains(self, other: Slips) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the text itself was no strict JSON; its types do not matter.
    pub(crate) fn in_syntax(self) -> bool {
        self.0 & !Slips::TYPE.0 != 0
    }
}

/// What was forgiven, and where first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Receipts {
    pub(crate) slips: Slips,
    pub(crate) first: usize,
}

impl Receipts {
    #[cold]
    pub(crate) fn add(&mut self, slip: Slips, at: usize) {
        if self.slips.is_empty() {
            self.first = at;
        }
        self.slips.0 |= slip.0;
    }
}
