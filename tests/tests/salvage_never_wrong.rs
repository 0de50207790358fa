//! Salvage is never wrong: where `parse` refuses a mutated reply, `read` gives the values of the reply that it was made
//! from, or an error; where `parse` accepts it, salvage changes nothing.

use imp::{
    Adapter, Chat, Ending, Fields, HowRead, Json, Missing, RawReply, Reply, SignatureSpec, Syntax, Value,
    Xml, read_reply, read_with,
};
use imp_tests::generate::{Described, Rng, Ty, Types, sorted};

fn adapters() -> [Box<dyn Adapter>; 3] {
    [Box::new(Chat::new()), Box::new(Json::new()), Box::new(Xml::new())]
}

fn values(fields: Fields) -> Value {
    sorted(&fields.into_map().into())
}

/// A reply, and whether its end is known to be missing.
struct Mutant {
    text: String,
    cut: bool,
    /// What was done, for a failure's message.
    done: Vec<&'static str>,
}

impl Mutant {
    /// The text with every marker line of the reply's own replaced; those in values are escaped.
    fn markers(&mut self, change: impl Fn(&str) -> String) {
        let mut out = String::new();
        for (at, line) in self.text.split('\n').enumerate() {
            if at > 0 {
                out.push('\n');
            }
            match line.strip_prefix("[[ ## ").and_then(|rest| rest.strip_suffix(" ## ]]")) {
                Some(name) => out.push_str(&change(name)),
                None => out.push_str(line),
            }
        }
        self.text = out;
    }

    #[allow(clippy::too_many_lines)] // one table of mutations
    fn mutate(&mut self, rng: &mut Rng, syntax: Syntax, described: &Described) {
        let kind = rng.below(if syntax == Syntax::Markers { 20 } else { 10 });
        let text = &mut self.text;
        let done = match kind {
            0 => {
                let mut at = rng.below(text.len());
                while !text.is_char_boundary(at) {
                    at -= 1;
                }
                text.truncate(at);
                self.cut = true;
                "cut"
            }
            1 => {
                *text = format!("```{}\n{text}\n```", rng.pick(&["", "json", "text", "xml"]));
                "fenced"
            }
            2 => {
                *text = format!(
                    "{}\n\n{text}",
                    rng.pick(&["Sure, here it is:", "Let me look {closely}.", "1. First"])
                );
                "preamble"
            }
            // Without an end marker it would be part of the last value.
            3 if !self.done.contains(&"no end") => {
                *text = format!(
                    "{text}\n\n{}",
                    rng.pick(&["Let me know!", "Anything else {here}?", "[[ ## completed ## ]]"])
                );
                "chatter"
            }
            4 => {
                *text = format!("<think>\nHm, [[ ## out_0 ## ]] or {{\"out_0\": 1}}?\n</think>\n\n{text}");
                "thought"
            }
            // A `\r` in front of the line end would be another one.
            5 if !text.contains('\r') => {
                *text = text.replace('\n', "\r\n");
                "CRLF"
            }
            6 if syntax == Syntax::Json => {
                *text = format!("[{text}]");
                "in a list"
            }
            7 if syntax == Syntax::Json => {
                *text = format!("{{\"response\": {text}}}");
                "under a key"
            }
            8 if syntax == Syntax::Json => {
                *text = format!("{{\"response\": {}}}", serde_json::to_string(&*text).unwrap());
                "as a text under a key"
            }
            // One that may be missing is missing to `parse`.
            9 if syntax == Syntax::Json && !matches!(described.outputs[0].1, Ty::Optional(_) | Ty::Any) => {
                *text = text.replacen("\"out_0\":", "\"Out-0\" :", 1);
                "another key"
            }
            6 if syntax == Syntax::Tags => {
                *text = text.replacen("&lt;", "<", 1);
                "an entity decoded"
            }
            7 if syntax == Syntax::Tags => {
                *text = format!("<response>\n{text}\n</response>");
                "in an element"
            }
            // A tag in a value could be one of those that have none now.
            8 if syntax == Syntax::Tags && !self.done.contains(&"an entity decoded") => {
                *text = text.replace("<out_0>", "<out_0 id=\"1\">");
                "attributes"
            }
            10 => {
                self.markers(|name| format!("**[[ ## {name} ## ]]**"));
                "bold"
            }
            11 => {
                self.markers(|name| format!("### [[ ## {name} ## ]]"));
                "headings"
            }
            12 => {
                self.markers(|name| format!("[[## {} ##]]", name.to_uppercase()));
                "capitals"
            }
            13 => {
                self.markers(|name| format!("[ ## {name} ## ]"));
                "one bracket"
            }
            14 => {
                self.markers(|name| format!("- `[[ ## {name} ## ]]`"));
                "list of code"
            }
            15 => {
                *text = text.replace("\n\n[[ ## ", "[[ ## ");
                "glued"
            }
            16 if !self.done.contains(&"chatter") => {
                *text = text.replace("\n\n[[ ## completed ## ]]", "");
                "no end"
            }
            17 => {
                *text = text.replace("\n\n[[ ## completed ## ]]", " [[ ## completed ## ]]");
                "glued end"
            }
            18 if text.starts_with("[[ ## ") => {
                let end = "[[ ## completed ## ]]";
                let body = text.trim_end().trim_end_matches(end).trim_end();
                let mut parts: Vec<&str> = body.split("\n\n[[ ## ").collect();
                let first = parts.first().map_or("", |first| first.trim_start_matches("[[ ## "));
                if let Some(place) = parts.first_mut() {
                    *place = first;
                }
                let again = parts[rng.below(parts.len())];
                if rng.once_in(2) {
                    parts.push(again);
                } else {
                    parts.reverse();
                }
                *text = format!("[[ ## {}\n\n{end}\n", parts.join("\n\n[[ ## "));
                "reordered or duplicated"
            }
            19 => {
                // A scalar in bold, as a whole section.
                self.text = bold(&self.text, rng, described);
                "a value in bold"
            }
            _ => "nothing",
        };
        self.done.push(done);
    }
}

