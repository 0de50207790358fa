//! The fuzz targets over their corpora, and over mutations of them: the same every time, in seconds.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use imp_tests::fuzz::TARGETS;
use imp_tests::generate::Rng;

const MUTATIONS: usize = 1000;

/// The files of a target's corpus, by name.
fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// A seed with some of its bytes gone, doubled, replaced, or those of another one in between.
fn mutated(rng: &mut Rng, files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = files[rng.below(files.len())].1.clone();
    let other = &files[rng.below(files.len())].1;
    for _ in 0..=rng.below(3) {
        let a = rng.below(bytes.len() + 1);
        let (from, to) = (a, bytes.len().min(a + 1 + rng.below(12)));
        match rng.below(6) {
            0 => drop(bytes.drain(from..to)),
            1 => {
                let piece = bytes[from..to].to_vec();
                bytes.splice(a..a, piece);
            }
            2 => {
                let signs = b"[]{}<>\"'`#*:,\\/&;|- \n\r\t0x\xc3\xa9\xff\xef\xbb\xbf";
                bytes.insert(a, signs[rng.below(signs.len())]);
            }
            3 => {
                let (c, d) = (rng.below(other.len() + 1), rng.below(other.len() + 1));
                bytes.splice(from..to, other[c.min(d)..c.max(d)].iter().copied());
            }
            4 => bytes.truncate(a),
            _ => {
                if let Some(byte) = bytes.get_mut(a) {
                    *byte ^= 1 << rng.below(8);
                }
            }
        }
    }
    bytes
}

#[test]
fn every_target_holds() {
    let mut wrong = Vec::new();
    for (name, run) in TARGETS {
        let files = corpus(name);
        assert!(files.len() >= 10, "{name} has {} seeds", files.len());
        for (file, bytes) in &files {
            if catch_unwind(|| run(bytes)).is_err() {
                wrong.push(format!("{name}: {file}"));
            }
        }
        let mut rng = Rng::new(7);
        for at in 0..MUTATIONS {
            let bytes = mutated(&mut rng, &files);
            if catch_unwind(AssertUnwindSafe(|| run(&bytes))).is_err() {
                wrong.push(format!("{name}: mutation {at}: {:?}", String::from_utf8_lossy(&bytes)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong (each is told above):\n{}", wrong.len(), wrong.join("\n"));
}

/// A folder without a target would never be run.
#[test]
fn every_corpus_has_a_target() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name();
        assert!(TARGETS.iter().any(|(target, _)| name == *target), "{}", name.display());
    }
}
