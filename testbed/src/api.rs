//! A small blocking client for one API server: what the bed itself asks (ready? nodes? namespaces), and what a test asks
//! when a kubectl process would be too slow.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;

use crate::error::{Context, Error, Result};
use crate::pki::Pair;

/// An answer of an API server.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body, if it is JSON.
    pub json: Value,
    /// The body as text.
    pub text: String,
}

impl Answer {
    /// True for 2xx.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// TLS settings of a client that trusts one CA, and shows a certificate if it has one.
pub(crate) fn tls_client(ca: &str, client: Option<&Pair>) -> Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(ca.as_bytes()).doing(|| "CA certificate".into())?)
        .doing(|| "CA certificate".into())?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .doing(|| "TLS".into())?
        .with_root_certificates(roots);
    match client {
        None => Ok(builder.with_no_client_auth()),
        Some(pair) => builder
            .with_client_auth_cert(vec![certificate_der(pair)?], key_der(pair)?)
            .doing(|| "client certificate".into()),
    }
}

pub(crate) fn certificate_der(pair: &Pair) -> Result<CertificateDer<'static>> {
    CertificateDer::from_pem_slice(pair.certificate.as_bytes()).doing(|| "certificate".into())
}

pub(crate) fn key_der(pair: &Pair) -> Result<PrivateKeyDer<'static>> {
    PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).doing(|| "key".into())
}

/// A client of one API server. Every call has a connection of its own.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    address: SocketAddr,
    tls: Arc<ClientConfig>,
}

impl Client {
    pub(crate) fn new(address: SocketAddr, ca: &str, user: &Pair) -> Result<Client> {
        Ok(Client { address, tls: Arc::new(tls_client(ca, Some(user))?) })
    }

    /// One call. `content_type` is given for a call with a body.
    pub(crate) fn call(
        &self,
        method: &str,
        path: &str,
        body: Option<(&str, &[u8])>,
        timeout: Duration,
    ) -> Result<Answer> {
        self.try_call(method, path, body, timeout)
            .doing(|| format!("{method} https://{}{path}", self.address))
    }

    fn try_call(
        &self,
        method: &str,
        path: &str,
        body: Option<(&str, &[u8])>,
        timeout: Duration,
    ) -> Result<Answer> {
        let step = |e: std::io::Error| Error::new(e.to_string());
        let socket = TcpStream::connect_timeout(&self.address, timeout).map_err(step)?;
        socket.set_read_timeout(Some(timeout)).map_err(step)?;
        socket.set_write_timeout(Some(timeout)).map_err(step)?;
        let name = ServerName::from(self.address.ip());
        let tls = ClientConnection::new(Arc::clone(&self.tls), name)
            .map_err(|e| Error::new(e.to_string()))?;
        let mut stream = StreamOwned::new(tls, socket);
        // HTTP/1.0: the server closes the connection after the answer, and does not send it in chunks.
        let mut request = format!(
            "{method} {path} HTTP/1.0\r\nHost: {}\r\nAccept: application/json\r\n",
            self.address
        );
        let content = match body {
            Some((content_type, content)) => {
                request.push_str(&format!(
                    "Content-Type: {content_type}\r\nContent-Length: {}\r\n",
                    content.len()
                ));
                content
            }
            None => &[],
        };
        request.push_str("\r\n");
        stream.write_all(request.as_bytes()).map_err(step)?;
        stream.write_all(content).map_err(step)?;
        stream.flush().map_err(step)?;
        let mut answer = Vec::new();
        match stream.read_to_end(&mut answer) {
            Ok(_) => {}
            // The connection was closed without TLS's own goodbye: what was read is judged as it is.
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => {}
            Err(e) => return Err(step(e)),
        }
        parse(&answer).ok_or_else(|| Error::new("not an HTTP answer"))
    }
}

/// A connection that is kept between calls: what a program pays that does nothing but ask.
#[derive(Debug)]
pub struct Connection {
    host: String,
    stream: BufReader<StreamOwned<ClientConnection, TcpStream>>,
}

