//! Replies in the shapes that providers send, and, where they are, the recorded ones themselves: decoded, and the same
//! however a stream is cut.

use std::path::PathBuf;

use imp_tests::transcripts::Transcript;
use serde_json::Value as Json;

#[test]
fn shapes() {
    for line in include_str!("../data/replies.jsonl").lines() {
        let transcript = Transcript::read(line).unwrap();
        let json: Json = serde_json::from_str(line).unwrap();
        let outcome = transcript.check().unwrap_or_else(|why| panic!("{}: {why}", json["file"]));
        let mut got = transcript.line(&outcome);
        let map = got.as_object_mut().unwrap();
        map.remove("file");
        map.remove("i");
        assert_eq!(got, json["expected"], "{}: {outcome:?}", json["file"]);
    }
}

/// `IMP_TRANSCRIPTS` names a directory of `.jsonl` files; else `../shared/transcripts` beside the checkout.
#[test]
fn recordings() {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/transcripts");
    let place = std::env::var_os("IMP_TRANSCRIPTS").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    let files: Vec<_> = std::fs::read_dir(&place)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    if files.is_empty() {
        eprintln!("skipped: there are no recordings in {}; set `IMP_TRANSCRIPTS`", place.display());
    }
    for file in files {
        for (at, line) in std::fs::read_to_string(&file).unwrap().lines().enumerate() {
            let place = format!("{}:{}", file.display(), at + 1);
            let transcript = Transcript::read(line).unwrap_or_else(|why| panic!("{place}: {why}"));
            if let Err(why) = transcript.quick() {
                panic!("{place}: {why}");
            }
        }
    }
}
