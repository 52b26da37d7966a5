//! Whom an encrypted connection trusts: the machine's certificate authorities, or Mozilla's where the machine has none.

use std::sync::{Arc, OnceLock};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Encrypts connections. Read from disk at first use, once.
///
/// # Errors
/// The library refuses its own defaults; nothing is encrypted then.
pub(super) fn connector() -> Option<TlsConnector> {
    static CONFIG: OnceLock<Option<Arc<ClientConfig>>> = OnceLock::new();
    CONFIG.get_or_init(config).clone().map(TlsConnector::from)
}

fn config() -> Option<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    // Single certificates that cannot be read are left out, as every client does.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().ok()?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Some(Arc::new(config))
}