impl Client {
    pub(crate) fn connect(&self, timeout: Duration) -> Result<Connection> {
        let step = |e: std::io::Error| Error::new(e.to_string());
        let socket = TcpStream::connect_timeout(&self.address, timeout).map_err(step)?;
        socket.set_read_timeout(Some(timeout)).map_err(step)?;
        socket.set_nodelay(true).map_err(step)?;
        let name = ServerName::from(self.address.ip());
        let tls = ClientConnection::new(Arc::clone(&self.tls), name).doing(|| "TLS".into())?;
        let stream = BufReader::with_capacity(64 << 10, StreamOwned::new(tls, socket));
        Ok(Connection { host: self.address.to_string(), stream })
    }
}

impl Connection {
    /// Reads a path. The status and the body's bytes, which are not looked at.
    pub fn get(&mut self, path: &str) -> Result<(u16, Vec<u8>)> {
        self.exchange(path).doing(|| format!("GET https://{}{path}", self.host))
    }

    fn exchange(&mut self, path: &str) -> Result<(u16, Vec<u8>)> {
        let step = |e: std::io::Error| Error::new(e.to_string());
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAccept: application/json\r\n\r\n",
            self.host
        );
        let writer = self.stream.get_mut();
        writer.write_all(request.as_bytes()).and_then(|()| writer.flush()).map_err(step)?;
        let status = self.line()?;
        let status = status.split_whitespace().nth(1).and_then(|code| code.parse().ok());
        let status = status.ok_or_else(|| Error::new("not an HTTP answer"))?;
        let (mut length, mut chunked) = (0, false);
        loop {
            let line = self.line()?.to_ascii_lowercase();
            match line.split_once(':') {
                None if line.is_empty() => break,
                Some(("content-length", value)) => length = value.trim().parse().unwrap_or(0),
                Some(("transfer-encoding", value)) => chunked = value.trim() == "chunked",
                _ => {}
            }
        }
        let mut body = Vec::new();
        loop {
            if chunked {
                let size = self.line()?;
                length = usize::from_str_radix(size.trim(), 16).doing(|| "a chunk".into())?;
            }
            let start = body.len();
            body.resize(start + length, 0);
            self.stream.read_exact(body.get_mut(start..).unwrap_or_default()).map_err(step)?;
            if chunked {
                self.line()?;
            }
            if !chunked || length == 0 {
                return Ok((status, body));
            }
        }
    }

    /// A line of the head, without its end.
    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        match self.stream.read_line(&mut line) {
            Ok(0) => Err(Error::new("the connection was closed")),
            Ok(_) => Ok(line.trim_end().to_owned()),
            Err(e) => Err(Error::new(e.to_string())),
        }
    }
}

fn parse(answer: &[u8]) -> Option<Answer> {
    let end = answer.windows(4).position(|w| w == b"\r\n\r\n")?;
    let head = std::str::from_utf8(answer.get(..end)?).ok()?;
    let status = head.split_whitespace().nth(1)?.parse().ok()?;
    let text = String::from_utf8_lossy(answer.get(end + 4..)?).into_owned();
    let json = serde_json::from_str(&text).unwrap_or(Value::Null);
    Some(Answer { status, json, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_parsed() {
        let answer = parse(b"HTTP/1.0 201 Created\r\nA: b\r\n\r\n{\"kind\":\"X\"}").unwrap();
        assert_eq!((answer.status, answer.is_success()), (201, true));
        assert_eq!(answer.json["kind"], "X");
        let answer = parse(b"HTTP/1.1 503 Service Unavailable\r\n\r\nnot ready").unwrap();
        assert_eq!((answer.status, answer.text.as_str()), (503, "not ready"));
        assert!(!answer.is_success());
        assert!(parse(b"").is_none());
        assert!(parse(b"HTTP/1.1 200 OK\r\n").is_none());
    }
}
