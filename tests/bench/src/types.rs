//! The structs of the workloads, and their values.
#![expect(
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    reason = "the numbers of the workloads are small"
)]
#![expect(missing_docs, reason = "a field's documentation is part of its prompt, and must be as it is")]

use imp::{History, Signature};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::{lines, text};

/// Answer questions with short factoid answers.
#[derive(Debug, Clone, Serialize, Signature)]
#[signature(output = ShortAnswer)]
pub struct Question {
    pub question: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Signature)]
pub struct ShortAnswer {
    pub answer: String,
}

/// Answer at length.
#[derive(Debug, Clone, Serialize, Signature)]
#[signature(output = ShortAnswer)]
pub struct LongQuestion {
    pub question: String,
}

/// Answer from the passages only.
/// If they do not hold the answer, say so.
#[derive(Debug, Clone, Serialize, Signature)]
#[signature(output = CitedAnswer)]
pub struct Passages {
    /// passages
    pub context: Vec<String>,
    pub question: String,
    pub max_words: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Signature)]
pub struct CitedAnswer {
    /// one or two sentences
    pub answer: String,
    pub citations: Vec<i64>,
    pub confidence: f64,
    pub kind: Claim,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Claim {
    Fact,
    Opinion,
    Unknown,
}

/// Review the documents.
///
/// Rules:
/// - cite evidence
/// - keep the tone neutral
///   - no jokes
/// - answer in the language of the question
#[derive(Debug, Clone, Serialize, Signature)]
#[signature(output = Review)]
pub struct Documents {
    pub question: String,
    /// what to review
    pub documents: Vec<Section>,
    pub history: History,
    pub audience: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Signature)]
pub struct Review {
    pub reasoning: String,
    pub report: Report,
    pub summary: String,
    pub approved: bool,
    pub actions: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    pub title: String,
    pub authors: Vec<Person>,
    pub sections: Vec<Section>,
    pub word_count: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Section {
    pub heading: String,
    pub body: String,
    pub findings: Vec<Finding>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    pub title: String,
    pub severity: Severity,
    #[schemars(range(min = 0, max = 1))]
    pub score: f64,
    pub evidence: Vec<String>,
    #[serde(default)]
    pub owner: Option<Person>,
    #[serde(default)]
    pub tags: Vec<Tag>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(extend("x-imp-names" = ["LOW", "MEDIUM", "HIGH"]))]
pub enum Severity {
    Low,
    Medium,
    High,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Tag {
    Cost,
    Risk,
    Time,
    Quality,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Person {
    /// full name
    pub name: String,
    #[schemars(range(min = 0, max = 150))]
    pub age: i64,
    #[serde(default)]
    pub email: Option<String>,
}

/// Analyse the article.
#[derive(Debug, Clone, Serialize, Deserialize, Signature)]
#[signature(output = Analysis)]
pub struct Article {
    pub title: String,
    pub body: String,
    pub tags: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Signature)]
pub struct Analysis {
    pub summary: String,
    pub sentiment: Sentiment,
    pub confidence: f64,
    pub entities: Vec<Entity>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sentiment {
    Positive,
    Neutral,
    Negative,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Entity {
    pub name: String,
    pub kind: String,
    pub count: i64,
}

impl Person {
    fn new(number: usize) -> Self {
        Person {
            name: format!("Zoë Müller-{number}"),
            age: 20 + (number % 60) as i64,
            email: (number % 2 == 1).then(|| format!("zoe{number}@example.org")),
        }
    }
}

impl Finding {
    fn new(number: usize, chars: usize) -> Self {
        Finding {
            title: format!("Finding {number}: cost overrun"),
            severity: [Severity::Low, Severity::Medium, Severity::High][number % 3],
            score: (number % 10) as f64 / 10.0,
            evidence: vec![text(7 * number, chars), text(7 * number + 1, chars)],
            owner: (number % 3 > 0).then(|| Person::new(number)),
            tags: [Tag::Cost, Tag::Risk][..number % 3].to_vec(),
        }
    }
}

/// How large a report is.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub sections: usize,
    /// Findings of each section.
    pub findings: usize,
    /// Characters of a section's body.
    pub body: usize,
    /// Characters of each of a finding's two pieces of evidence.
    pub evidence: usize,
}

impl Review {
    /// The answer numbered `number`.
    pub fn new(number: usize, size: Size) -> Self {
        let section = |at: usize| Section {
            heading: format!("Section {at}"),
            body: text(number + at, size.body),
            findings: (0..size.findings)
                .map(|finding| Finding::new(10 * at + finding, size.evidence))
                .collect(),
        };
        Review {
            reasoning: text(number, 1500),
            report: Report {
                title: format!("Quarterly review {number}"),
                authors: (number..number + 3).map(Person::new).collect(),
                sections: (0..size.sections).map(section).collect(),
                word_count: 1234 + number as i64,
            },
            summary: text(number + 1, 600),
            approved: number % 2 == 1,
            actions: (0..5).map(|action| format!("action {action}: {}", text(action, 60))).collect(),
        }
    }
}

impl Documents {
    /// The question numbered `number`, with a conversation or an empty one.
    pub fn new(number: usize, history: History) -> Self {
        let section = |at: usize| Section {
            heading: format!("H{at}"),
            body: text(at, 400),
            findings: vec![Finding::new(at, 120)],
        };
        Documents {
            question: format!("Question {number}: {}", text(number, 200)),
            documents: (0..3).map(section).collect(),
            history,
            audience: Some("board".to_owned()),
        }
    }
}

impl Passages {
    pub fn new(number: usize) -> Self {
        Passages {
            context: (10 * number..10 * number + 3).map(|passage| text(passage, 300)).collect(),
            question: format!("What changed in section {number}?"),
            max_words: 40 + number as i64,
        }
    }
}

impl CitedAnswer {
    pub fn new(number: usize, last: i64, confidence: f64, kind: Claim) -> Self {
        CitedAnswer { answer: text(number, 219), citations: vec![1, 3, last], confidence, kind }
    }
}

impl ShortAnswer {
    pub fn long(count: usize) -> Self {
        ShortAnswer { answer: lines(count) }
    }
}
