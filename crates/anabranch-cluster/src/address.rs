//! The address of a server, as a user writes it.

use std::fmt;

use async_nats::ServerAddr;

use crate::error::Error;

/// Addresses of one cluster of servers, and the credentials that were written into them. It is shown without the credentials.
#[derive(Clone)]
pub(crate) struct Address {
    servers: Vec<ServerAddr>,
    pub(crate) secret: Option<Secret>,
    shown: String,
}

/// The part of an address before the `@`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Secret {
    UserAndPassword(String, String),
    Token(String),
}

impl Address {
    /// Reads addresses that are separated by commas: `nats://user:password@build:4222,nats://other:4222`. A user and a password may be
    /// percent-encoded, and those of the first address are used for all.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let mut address = Self { servers: Vec::new(), secret: None, shown: String::new() };
        let parts = text.split(',').map(str::trim).map(|part| {
            let (scheme, rest) = part.split_once("://").unwrap_or(("nats", part));
            // A password may have any character, so the last `@` is the one before the host.
            let (secret, place) =
                rest.rsplit_once('@').map_or((None, rest), |(secret, place)| (Some(secret), place));
            (scheme, secret, place.trim_end_matches('/'))
        });
        let parts: Vec<_> = parts.collect();
        let shown: Vec<String> =
            parts.iter().map(|(scheme, _, place)| format!("{scheme}://{place}")).collect();
        address.shown = shown.join(",");
        let wrong = |cause: &str| Error::Address { url: shown.join(","), cause: cause.to_owned() };
        for ((scheme, secret, place), shown) in parts.iter().zip(&shown) {
            if place.is_empty() {
                return Err(wrong("a host is missing"));
            }
            match *scheme {
                "nats" => {}
                "tls" if cfg!(feature = "tls") => {}
                "tls" => return Err(Error::NoTls { url: shown.clone() }),
                _ => return Err(wrong("an address begins with `nats://` or `tls://`")),
            }
            // The text of this error has the address without its credentials.
            let server = shown.parse().map_err(|error: std::io::Error| wrong(&error.to_string()))?;
            address.servers.push(server);
            if let Some(secret) = secret.map(read_secret) {
                let secret =
                    secret.ok_or_else(|| wrong("the user or the password is not percent-encoded UTF-8"))?;
                if address.secret.as_ref().is_some_and(|other| *other != secret) {
                    return Err(wrong("all servers of a cluster have the same user and password"));
                }
                address.secret = Some(secret);
            }
        }
        Ok(address)
    }

    pub(crate) fn servers(&self) -> Vec<ServerAddr> {
        self.servers.clone()
    }

    /// Looks whether a server demands TLS, which is not in this build. The client would panic there.
    #[cfg(not(feature = "tls"))]
    pub(crate) async fn look(&self) -> Result<(), Error> {
        use tokio::io::{AsyncBufReadExt, BufReader};
        const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);
        for server in &self.servers {
            let info = async {
                let place = (server.host().to_owned(), server.port());
                let connection = tokio::net::TcpStream::connect(place).await.ok()?;
                let mut line = String::new();
                BufReader::new(connection).read_line(&mut line).await.ok()?;
                serde_json::from_str::<serde_json::Value>(line.strip_prefix("INFO ")?).ok()
            };
            // A server that does not answer is refused when it is connected to.
            let info = tokio::time::timeout(PATIENCE, info).await.ok().flatten();
            if info.is_some_and(|info| info["tls_required"] == true) {
                return Err(Error::NoTls { url: self.to_string() });
            }
        }
        Ok(())
    }

    #[cfg(feature = "tls")]
    pub(crate) async fn look(&self) -> Result<(), Error> {
        Ok(())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.shown)
    }
}

fn read_secret(text: &str) -> Option<Secret> {
    Some(match text.split_once(':') {
        Some((user, password)) => Secret::UserAndPassword(decoded(user)?, decoded(password)?),
        None => Secret::Token(decoded(text)?),
    })
}

/// Decodes `%XX` (RFC 3986, 2.1). A `%` that no two hexadecimal digits follow stands for itself.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let byte = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        match byte.filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text that is shown, the hosts and ports, and the user and the password or the token.
    type Read = (String, Vec<(String, u16)>, Option<(String, String)>);

    fn read(text: &str) -> Read {
        let address = Address::parse(text).unwrap();
        let servers =
            address.servers.iter().map(|server| (server.host().to_owned(), server.port())).collect();
        let secret = address.secret.clone().map(|secret| match secret {
            Secret::UserAndPassword(user, password) => (user, password),
            Secret::Token(token) => (token, String::new()),
        });
        (address.to_string(), servers, secret)
    }

    /// Each character that a password may have, plain or percent-encoded.
    #[test]
    fn any_user_and_password_is_read_and_not_shown() {
        let characters: Vec<char> =
            (' '..='~').chain("äß漢🦀".chars()).filter(|c| !",: ".contains(*c)).collect();
        for (n, letter) in characters.iter().enumerate() {
            let other = characters[(n * 31 + 7) % characters.len()];
            let password = format!("p{letter}{other}w");
            let encoded: String = password.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let mut forms = vec![encoded];
            if !password.contains('%') {
                forms.push(password.clone());
            }
            for form in forms {
                let (shown, servers, secret) = read(&format!("nats://us%65r:{form}@build:4333"));
                assert_eq!(shown, "nats://build:4333");
                assert_eq!(servers, [("build".to_owned(), 4333)]);
                assert_eq!(secret, Some(("user".to_owned(), password.clone())));
            }
        }
        let all = Address::parse("nats://me:hidden@build").unwrap();
        assert!(!format!("{all:?} {all}").contains("hidden"));
    }

    #[test]
    fn several_addresses_share_the_credentials() {
        let (shown, servers, secret) = read("nats://me:secret@a:1, b ,nats://[::1]:3/");
        assert_eq!(shown, "nats://a:1,nats://b,nats://[::1]:3");
        assert_eq!(servers, [("a".to_owned(), 1), ("b".to_owned(), 4222), ("::1".to_owned(), 3)]);
        assert_eq!(secret, Some(("me".to_owned(), "secret".to_owned())));
        assert_eq!(read("token@a").2, Some(("token".to_owned(), String::new())));
        for wrong in ["", "nats://", "a,,b", "http://a", "nats://a:70000", "nats://x:1@a,nats://x:2@b"] {
            let error = Address::parse(wrong).unwrap_err();
            assert!(matches!(error, Error::Address { .. }), "{error}");
        }
    }

    #[cfg(not(feature = "tls"))]
    #[test]
    fn an_address_with_tls_names_the_feature() {
        let error = Address::parse("tls://me:hidden@build:4222").unwrap_err().to_string();
        assert!(error.contains("feature `tls`") && error.contains("tls://build:4222"), "{error}");
        assert!(!error.contains("hidden"));
    }
}
