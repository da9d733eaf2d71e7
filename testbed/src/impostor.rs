//! A server that speaks TLS with a certificate that nobody should trust.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, Issuer, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use tokio_rustls::TlsAcceptor;

use crate::api::{certificate_der, key_der};
use crate::error::{Context, Result};
use crate::pki::{Pair, ca_params};
use crate::proxy;

/// What is wrong with its certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// It expired at the end of 2021.
    Expired,
    /// It is valid from 2048 on.
    Early,
    /// It is for `elsewhere.example.com`.
    OtherName,
    /// There is none: the server answers in plain text.
    Plain,
}

/// A server on 127.0.0.1 with a flaw. It ends when this is dropped.
#[derive(Debug)]
pub struct Impostor {
    address: SocketAddr,
    ca: String,
    stop: AbortHandle,
}

impl Impostor {
    /// Starts one.
    ///
    /// # Panics
    /// If it cannot listen.
    pub fn start(flaw: Flaw) -> Impostor {
        match Impostor::try_start(flaw) {
            Ok(impostor) => impostor,
            Err(e) => panic!("no impostor: {e}"),
        }
    }

    fn try_start(flaw: Flaw) -> Result<Impostor> {
        let (ca, pair) = certificates(flaw)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .doing(|| "TLS of the impostor".into())?
            .with_no_client_auth()
            .with_single_cert(vec![certificate_der(&pair)?], key_der(&pair)?)
            .doing(|| "TLS of the impostor".into())?;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let runtime = proxy::runtime()?;
        let what = || "socket of the impostor".to_owned();
        let socket = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).doing(what)?;
        socket.set_nonblocking(true).doing(what)?;
        let address = socket.local_addr().doing(what)?;
        let socket = {
            let _in_runtime = runtime.enter();
            TcpListener::from_std(socket).doing(what)?
        };
        let task = runtime.spawn(serve(socket, (flaw != Flaw::Plain).then_some(acceptor)));
        Ok(Impostor { address, ca, stop: task.abort_handle() })
    }

    /// `https://127.0.0.1:PORT`.
    pub fn server(&self) -> String {
        format!("https://{}", self.address)
    }

    /// The authority that signed its certificate, as PEM.
    pub fn ca(&self) -> &str {
        &self.ca
    }
}

impl Drop for Impostor {
    fn drop(&mut self) {
        self.stop.abort();
    }
}

async fn serve(socket: TcpListener, acceptor: Option<TlsAcceptor>) {
    use tokio::io::AsyncWriteExt;
    loop {
        let Ok((mut stream, _)) = socket.accept().await else { continue };
        match &acceptor {
            // The client leaves when it has seen the certificate.
            Some(acceptor) => drop(acceptor.accept(stream).await),
            None => {
                let answer = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
                stream.write_all(answer).await.ok();
                stream.shutdown().await.ok();
            }
        }
    }
}

fn certificates(flaw: Flaw) -> Result<(String, Pair)> {
    let ca_key = KeyPair::generate().doing(|| "key of a CA".into())?;
    let params = ca_params("impostor");
    let ca = params.self_signed(&ca_key).doing(|| "certificate of a CA".into())?;
    let issuer = Issuer::new(params, ca_key);
    let key = KeyPair::generate().doing(|| "serving key".into())?;
    let name = if flaw == Flaw::OtherName { "elsewhere.example.com" } else { "127.0.0.1" };
    let mut params =
        CertificateParams::new(vec![name.to_owned()]).doing(|| "serving certificate".into())?;
    params.distinguished_name.push(DnType::CommonName, "impostor");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let (from, to) = match flaw {
        Flaw::Expired => (2020, 2022),
        Flaw::Early => (2048, 2049),
        Flaw::OtherName | Flaw::Plain => (2020, 2049),
    };
    params.not_before = date_time_ymd(from, 1, 1);
    params.not_after = date_time_ymd(to, 1, 1);
    let certificate = params.signed_by(&key, &issuer).doing(|| "serving certificate".into())?;
    Ok((ca.pem(), Pair { certificate: certificate.pem(), key: key.serialize_pem() }))
}
