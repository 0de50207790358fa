//! Images, audio and files: what a message can hold beside text.

use std::borrow::Cow;
use std::fmt;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use crate::message::{Part, Text};
use crate::types::key;
use crate::value::{Map, Value};

/// The largest file that is read from a path, in bytes: 32 MiB. Providers take less of most kinds.
const MAX_FILE: u64 = 32 * 1024 * 1024;

/// The names by which the types announce themselves to the writer. No text can be one of them.
pub(crate) const IMAGE: &str = "$imp::Image";
pub(crate) const AUDIO: &str = "$imp::Audio";
pub(crate) const FILE: &str = "$imp::File";

/// An image as an input's type (DSPy's `Image`).
///
/// The message then has the image as a part of its own, beside the text. It is never made from text: what an
/// input says can be no image.
///
/// ```
/// use imp::{Chat, Content, Image, Part, Signature};
///
/// #[derive(Signature)]
/// #[signature(output = Caption)]
/// struct Photo {
///     image: Image,
/// }
///
/// #[derive(Debug, Signature)]
/// struct Caption {
///     caption: String,
/// }
///
/// let photo = Photo { image: Image::from_url("https://example.org/cat.png").detail("low") };
/// let messages = Chat::new().format(&photo)?;
/// let Content::Parts(parts) = &messages[1].content else { panic!("one text") };
/// let [Part::Text(before), Part::Image(image), Part::Text(after)] = parts.as_slice() else {
///     panic!("{parts:?}")
/// };
/// assert_eq!(before, "[[ ## image ## ]]\n");
/// assert_eq!(image.url(), "https://example.org/cat.png");
/// assert!(after.starts_with("\n\nRespond with"));
/// # Ok::<(), imp::FormatError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    url: Text,
    detail: Option<Text>,
}

impl Image {
    /// An image at an address, which the provider fetches; or one in a data URL.
    pub fn from_url(url: impl Into<String>) -> Self {
        Image { url: shared(url.into()), detail: None }
    }

    /// An image of the media type `media_type`, such as `image/png`.
    pub fn from_bytes(media_type: &str, bytes: impl AsRef<[u8]>) -> Self {
        Image { url: data_url(media_type, bytes.as_ref()), detail: None }
    }

    /// An image in a file: `png`, `jpg`, `jpeg`, `gif` or `webp`.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is larger than 32 MiB, or has another extension.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, MediaError> {
        let path = path.as_ref();
        let media_type = by_extension(path, &IMAGES)?;
        Ok(Image::from_bytes(media_type, read(path)?))
    }

    /// How closely the model looks: `low`, `high` or `auto` (OpenAI). The default is the provider's.
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into().into());
        self
    }

    /// The address or the data URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// How closely the model looks, if that was said.
    pub fn detail_level(&self) -> Option<&str> {
        self.detail.as_deref()
    }
}

/// A recording as an input's type (DSPy's `Audio`).
///
/// ```
/// use imp::Audio;
///
/// let audio = Audio::from_bytes("wav", b"RIFF");
/// assert_eq!((audio.format(), audio.data()), ("wav", "UklGRg=="));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Audio {
    data: Text,
    format: Text,
}

impl Audio {
    /// A recording in a format that the provider knows: `wav` or `mp3` (OpenAI).
    pub fn from_bytes(format: &str, bytes: impl AsRef<[u8]>) -> Self {
        Audio { data: shared(base64(bytes.as_ref())), format: format.into() }
    }

    /// A recording in a file: `wav`, `mp3`, `flac`, `ogg` or `m4a`.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is larger than 32 MiB, or has another extension.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, MediaError> {
        let path = path.as_ref();
        let format = by_extension(path, &RECORDINGS)?;
        Ok(Audio::from_bytes(format, read(path)?))
    }

    /// The bytes in Base64.
    pub fn data(&self) -> &str {
        &self.data
    }

    /// The format.
    pub fn format(&self) -> &str {
        &self.format
    }
}

/// A document as an input's type (DSPy's `File`).
///
/// ```
/// use imp::File;
///
/// let file = File::from_bytes("terms.pdf", "application/pdf", b"%PDF-1.7");
/// assert_eq!(file.filename(), Some("terms.pdf"));
/// assert_eq!(file.data(), Some("data:application/pdf;base64,JVBERi0xLjc="));
/// assert_eq!(File::from_id("file-123").id(), Some("file-123"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct File {
    data: Option<Text>,
    id: Option<Text>,
    filename: Option<Text>,
}

