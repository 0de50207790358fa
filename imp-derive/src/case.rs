//! `rename_all`: the cases that serde knows.

/// How the names of fields, which Rust writes in `snake_case`, are changed.
#[derive(Clone, Copy)]
pub(crate) enum RenameRule {
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

use RenameRule::{Camel, Kebab, Lower, Pascal, ScreamingKebab, ScreamingSnake, Snake, Upper};

const RULES: [(&str, RenameRule); 8] = [
    ("lowercase", Lower),
    ("UPPERCASE", Upper),
    ("PascalCase", Pascal),
    ("camelCase", Camel),
    ("snake_case", Snake),
    ("SCREAMING_SNAKE_CASE", ScreamingSnake),
    ("kebab-case", Kebab),
    ("SCREAMING-KEBAB-CASE", ScreamingKebab),
];

impl RenameRule {
    /// The rule of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        RULES.iter().find(|(rule, _)| *rule == name).map(|(_, rule)| *rule)
    }

    /// The names of all rules.
    pub(crate) fn names() -> Vec<&'static str> {
        RULES.iter().map(|(name, _)| *name).collect()
    }

    pub(crate) fn apply(self, field: &str) -> String {
        match self {
            // As in serde: a field is in lower case and in snake case already.
            Lower | Snake => field.to_owned(),
            Upper | ScreamingSnake => field.to_ascii_uppercase(),
            Pascal => pascal(field),
            Camel => {
                let pascal = pascal(field);
                let mut chars = pascal.chars();
                chars
                    .next()
                    .map_or(String::new(), |first| first.to_ascii_lowercase().to_string() + chars.as_str())
            }
            Kebab => field.replace('_', "-"),
            ScreamingKebab => field.to_ascii_uppercase().replace('_', "-"),
        }
    }
}

fn pascal(field: &str) -> String {
    let mut name = String::new();
    let mut start = true;
    for c in field.chars() {
        if c == '_' {
            start = true;
        } else if start {
            name.push(c.to_ascii_uppercase());
            start = false;
        } else {
            name.push(c);
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::RenameRule;

    #[test]
    fn every_rule() {
        for (rule, one, two) in [
            ("lowercase", "plan", "due_date"),
            ("UPPERCASE", "PLAN", "DUE_DATE"),
            ("PascalCase", "Plan", "DueDate"),
            ("camelCase", "plan", "dueDate"),
            ("snake_case", "plan", "due_date"),
            ("SCREAMING_SNAKE_CASE", "PLAN", "DUE_DATE"),
            ("kebab-case", "plan", "due-date"),
            ("SCREAMING-KEBAB-CASE", "PLAN", "DUE-DATE"),
        ] {
            let found = RenameRule::named(rule).expect(rule);
            assert_eq!((&*found.apply("plan"), &*found.apply("due_date")), (one, two), "{rule}");
        }
        assert_eq!(RenameRule::names().len(), 8);
        assert!(RenameRule::named("snakecase").is_none());
    }

    #[test]
    fn nothing_stays_nothing() {
        for rule in RenameRule::names() {
            assert_eq!(RenameRule::named(rule).map(|rule| rule.apply("")), Some(String::new()));
        }
    }
}
