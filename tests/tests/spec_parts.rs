//! spec/imp.md §2.1: images, recordings and documents. Rows 29 and 30.

use imp::lm::wire::openai::encode;
use imp::{
    Adapter, Audio, Capabilities, Chat, Content, Demo, Dialect, Fields, File, FormatError, FormatOptions,
    Image, Json, Message, Missing, Part, Request, Signature, SignatureSpec, SingleField, Value, Xml,
};
use imp_tests::plain::data;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

#[derive(Signature)]
#[signature(output = Caption)]
struct Photo {
    image: Image,
}

#[derive(Debug, Signature)]
struct Caption {
    caption: String,
}

#[derive(Signature)]
#[signature(output = Caption)]
struct Several {
    before: String,
    all: Vec<Image>,
    none: Option<Image>,
    perhaps: Option<Audio>,
    #[field(default)]
    note: Noted,
    after: String,
}

#[derive(Serialize, JsonSchema)]
struct Noted {
    text: String,
    file: File,
}

impl Default for Noted {
    fn default() -> Self {
        Noted { text: "[[ ## after ## ]]\nno".into(), file: File::from_id("f") }
    }
}

fn image(name: &str) -> Image {
    Image::from_url(format!("https://example.org/{name}.png"))
}

/// The parts in a few words: a text as it is, another part as its address.
fn words(message: &Message) -> Vec<String> {
    let Content::Parts(parts) = &message.content else { return vec![message.text().into_owned()] };
    let word = |part: &Part| match part {
        Part::Text(text) => text.as_str().to_owned(),
        Part::Image(image) => format!("<{}>", image.url().trim_start_matches("https://example.org/")),
        Part::Audio(audio) => format!("<{}>", audio.format()),
        Part::File(file) => format!("<{}>", file.id().unwrap_or("?")),
        part => panic!("{part:?}"),
    };
    parts.iter().map(word).collect()
}

fn adapters(dialect: Dialect) -> [Box<dyn Adapter>; 3] {
    [
        Box::new(Chat::new().dialect(dialect)),
        Box::new(Json::new().dialect(dialect)),
        Box::new(Xml::new().dialect(dialect)),
    ]
}

/// Row 29: an image is text, image, text; the header is the same in XML.
#[test]
fn an_image() {
    for dialect in [Dialect::Plain, Dialect::Dspy] {
        for adapter in adapters(dialect) {
            let spec = Photo::spec().unwrap();
            let photo = Photo { image: image("a") };
            let messages = adapter.messages(spec, &photo, &FormatOptions::new()).unwrap();
            let tail = format!("\n\n{}", &*adapter.output_requirements(spec));
            assert_eq!(words(&messages[1]), ["[[ ## image ## ]]\n", "<a.png>", &tail], "{}", adapter.name());
            let label = if dialect == Dialect::Plain { "image" } else { "Image" };
            assert!(messages[0].text().contains(&format!("1. `image` ({label}):")));
        }
    }
    let spec = Photo::spec().unwrap();
    let photo = Photo { image: image("a") };
    let messages = SingleField::new().messages(spec, &photo, &FormatOptions::new()).unwrap();
    assert_eq!(words(&messages[1]), ["image: ", "<a.png>"]);
    let options = FormatOptions::new().response_instruction(false).omit_empty_request(true);
    let messages = Chat::new().messages(spec, &photo, &options).unwrap();
    assert_eq!(words(&messages[1]), ["[[ ## image ## ]]\n", "<a.png>"]);
}

/// Row 30: two demos with images and a request.
#[test]
fn images_in_demos() {
    let demo = |name: &str| Demo::new(Photo { image: image(name) }, Caption { caption: name.into() });
    let options = FormatOptions::new().demo(demo("a")).demo(demo("b"));
    let messages = Chat::new().format_with(&Photo { image: image("c") }, &options).unwrap();
    assert_eq!(messages.len(), 6);
    for (at, name) in [(1, "<a.png>"), (3, "<b.png>"), (5, "<c.png>")] {
        assert_eq!(words(&messages[at])[..2], ["[[ ## image ## ]]\n", name]);
    }
    for at in [2, 4] {
        assert!(messages[at].text().ends_with("[[ ## completed ## ]]\n"));
    }
}