/// The text with the section of one number or truth value in bold.
fn bold(text: &str, rng: &mut Rng, described: &Described) -> String {
    let scalars: Vec<&str> = described
        .outputs
        .iter()
        .filter(|(_, ty)| matches!(ty, Ty::Int | Ty::Float | Ty::Bool))
        .map(|(name, _)| name.as_str())
        .collect();
    let Some(name) = scalars.get(rng.below(scalars.len())) else { return text.to_owned() };
    let open = format!("[[ ## {name} ## ]]\n");
    let Some((before, after)) = text.split_once(&open) else { return text.to_owned() };
    if !before.is_empty() && !before.ends_with("\n\n") {
        return text.to_owned();
    }
    let (value, rest) = after.split_once('\n').unwrap_or((after, ""));
    format!("{before}{open}**{value}**\n{rest}")
}

/// 100,000 of them, in about a minute without optimisation:
///
/// ```text
/// cargo test -p imp-tests --test salvage_never_wrong -- --nocapture mutated
/// ```
#[test]
fn mutated_replies_are_read_as_they_were_or_not_at_all() {
    const MUTATIONS: u64 = 100_000;
    // Far from the seeds of the signatures.
    const OFFSET: u64 = 1 << 32;
    let adapters = adapters();
    let (mut accepted, mut refused, mut salvaged) = (0_u64, 0_u64, 0_u64);
    let mut by: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    let mut wrong = Vec::new();
    let mut signature = None;
    // Some seeds make a signature that cannot be one.
    for seed in 0.. {
        if accepted + refused == MUTATIONS {
            break;
        }
        // A signature serves for ten mutants, as it costs more than they do.
        if seed % 10 == 0 {
            let described = Described::any(&mut Rng::new(seed), Types::All);
            signature = SignatureSpec::from_json(&described.json).ok().map(|spec| (described, spec));
        }
        let Some((described, spec)) = &signature else { continue };
        let mut rng = Rng::new(seed + OFFSET);
        let outputs = Described::values(&mut rng, &described.outputs);
        let writer = &*adapters[rng.below(3)];
        let reader = if rng.once_in(4) { &*adapters[rng.below(3)] } else { writer };
        let text = writer.assistant_content(spec, &outputs, Missing::LeaveOut).unwrap();
        let Ok(original) = read_reply::<Fields, _>(writer, spec, Reply::Text(&text)) else { continue };
        let original = values(original);
        let mut mutant = Mutant { text, cut: false, done: Vec::new() };
        for _ in 0..rng.below(3) {
            if !mutant.cut {
                mutant.mutate(&mut rng, writer.syntax(), described);
            }
        }
        let ending = if mutant.cut { Ending::CutOff } else { Ending::Stopped };
        let reply = RawReply::new(&mutant.text).ending(ending);
        let exact = read_reply::<Fields, _>(reader, spec, Reply::Text(&mutant.text));
        let on = read_with::<Fields, _>(reader, spec, reply);
        let off = read_with::<Fields, _>(reader, spec, reply.salvage(false));
        let problem = match (exact, on, off) {
            (_, Ok(on), Ok(off))
                if on.how() != off.how() || values((*on).clone()) != values((*off).clone()) =>
            {
                Some(format!("salvage changes {off:?} to {on:?}"))
            }
            (_, Err(_), Ok(off)) => Some(format!("salvage loses {off:?}")),
            (Ok(_), Ok(_), Ok(_)) | (Ok(_), Err(_), Err(_)) => {
                accepted += 1;
                None
            }
            // What `parse` reads stood in a think block, which is no answer.
            (Ok(exact), Ok(on), Err(_)) if on.reasoning().is_none() => {
                Some(format!("parse reads {exact:?}, only salvage reads {on:?}"))
            }
            (_, Ok(on), _) => {
                refused += 1;
                if matches!(on.how(), HowRead::Salvaged { .. }) {
                    salvaged += 1;
                    for done in &mutant.done {
                        *by.entry(done).or_default() += 1;
                    }
                }
                let read = values(on.into_inner());
                (read != original).then(|| format!("{read:?}\n  for {original:?}"))
            }
            (Err(_), Err(_), Err(_)) => {
                refused += 1;
                None
            }
        };
        if let Some(problem) = problem {
            wrong.push(format!(
                "seed {seed}, {} read by {}, {:?}: {problem}\n  of {:?}",
                writer.name(),
                reader.name(),
                mutant.done,
                mutant.text
            ));
        }
    }
    println!("{accepted} accepted by `parse`; of {refused} refused, {salvaged} were salvaged: {by:?}");
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong[..wrong.len().min(12)].join("\n"));
    assert!(salvaged > 5_000, "{salvaged}");
}

