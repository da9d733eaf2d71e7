//! The certificates of a control plane: a CA of its own, a serving certificate for 127.0.0.1, client certificates, and the
//! key pair of service account tokens.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};

use crate::api::certificate_der;
use crate::cache::write_atomically;
use crate::error::{Context, Error, Result};

/// A certificate and its key, as PEM.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// The client certificates that this process made, by their DER: a proxy that is shown one speaks to the API server with it.
static MADE: Mutex<BTreeMap<Vec<u8>, Pair>> = Mutex::new(BTreeMap::new());

/// The folder with a cluster's certificates and keys.
#[derive(Clone, Debug)]
pub(crate) struct Pki {
    folder: PathBuf,
}

impl Pki {
    /// The certificates in this folder; made if there are none yet.
    pub(crate) fn in_folder(folder: &Path, cluster: &str) -> Result<Pki> {
        let pki = Pki { folder: folder.to_owned() };
        // Written last, so that its presence means that all is there.
        if !pki.path("complete").exists() {
            pki.make(cluster)?;
        }
        Ok(pki)
    }

    /// A file of this folder: `ca.crt`, `server.crt`, `server.key`, `admin.crt`, `admin.key`, `sa.key`, `sa.pub`.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    fn read(&self, file: &str) -> Result<String> {
        let path = self.path(file);
        std::fs::read_to_string(&path).at(&path)
    }

    /// The CA's certificate, as PEM.
    pub(crate) fn ca(&self) -> Result<String> {
        self.read("ca.crt")
    }

    /// The serving certificate for 127.0.0.1.
    pub(crate) fn server(&self) -> Result<Pair> {
        Ok(Pair { certificate: self.read("server.crt")?, key: self.read("server.key")? })
    }

    /// The administrator's client certificate (`system:masters`).
    pub(crate) fn admin(&self) -> Result<Pair> {
        Ok(Pair { certificate: self.read("admin.crt")?, key: self.read("admin.key")? })
    }

    /// A new client certificate for a user and its groups. A certificate made here can name two groups at most.
    pub(crate) fn client(&self, user: &str, groups: &[String]) -> Result<Pair> {
        let key = KeyPair::from_pem(&self.read("ca.key")?).at(&self.path("ca.key"))?;
        let name = self.read("name")?;
        let issuer = Issuer::new(ca_params(&name), key);
        let pair = sign_client(&issuer, user, groups)?;
        let certificate = certificate_der(&pair)?.to_vec();
        MADE.lock().unwrap_or_else(PoisonError::into_inner).insert(certificate, pair.clone());
        Ok(pair)
    }

    /// The key that goes with a client certificate (DER), if it is the administrator's or was made by this process.
    pub(crate) fn client_pair(&self, certificate: &[u8]) -> Result<Option<Pair>> {
        let admin = self.admin()?;
        if certificate_der(&admin)?.as_ref() == certificate {
            return Ok(Some(admin));
        }
        let made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(made.get(certificate).cloned())
    }

    fn make(&self, cluster: &str) -> Result<()> {
        let ca_key = KeyPair::generate().doing(|| "key of the CA".into())?;
        let ca_params = ca_params(cluster);
        let ca = ca_params.self_signed(&ca_key).doing(|| "certificate of the CA".into())?;
        self.write("ca.crt", &ca.pem())?;
        self.write("ca.key", &ca_key.serialize_pem())?;
        self.write("name", cluster)?;
        let issuer = Issuer::new(ca_params, ca_key);

        let key = KeyPair::generate().doing(|| "serving key".into())?;
        let mut params = CertificateParams::new(vec![
            "127.0.0.1".to_owned(),
            "localhost".to_owned(),
            "kubernetes.default.svc".to_owned(),
        ])
        .doing(|| "serving certificate".into())?;
        params.distinguished_name.push(DnType::CommonName, format!("{cluster} API server"));
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        valid_for_long(&mut params);
        let server = params.signed_by(&key, &issuer).doing(|| "serving certificate".into())?;
        self.write("server.crt", &server.pem())?;
        self.write("server.key", &key.serialize_pem())?;

        let admin = sign_client(&issuer, "testbed-admin", &["system:masters".to_owned()])?;
        self.write("admin.crt", &admin.certificate)?;
        self.write("admin.key", &admin.key)?;

        let tokens = KeyPair::generate().doing(|| "key of service accounts".into())?;
        self.write("sa.key", &tokens.serialize_pem())?;
        self.write("sa.pub", &tokens.public_key_pem())?;
        self.write("complete", "")
    }

    fn write(&self, file: &str, content: &str) -> Result<()> {
        // A temporary file is readable by its owner alone, and stays so under its final name.
        write_atomically(&self.path(file), content.as_bytes())
    }
}

pub(crate) fn ca_params(cluster: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, format!("mcd testbed {cluster} CA"));
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    valid_for_long(&mut params);
    params
}

fn valid_for_long(params: &mut CertificateParams) {
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2049, 1, 1);
}

fn sign_client(issuer: &Issuer<'_, KeyPair>, user: &str, groups: &[String]) -> Result<Pair> {
    let key = KeyPair::generate().doing(|| format!("key of `{user}`"))?;
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, user);
    // A distinguished name is a map by type here; the second group is the same attribute (2.5.4.10) by its number.
    let types = [DnType::OrganizationName, DnType::CustomDnType(vec![2, 5, 4, 10])];
    if groups.len() > types.len() {
        return Err(Error::new(format!(
            "`{user}` has more than two groups: bind the user instead"
        )));
    }
    for (group, kind) in groups.iter().zip(types) {
        params.distinguished_name.push(kind, group.as_str());
    }
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    valid_for_long(&mut params);
    let certificate =
        params.signed_by(&key, issuer).doing(|| format!("certificate of `{user}`"))?;
    Ok(Pair { certificate: certificate.pem(), key: key.serialize_pem() })
}
