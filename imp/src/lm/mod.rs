//! Models: the trait that programs call, what they send and get back, and the clients.
//!
//! A program holds anything that is a [`LanguageModel`]: [`OpenAi`] for a server that speaks
//! OpenAI's chat completions, [`Anthropic`], a [provider by name](connect), [`Script`] in tests, or a type of your own. The wire format
//! ([`wire`]) is pure functions; HTTP is behind the small trait [`Transport`].

mod anthropic;
#[cfg(feature = "blocking")]
mod block_on;
mod cache;
mod capabilities;
mod completion;
mod core;
mod error;
mod flight;
mod form;
mod key;
mod learned;
mod openai;
mod provider;
mod request;
mod retry;
mod script;
mod slots;
mod stream;
mod tool_choice;
mod transport;
pub mod wire;

use std::pin::Pin;
use std::sync::Arc;

pub use anthropic::Anthropic;
#[cfg(feature = "blocking")]
pub use block_on::block_on;
pub use cache::Cache;
pub use capabilities::Capabilities;
pub use completion::{Choice, Completion, FinishReason, Usage};
pub use error::{LmError, LmErrorKind};
pub use key::Key;
pub use openai::OpenAi;
pub use provider::{Client, Provider, connect, providers};
pub use request::{Config, Request, ResponseFormat};
pub use retry::Retries;
pub use script::{Script, ScriptReply};
pub use stream::{CompletionSource, CompletionStream, StreamEvent};
pub use tool_choice::ToolChoice;
#[cfg(feature = "reqwest")]
pub use transport::Reqwest;
#[cfg(feature = "ureq")]
pub use transport::Ureq;
pub use transport::{Headers, HttpBody, HttpRequest, HttpResponse, Transport};

/// A future on the heap: what an async method of a dyn-compatible trait returns.
///
/// ```
/// use imp::lm::BoxFuture;
///
/// fn later(value: u8) -> BoxFuture<'static, u8> {
///     Box::pin(async move { value })
/// }
/// # let _ = later(1);
/// ```
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A language model: messages in, a completion out.
///
/// Implement it to put something of your own below a program: another provider, a cache, a
/// recorder. One value serves many tasks at once; `Arc<L>`, `Box<L>` and `&L` are models if `L`
/// is one, also for `dyn LanguageModel`.
///
/// ```
/// use imp::lm::BoxFuture;
/// use imp::{Completion, LanguageModel, LmError, Message, Request};
///
/// /// Says what the last message said.
/// struct Echo;
///
/// impl LanguageModel for Echo {
///     fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Completion, LmError>> {
///         let text = request.messages.last().map(|message| message.text().into_owned());
///         Box::pin(async move { Ok(Completion::from(text.unwrap_or_default())) })
///     }
///     fn model(&self) -> &str {
///         "echo"
///     }
/// }
///
/// # async fn run() -> Result<(), LmError> {
/// let model: Box<dyn LanguageModel> = Box::new(Echo);
/// let completion = model.complete(&Request::new([Message::user("Ahoy")])).await?;
/// assert_eq!(completion.text(), Some("Ahoy"));
/// # Ok(())
/// # }
/// # let mut run = std::pin::pin!(run());
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a language model",
    label = "this cannot be asked for a completion",
    note = "pass a client such as `OpenAi::from_env()?`, a `Script` in tests, or implement `imp::LanguageModel` for `{Self}`"
)]
pub trait LanguageModel: Send + Sync {
    /// Sends the request and waits for the whole reply. Dropping the future cancels the call.
    ///
    /// # Errors
    ///
    /// Whatever kept the model from answering: see [`LmErrorKind`].
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Completion, LmError>>;

    /// Sends the request and gives the reply while it is written. Dropping the stream cancels the call.
    ///
    /// A model that cannot stream, which is the default, waits for the whole reply and gives it in one piece.
    ///
    /// # Errors
    ///
    /// Whatever kept the model from beginning its answer; later failures are the stream's.
    fn stream<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<CompletionStream<'a>, LmError>> {
        let whole = self.complete(request);
        Box::pin(async move { whole.await.map(CompletionStream::whole) })
    }

    /// The model's name, as the provider spells it.
    fn model(&self) -> &str;

    /// What the model and its server take; everything common by default.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }
}

macro_rules! forward {
    ($($outer:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<L: LanguageModel + ?Sized> LanguageModel for $outer {
            fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Completion, LmError>> {
                (**self).complete(request)
            }
            fn stream<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<CompletionStream<'a>, LmError>> {
                (**self).stream(request)
            }
            fn model(&self) -> &str {
                (**self).model()
            }
            fn capabilities(&self) -> Capabilities {
                (**self).capabilities()
            }
        }
    )*};
}

forward!(&L, Box<L>, Arc<L>);