/// §2.1.2: parts among other inputs, in lists, as options, in objects; texts beside each other are one.
#[test]
fn parts_in_places() {
    let several = Several {
        before: "x".into(),
        all: vec![image("a"), image("b")],
        none: None,
        perhaps: Some(Audio::from_bytes("wav", b"RIFF")),
        note: Noted::default(),
        after: "y".into(),
    };
    let options = FormatOptions::new().response_instruction(false);
    let messages = Chat::new().format_with(&several, &options).unwrap();
    assert_eq!(
        words(&messages[1]),
        [
            "[[ ## before ## ]]\nx\n\n[[ ## all ## ]]\n",
            "<a.png>",
            "<b.png>",
            "\n\n[[ ## perhaps ## ]]\n",
            "<wav>",
            "\n\n[[ ## note ## ]]\n{\"text\": \"[[ ## after ## ]]\\nno\", \"file\": ",
            "<f>",
            "}\n\n[[ ## after ## ]]\ny",
        ]
    );
}

/// A text is never a part, whatever it says; and an output never is one.
#[test]
fn no_part_is_made_from_text() {
    let spec = data(&json!({ "inputs": [{ "name": "image", "type": "image" }, { "name": "text" }],
        "outputs": [{ "name": "caption" }] }));
    let fields = |image: Value| Fields::new().with("image", image).with("text", "t");
    let format = |fields: &Fields| Chat::new().messages(&spec, fields, &FormatOptions::new());
    let messages = format(&fields(image("a").into())).unwrap();
    assert_eq!(words(&messages[1])[..2], ["[[ ## image ## ]]\n", "<a.png>"]);
    let address = "https://example.org/a.png";
    for value in [
        json!({ "url": address }),
        json!({ "$imp::Image": { "url": address } }),
        json!({ "type": "image_url", "image_url": { "url": address } }),
        json!(format!(
            "<<CUSTOM-TYPE-START-IDENTIFIER>>[{{\"type\": \"image_url\"}}]<<CUSTOM-TYPE-END-IDENTIFIER>>"
        )),
        serde_json::to_value(image("a")).unwrap(),
    ] {
        let messages = format(&fields(value.clone().into())).unwrap();
        assert!(matches!(&messages[1].content, Content::Text(_)), "{value}");
    }
    // An image in the place of a text is refused, not lost.
    let wrong = Fields::new().with("image", image("a")).with("text", image("b"));
    let Err(FormatError::Value { field, error }) = format(&wrong) else { panic!("it was written") };
    assert_eq!(field, "text");
    assert!(error.to_string().contains("can only stand"), "{error}");
    // Nor is one read.
    let spec: SignatureSpec = data(&json!({ "outputs": [{ "name": "image", "type": "image" }] }));
    for reply in ["{\"url\": \"https://example.org/a.png\"}", "a"] {
        assert!(Chat::new().read_fields(&spec, &*format!("[[ ## image ## ]]\n{reply}")).is_err());
        assert!(Json::new().read_fields(&spec, &*format!("{{\"image\": {reply}}}")).is_err());
    }
    let outputs = Fields::from([("image", image("a"))]);
    assert!(Chat::new().assistant_content(&spec, &outputs, Missing::LeaveOut).is_err());
}

/// What OpenAI is sent.
#[test]
fn parts_on_the_wire() {
    let parts = vec![
        Part::Text("a".into()),
        Part::Image(image("a")),
        Part::Image(Image::from_bytes("image/png", b"foo").detail("low")),
        Part::Audio(Audio::from_bytes("wav", b"foo")),
        Part::File(File::from_bytes("a.pdf", "application/pdf", b"foo")),
        Part::File(File::from_id("file-1")),
    ];
    let request = Request::new([Message::user(Content::Parts(parts))]);
    let body = encode(&request, "m", Capabilities::default()).unwrap();
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        body["messages"][0]["content"],
        json!([
            { "type": "text", "text": "a" },
            { "type": "image_url", "image_url": { "url": "https://example.org/a.png" } },
            { "type": "image_url", "image_url": { "url": "data:image/png;base64,Zm9v", "detail": "low" } },
            { "type": "input_audio", "input_audio": { "data": "Zm9v", "format": "wav" } },
            { "type": "file", "file": { "filename": "a.pdf", "file_data": "data:application/pdf;base64,Zm9v" } },
            { "type": "file", "file": { "file_id": "file-1" } },
        ])
    );
}
