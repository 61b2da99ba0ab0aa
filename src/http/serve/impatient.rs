//! A connection that gives up on a client which does not read its answer, since such a one would keep the answer in
//! memory for ever; and that lets one which is still sending read why it was refused.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Sleep;

/// How long what is still being sent is read and thrown away after the last answer. Closing at once would reset the
/// connection, and the reset takes the answer with it.
const LINGER: Duration = Duration::from_secs(2);

/// A stream on which writing fails when nothing could be written for some time.
pub(super) struct Impatient<S> {
    stream: S,
    patience: Duration,
    /// Runs while the other side takes nothing.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Nothing will be written any more.
    ended: bool,
    /// Runs once the other side has sent something after that.
    lingering: Option<Pin<Box<Sleep>>>,
    /// Its place among the connections, free again when the socket is closed.
    _place: OwnedSemaphorePermit,
}

impl<S> Impatient<S> {
    pub(super) fn new(stream: S, patience: Duration, place: OwnedSemaphorePermit) -> Self {
        Self {
            stream,
            patience,
            stalled: None,
            ended: false,
            lingering: None,
            _place: place,
        }
    }

    fn judge<T>(&mut self, cx: &mut Context<'_>, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.stalled = None;
            return result;
        }
        let patience = self.patience;
        let timer = self
            .stalled
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        timer
            .as_mut()
            .poll(cx)
            .map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> Impatient<S> {
    /// Throws away what still comes; done at once when nothing does.
    fn linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if let Some(timer) = &mut self.lingering
                && timer.as_mut().poll(cx).is_ready()
            {
                return Poll::Ready(());
            }
            let mut bytes = [0; 16 << 10];
            let mut buffer = ReadBuf::new(&mut bytes);
            match Pin::new(&mut self.stream).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    self.lingering
                        .get_or_insert_with(|| Box::pin(tokio::time::sleep(LINGER)));
                }
                Poll::Pending if self.lingering.is_some() => return Poll::Pending,
                _ => return Poll::Ready(()),
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Impatient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Impatient<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.judge(cx, result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, bytes);
        self.judge(cx, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_flush(cx);
        self.judge(cx, result)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.ended {
            let result = Pin::new(&mut self.stream).poll_shutdown(cx);
            ready!(self.judge(cx, result))?;
            self.ended = true;
        }
        self.linger(cx).map(Ok)
    }
}
