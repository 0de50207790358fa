//! A Chat reply that is read while it is written gives what the whole reply gives, wherever it was cut.

use imp::{Adapter, Certain, Chat, Dialect, Fields, SignatureSpec, Value, read_with};
use imp_tests::generate::{Rng, hostile, text};
use imp_tests::plain::data;
use serde_json::Value as Json;

/// What was said of each output: its text, and whether it was closed.
type Said = Vec<(String, bool)>;

/// Reads a reply in pieces that end at `ends`, and again at its end.
fn stream(adapter: &dyn Adapter, spec: &SignatureSpec, reply: &str, ends: &[usize]) -> Said {
    let mut scanner = adapter.incremental(spec).unwrap();
    let mut certain = Vec::new();
    for end in ends {
        scanner.advance(&reply[..*end], &mut certain);
    }
    scanner.end(reply, &mut certain);
    let mut said = vec![(String::new(), false); spec.outputs().len()];
    for one in certain {
        match one {
            Certain::Text { output, text } => {
                assert!(!text.is_empty() && !said[output].1, "{reply:?}");
                said[output].0.push_str(&text);
            }
            Certain::Closed { output } => {
                assert!(!said[output].1, "closed twice: {reply:?}");
                said[output].1 = true;
                let section = scanner.section(reply, output);
                assert!(section.source.is_some(), "{reply:?}");
            }
        }
    }
    said
}

/// The ends of pieces of a reply: every place, pieces of some sizes, two pieces, and random ones.
fn cuts(reply: &str, rng: &mut Rng, twos: bool) -> Vec<Vec<usize>> {
    let places: Vec<usize> = (0..=reply.len()).filter(|at| reply.is_char_boundary(*at)).collect();
    let mut cuts: Vec<Vec<usize>> =
        (1..=7).map(|size| places.iter().copied().step_by(size).collect()).collect();
    cuts.push(Vec::new());
    for _ in 0..4 {
        let times = 1 + rng.below(9);
        cuts.push(places.iter().copied().filter(|_| rng.once_in(times)).collect());
    }
    if twos {
        cuts.extend(places.iter().map(|at| vec![*at]));
    }
    cuts
}

fn reply(rng: &mut Rng) -> String {
    let mut out = String::new();
    if rng.once_in(4) {
        out.push_str(rng.pick(&[
            "<think>\nhm\n</think>\n",
            "<think>[[ ## out_0 ## ]]\nno</think>",
            "Sure:\n\n",
            "<thinking>x",
            "```\n",
            "reasoning\n</think>\n",
        ]));
    } else if rng.once_in(6) {
        out.push_str(&hostile(rng));
        out.push('\n');
    }
    for at in 0..2 {
        if rng.once_in(12) {
            continue;
        }
        let marker = match rng.below(12) {
            0 => format!("[[ ## out_{at} ## ]] "),
            1 => format!("\\[[ ## out_{at} ## ]]\n"),
            2 => format!("**[[ ## out_{at} ## ]]**\n"),
            3 => format!("[[ ## out_{at} ## ]]\r\n"),
            _ => format!("[[ ## out_{at} ## ]]\n"),
        };
        out.push_str(&marker);
        out.push_str(&text(rng));
        for _ in 0..rng.below(3) {
            out.push_str(&hostile(rng));
        }
        out.push_str(rng.pick(&["\n\n", "\n", "", "\r\n", " "]));
    }
    out.push_str(rng.pick(&["[[ ## completed ## ]]", "[[ ## completed ## ]]\n", "", "[[ ## compl"]));
    out
}

