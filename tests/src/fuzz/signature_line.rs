//! Signatures as a line of text.

use imp::{Adapter as _, Chat, Dialect, Json, SignatureSpec, Xml};

use super::check::short;

/// A text as a signature: what it describes is the same as data, and an error has a place in it.
///
/// # Panics
///
/// Something is wrong.
pub fn signature_line(bytes: &[u8]) {
    let line = String::from_utf8_lossy(bytes);
    match SignatureSpec::parse(&line) {
        Err(error) => {
            short(&error.to_string(), &line);
            let length = line.chars().count();
            assert!(error.position().is_none_or(|at| at <= length), "{:?}: {line:?}", error.position());
        }
        Ok(spec) => {
            assert!(spec.outputs().len() > 0, "no output: {line:?}");
            let json = serde_json::to_value(&spec).unwrap_or_else(|error| panic!("{error}: {line:?}"));
            let again =
                SignatureSpec::from_json(&json).unwrap_or_else(|error| panic!("{error}: {json}\n{line:?}"));
            assert_eq!(serde_json::to_value(&again).ok(), Some(json), "{line:?}");
            for dialect in [Dialect::Plain, Dialect::Dspy] {
                let systems = |spec: &SignatureSpec| {
                    [
                        Chat::new().dialect(dialect).system(spec),
                        Json::new().dialect(dialect).system(spec),
                        Xml::new().dialect(dialect).system(spec),
                    ]
                    .map(imp::Text::into_string)
                };
                assert_eq!(systems(&spec), systems(&again), "{line:?}");
            }
        }
    }
}