impl File {
    /// A document of the media type `media_type`, such as `application/pdf`.
    pub fn from_bytes(filename: &str, media_type: &str, bytes: impl AsRef<[u8]>) -> Self {
        let data = Some(data_url(media_type, bytes.as_ref()));
        File { data, id: None, filename: Some(filename.into()) }
    }

    /// A document that was uploaded to the provider before.
    pub fn from_id(id: impl Into<String>) -> Self {
        File { data: None, id: Some(id.into().into()), filename: None }
    }

    /// A document in a file: `pdf`, `txt`, `md`, `csv`, `json`, `html`, `docx` or `xlsx`.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is larger than 32 MiB, or has another extension.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, MediaError> {
        let path = path.as_ref();
        let media_type = by_extension(path, &DOCUMENTS)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Ok(File::from_bytes(&name, media_type, read(path)?))
    }

    /// The bytes as a data URL, if they are here.
    pub fn data(&self) -> Option<&str> {
        self.data.as_deref()
    }

    /// The provider's id, if it has the document.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The name of the file.
    pub fn filename(&self) -> Option<&str> {
        self.filename.as_deref()
    }
}

// By hand: a log is no place for a megabyte of Base64.
impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image").field("url", &Short(&self.url)).field("detail", &self.detail).finish()
    }
}

impl fmt::Debug for Audio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audio").field("data", &Short(&self.data)).field("format", &self.format).finish()
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File")
            .field("data", &self.data.as_deref().map(Short))
            .field("id", &self.id)
            .field("filename", &self.filename)
            .finish()
    }
}

struct Short<'a>(&'a str);

impl fmt::Debug for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(60) {
            Some((at, _)) => write!(f, "{:?}… ({} bytes)", &self.0[..at], self.0.len()),
            None => fmt::Debug::fmt(self.0, f),
        }
    }
}

macro_rules! announced {
    ($type:ident, $name:ident, $kind:literal, $($key:literal => $field:ident),*) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                struct Inside<'a>(&'a $type);
                impl Serialize for Inside<'_> {
                    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                        let entries = [$(($key, Given::given(&self.0.$field))),*];
                        let given = entries.into_iter().filter_map(|(key, text)| Some((key, text?)));
                        serializer.collect_map(given)
                    }
                }
                serializer.serialize_newtype_struct($name, &Inside(self))
            }
        }

        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let mut schema = json_schema!({ "type": "object" });
                schema.insert(key::KIND.to_owned(), $kind.into());
                schema
            }
        }

        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Value::Part(Box::new(Part::$type(value)))
            }
        }
    };
}

announced!(Image, IMAGE, "image", "url" => url, "detail" => detail);
announced!(Audio, AUDIO, "audio", "data" => data, "format" => format);
announced!(File, FILE, "file", "file_data" => data, "file_id" => id, "filename" => filename);

/// A text that may not be there.
trait Given {
    fn given(&self) -> Option<&str>;
}

impl Given for Text {
    fn given(&self) -> Option<&str> {
        Some(self)
    }
}

impl Given for Option<Text> {
    fn given(&self) -> Option<&str> {
        self.as_deref()
    }
}

/// The part that a value under the reserved name `name` is.
pub(crate) fn part(name: &str, map: Map) -> Option<Part> {
    let mut image = Image { url: "".into(), detail: None };
    let mut audio = Audio { data: "".into(), format: "".into() };
    let mut file = File { data: None, id: None, filename: None };
    for (key, value) in map {
        let Value::String(text) = value else { return None };
        let text = shared(text);
        match (name, key.as_str()) {
            (IMAGE, "url") => image.url = text,
            (IMAGE, "detail") => image.detail = Some(text),
            (AUDIO, "data") => audio.data = text,
            (AUDIO, "format") => audio.format = text,
            (FILE, "file_data") => file.data = Some(text),
            (FILE, "file_id") => file.id = Some(text),
            (FILE, "filename") => file.filename = Some(text),
            _ => return None,
        }
    }
    match name {
        IMAGE => Some(Part::Image(image)),
        AUDIO => Some(Part::Audio(audio)),
        FILE => Some(Part::File(file)),
        _ => None,
    }
}