/// Law 6 for `read`: what it takes off is never part of a value.
#[test]
fn rendered_replies_are_read_as_parse_reads_them() {
    for seed in 0..20_000 {
        let mut rng = Rng::new(seed);
        let described = Described::any(&mut rng, Types::All);
        let Ok(spec) = SignatureSpec::from_json(&described.json) else { continue };
        let outputs = Described::values(&mut rng, &described.outputs);
        for adapter in adapters() {
            let text = adapter.assistant_content(&spec, &outputs, Missing::LeaveOut).unwrap();
            let Ok(exact) = read_reply::<Fields, _>(&*adapter, &spec, Reply::Text(&text)) else { continue };
            let read = read_with::<Fields, _>(&*adapter, &spec, &text);
            let read =
                read.unwrap_or_else(|error| panic!("seed {seed}, {}: {error}\n{text:?}", adapter.name()));
            assert_eq!(values(read.into_inner()), values(exact), "seed {seed}, {}\n{text:?}", adapter.name());
        }
    }
}

/// Marker safety: a text from outside opens no section, neither for `parse` nor for `read`.
#[test]
fn a_text_from_outside_opens_no_section() {
    let spec = imp_tests::plain::line("in_0, in_1: array[string] -> out_0, out_1");
    let chat = Chat::new();
    for seed in 0..20_000 {
        let mut rng = Rng::new(seed);
        let mut hostile = || (0..3).map(|_| imp_tests::generate::hostile(&mut rng)).collect::<String>();
        let inputs =
            Fields::from([("in_0", Value::from(hostile())), ("in_1", vec![Value::from(hostile())].into())]);
        let text = chat.user_content(&spec, &inputs, "", "").unwrap().text().into_owned();
        let error = match read_with::<Fields, _>(&chat, &spec, &text) {
            Err(error) => error,
            Ok(read) => panic!("seed {seed}: {read:?}\n{text:?}"),
        };
        assert!(error.fields().is_empty(), "seed {seed}: {:?}\n{text:?}", error.fields());
        // And the inputs come back as they were.
        let back = imp_tests::plain::line("-> in_0, in_1: array[string]");
        let read: Fields = read_reply(&chat, &back, Reply::Text(&text))
            .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text:?}"));
        assert_eq!(read.get("in_1"), inputs.get("in_1"), "seed {seed}\n{text:?}");
    }
}