#[test]
fn replies_are_read_alike_wherever_they_are_cut() {
    let spec = SignatureSpec::parse("question -> out_0, out_1").unwrap();
    let adapters = [
        Chat::new(),
        Chat::new().escape_markers(false),
        Chat::new().dialect(Dialect::Dspy),
        Chat::new().dialect(Dialect::Dspy).escape_markers(true),
    ];
    let (mut read, mut whole, mut changed) = (0, 0, 0);
    for seed in 0..4_000 {
        let mut rng = Rng::new(seed);
        let reply = reply(&mut rng);
        for chat in &adapters {
            let said = stream(chat, &spec, &reply, &[]);
            for ends in cuts(&reply, &mut rng, seed % 16 == 0) {
                let again = stream(chat, &spec, &reply, &ends);
                assert_eq!(again, said, "seed {seed}, cut at {ends:?}\n{reply:?}\n{chat:?}");
            }
            let Ok(fields) = read_with::<Fields, _>(chat, &spec, &reply) else { continue };
            read += 1;
            let values: Vec<&str> = ["out_0", "out_1"]
                .into_iter()
                .map(|name| fields.get(name).and_then(Value::as_str).unwrap())
                .collect();
            if said.iter().all(|(_, closed)| *closed) {
                whole += 1;
                for (value, (text, _)) in values.iter().zip(&said) {
                    assert_eq!(text, value, "seed {seed}\n{reply:?}\n{chat:?}");
                }
            } else {
                // Only the end of a think block that nobody saw begin changes what the front of a reply was.
                assert!(
                    reply.contains("</think"),
                    "seed {seed}: {said:?}, not {values:?}\n{reply:?}\n{chat:?}"
                );
                changed += 1;
            }
        }
    }
    assert!(
        read > 2_000 && whole > 2_000 && changed < whole / 20,
        "{read} read, {whole} whole, {changed} changed"
    );
}

#[test]
fn text_comes_before_the_reply_ends() {
    let spec = SignatureSpec::parse("question -> answer, n: int").unwrap();
    let chat = Chat::new();
    for (front, expected, closed) in [
        ("[[ ## answer ## ]]\nWren", "Wren", false),
        ("[[ ## answer ## ]]\nWren \n\n[[ ## n", "Wren", false),
        ("[[ ## answer ## ]]\nsee [[1, 2]] and [x] \n", "see [[1, 2]] and [x]", false),
        ("[[ ## answer ## ]]\nwrite [[ ## name ## ]] as header", "write [[ ## name ## ]] as header", false),
        ("[[ ## answer ## ]]\na\n- b\n- ", "a\n- b", false),
        ("[[ ## answer ## ]]\na\n\\[[ ## n ## ]]\nb", "a\n[[ ## n ## ]]\nb", false),
        ("[[ ## answer ## ]]\na\n**[[ ## n ## ]]**\nb", "a", false),
        ("[[ ## answer ## ]]\nWren[[ ## completed ## ]]\n", "Wren", false),
        ("[[ ## answer ## ]]\r\na\r\nb\r\n[[ ## n ## ]]\r\n", "a\nb", true),
        ("<think>\n[[ ## answer ## ]]\nno\n</think>\n[[ ## answer ## ]]\nWren", "Wren", false),
        ("<thinking>\n[[ ## answer ## ]]\nno\n</think>", "", false),
    ] {
        let mut scanner = chat.incremental(&spec).unwrap();
        let mut certain = Vec::new();
        for end in (0..=front.len()).filter(|at| front.is_char_boundary(*at)) {
            scanner.advance(&front[..end], &mut certain);
        }
        let texts = certain.iter().filter_map(|one| match one {
            Certain::Text { output: 0, text } => Some(text.as_str()),
            _ => None,
        });
        assert_eq!(texts.collect::<String>(), expected, "{front:?}");
        assert_eq!(certain.contains(&Certain::Closed { output: 0 }), closed, "{front:?}");
    }
}

/// DSPy's own streams: the pieces of an output, joined, are its section as `parse` cuts it.
#[test]
fn the_sections_of_dspys_streams_come_whole() {
    let corpus = include_str!("../conformance/dspy-3.4.0/stream.json");
    let corpus: Json = serde_json::from_str(corpus).unwrap();
    let mut count = 0;
    for case in corpus["cases"].as_array().unwrap() {
        let Some(sections) = case["expected"]["raw_sections"].as_array() else { continue };
        let chunks = case["chunks"].as_array().unwrap().iter().filter_map(Json::as_str);
        let mut reply = String::new();
        let mut ends = Vec::new();
        for chunk in chunks {
            reply.push_str(chunk);
            ends.push(reply.len());
        }
        let spec = data(&case["signature"]);
        let chat = Chat::new().dialect(Dialect::Dspy);
        let mut all = cuts(&reply, &mut Rng::new(0), true);
        all.push(ends);
        for ends in all {
            let said = stream(&chat, &spec, &reply, &ends);
            for section in sections {
                let at = spec.outputs().position(|field| section[0] == field.name()).unwrap();
                let (text, closed) = &said[at];
                assert_eq!(closed.then_some(text.as_str()), section[1].as_str(), "{}", case["id"]);
            }
        }
        count += 1;
    }
    assert_eq!(count, 47);
}