/// The name of a part's type and its entries: what [`part`] makes a part of. None for a text.
pub(crate) fn entries(part: &Part) -> Option<(&'static str, Map)> {
    let map = |entries: &[(&str, Option<&str>)]| {
        entries.iter().filter_map(|(key, text)| Some((*key, (*text)?))).collect::<Map>()
    };
    match part {
        Part::Text(_) => None,
        Part::Image(image) => {
            Some((IMAGE, map(&[("url", Some(image.url())), ("detail", image.detail_level())])))
        }
        Part::Audio(audio) => {
            Some((AUDIO, map(&[("data", Some(audio.data())), ("format", Some(audio.format()))])))
        }
        Part::File(file) => Some((
            FILE,
            map(&[("file_data", file.data()), ("file_id", file.id()), ("filename", file.filename())]),
        )),
    }
}

/// A file that cannot be a part of a message.
#[derive(Debug, Clone)]
pub struct MediaError {
    kind: MediaErrorKind,
    message: String,
    source: Option<Arc<std::io::Error>>,
}

/// Why a file cannot be a part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MediaErrorKind {
    /// It cannot be read.
    Read,
    /// It is larger than 32 MiB.
    TooLarge,
    /// Its extension says nothing of its kind.
    UnknownType,
}

impl MediaError {
    /// Why.
    pub fn kind(&self) -> MediaErrorKind {
        self.kind
    }
}

impl fmt::Display for MediaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for MediaError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|error| error as _)
    }
}

const IMAGES: [(&str, &str); 5] = [
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
];

const RECORDINGS: [(&str, &str); 5] =
    [("wav", "wav"), ("mp3", "mp3"), ("flac", "flac"), ("ogg", "ogg"), ("m4a", "m4a")];

const DOCUMENTS: [(&str, &str); 8] = [
    ("pdf", "application/pdf"),
    ("txt", "text/plain"),
    ("md", "text/markdown"),
    ("csv", "text/csv"),
    ("json", "application/json"),
    ("html", "text/html"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
];

fn by_extension(path: &Path, known: &[(&str, &'static str)]) -> Result<&'static str, MediaError> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    known.iter().find(|(word, _)| *word == extension).map(|(_, kind)| *kind).ok_or_else(|| {
        let words: Vec<_> = known.iter().map(|(word, _)| *word).collect();
        MediaError {
            kind: MediaErrorKind::UnknownType,
            message: format!(
                "`{}` has none of the extensions {}: say what it is with `from_bytes`",
                path.display(),
                words.join(", ")
            ),
            source: None,
        }
    })
}

fn read(path: &Path) -> Result<Vec<u8>, MediaError> {
    let mut bytes = Vec::new();
    // A pipe or a device has no size to ask for.
    let result = std::fs::File::open(path).and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes));
    match result {
        Err(error) => Err(MediaError {
            kind: MediaErrorKind::Read,
            message: format!("`{}` cannot be read: {error}", path.display()),
            source: Some(Arc::new(error)),
        }),
        Ok(read) if read as u64 > MAX_FILE => Err(MediaError {
            kind: MediaErrorKind::TooLarge,
            message: format!(
                "`{}` is larger than 32 MiB: upload it and give its address or id",
                path.display()
            ),
            source: None,
        }),
        Ok(_) => Ok(bytes),
    }
}

/// Shared, so that a copy of a message copies no image.
fn shared(text: String) -> Text {
    Arc::<str>::from(text).into()
}

fn data_url(media_type: &str, bytes: &[u8]) -> Text {
    shared(format!("data:{media_type};base64,{}", base64(bytes)))
}

/// Base64 with padding (RFC 4648 §4).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: [u8; 64] = *b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let [a, b, c] = [0, 1, 2].map(|at| u32::from(chunk.get(at).copied().unwrap_or(0)));
        let bits = a << 16 | b << 8 | c;
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= chunk.len() { digit.into() } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_rfc_4648() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xbf]), "+/+/");
    }

    #[test]
    fn files() {
        let folder = std::env::temp_dir().join(format!("imp-media-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.PNG");
        std::fs::write(&path, b"foo").unwrap();
        assert_eq!(Image::from_path(&path).unwrap().url(), "data:image/png;base64,Zm9v");
        let large = folder.join("a.pdf");
        std::fs::File::create(&large).unwrap().set_len(MAX_FILE + 1).unwrap();
        assert_eq!(File::from_path(&large).unwrap_err().kind(), MediaErrorKind::TooLarge);
        assert_eq!(Audio::from_path(&path).unwrap_err().kind(), MediaErrorKind::UnknownType);
        assert_eq!(Audio::from_path(folder.join("b.wav")).unwrap_err().kind(), MediaErrorKind::Read);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
