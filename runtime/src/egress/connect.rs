//! A connection to an address that was judged, plain or encrypted.

use super::error::EgressError;
use super::judge::Place;
use super::tls;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;

/// How long one address may take before the next is tried.
const PATIENCE: Duration = Duration::from_secs(10);

/// An open connection.
#[derive(Debug)]
pub enum Connection {
    /// As it is.
    Plain(TcpStream),
    /// Encrypted, and the other end is who the URL names.
    Encrypted(Box<TlsStream<TcpStream>>),
}

/// Connects to the first address of `place` that answers.
///
/// # Errors
/// [`EgressError::NotConnected`] with what the last address said, or [`EgressError::Tls`].
pub async fn connect(place: &Place) -> Result<Connection, EgressError> {
    let stream = dial(place).await?;
    if !place.is_https() {
        return Ok(Connection::Plain(stream));
    }
    let name = ServerName::try_from(place.host.trim_end_matches('.').to_owned());
    let name = name.map_err(|_| EgressError::Tls)?;
    let connector = tls::connector().ok_or(EgressError::Tls)?;
    let stream = connector.connect(name, stream).await.map_err(|_| EgressError::Tls)?;
    Ok(Connection::Encrypted(Box::new(stream)))
}

/// Connects without encryption, whatever the URL says: for who carries another's bytes.
///
/// # Errors
/// [`EgressError::NotConnected`] with what the last address said.
pub async fn dial(place: &Place) -> Result<TcpStream, EgressError> {
    let stream = reach(place).await.map_err(EgressError::NotConnected)?;
    // Small requests must not wait for more; a refusal of the option harms nothing.
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

async fn reach(place: &Place) -> io::Result<TcpStream> {
    let mut last = io::ErrorKind::AddrNotAvailable.into();
    for address in &place.addresses {
        match tokio::time::timeout(PATIENCE, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = error,
            Err(_) => last = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(last)
}

impl AsyncRead for Connection {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Encrypted(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Encrypted(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Encrypted(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Encrypted(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
