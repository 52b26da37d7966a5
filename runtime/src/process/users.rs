//! A user by name, as `/etc/passwd` has it.
//!
//! The file is read here rather than through the C library's name services: those load modules at run time, which a
//! static binary in an image without a C library cannot do, and the whole answer is one line of text.

use std::io;
use std::path::Path;

use super::sys::Identity;

/// Where users are listed.
const PASSWD: &str = "/etc/passwd";

/// A user that children can run as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The name; none for a number that no line lists.
    pub name: Option<String>,
    /// User and group id.
    pub identity: Identity,
    /// The home directory.
    pub home: String,
    /// The login shell.
    pub shell: Option<String>,
}

/// Why there is no such user.
#[derive(Debug, thiserror::Error)]
pub enum UserError {
    /// No line of the list names it.
    #[error("there is no user `{0}`")]
    Unknown(String),
    /// The list cannot be read.
    #[error("cannot read `{PASSWD}`: {0}")]
    Unreadable(#[source] io::Error),
}

impl User {
    /// The user that a text means: a name, a user id, or a user id and a group id with a colon between them. Ids need not
    /// be listed, as images without a list of users have nothing else.
    ///
    /// # Errors
    /// A name that is not listed, or a list that cannot be read although a name needs it.
    pub fn find(text: &str) -> Result<Self, UserError> {
        let numbers = numbers(text);
        match read(Path::new(PASSWD)) {
            Ok(list) => Self::among(&list, text, numbers),
            Err(_) if numbers.is_some() => Self::among("", text, numbers),
            Err(error) => Err(UserError::Unreadable(error)),
        }
    }

    fn among(list: &str, text: &str, numbers: Option<(u32, Option<u32>)>) -> Result<Self, UserError> {
        let mut users = list.lines().filter_map(Self::line);
        let Some((uid, gid)) = numbers else {
            let named = users.find(|user| user.name.as_deref() == Some(text));
            return named.ok_or_else(|| UserError::Unknown(text.to_owned()));
        };
        let listed = users.find(|user| user.identity.uid == uid);
        // A number that nobody has is in the group of the same number, and at home nowhere.
        let unlisted =
            Self { name: None, identity: Identity { uid, gid: uid }, home: "/".to_owned(), shell: None };
        let mut user = listed.unwrap_or(unlisted);
        user.identity.gid = gid.unwrap_or(user.identity.gid);
        Ok(user)
    }

    /// `name:password:uid:gid:comment:home:shell`
    fn line(line: &str) -> Option<Self> {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        let identity = Identity { uid: fields.nth(1)?.parse().ok()?, gid: fields.next()?.parse().ok()? };
        let home = fields.nth(1).filter(|home| !home.is_empty()).unwrap_or("/").to_owned();
        let shell = fields.next().filter(|shell| !shell.is_empty()).map(str::to_owned);
        Some(Self { name: Some(name.to_owned()), identity, home, shell })
    }

    /// The variables that tell a program who it runs as.
    pub fn variables(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let name = self.name.as_deref();
        [
            ("HOME", Some(self.home.as_str())),
            ("USER", name),
            ("LOGNAME", name),
            ("SHELL", self.shell.as_deref()),
        ]
        .into_iter()
        .filter_map(|(variable, value)| Some((variable.to_owned(), value?.to_owned())))
    }
}

/// `UID` or `UID:GID`.
fn numbers(text: &str) -> Option<(u32, Option<u32>)> {
    // A sign is no digit, although the parser of numbers takes one.
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?;
    match text.split_once(':') {
        None => Some((number(text)?, None)),
        Some((uid, gid)) => Some((number(uid)?, Some(number(gid)?))),
    }
}

/// The list; a line that is no text is nobody's.
fn read(path: &Path) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&std::fs::read(path)?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIST: &str = "root:x:0:0:root:/root:/bin/sh\n\
        # a comment\n:x:7:7:nameless:/:\nbroken:x:one:2::/:\nshort:x:5\n\
        user:x:1000:1001:A, B:/home/user:/bin/bash\nbare:x:9:9:::\n+nis\n";

    fn found(text: &str) -> Result<User, String> {
        User::among(LIST, text, numbers(text)).map_err(|error| error.to_string())
    }

    fn user(name: Option<&str>, uid: u32, gid: u32, home: &str, shell: Option<&str>) -> User {
        let identity = Identity { uid, gid };
        User {
            name: name.map(str::to_owned),
            identity,
            home: home.to_owned(),
            shell: shell.map(str::to_owned),
        }
    }

    #[test]
    fn a_user_is_found_by_name_or_number() {
        let listed = user(Some("user"), 1000, 1001, "/home/user", Some("/bin/bash"));
        assert_eq!(found("user"), Ok(listed.clone()));
        assert_eq!(found("1000"), Ok(listed.clone()));
        assert_eq!(found("1000:7").unwrap().identity, Identity { uid: 1000, gid: 7 });
        assert_eq!(found("bare"), Ok(user(Some("bare"), 9, 9, "/", None)));
        assert_eq!(found("4000"), Ok(user(None, 4000, 4000, "/", None)));
        assert_eq!(found("4000:5").unwrap().identity, Identity { uid: 4000, gid: 5 });
        for nobody in
            ["", "nobody", "broken", "short", "# a comment", "use", "+5", "-1", "1000:", ":5", "4294967296"]
        {
            assert_eq!(found(nobody), Err(format!("there is no user `{nobody}`")));
        }
    }

    #[test]
    fn a_child_learns_who_it_is() {
        let told: Vec<_> = found("user").unwrap().variables().collect();
        let wanted = [("HOME", "/home/user"), ("USER", "user"), ("LOGNAME", "user"), ("SHELL", "/bin/bash")];
        assert_eq!(told, wanted.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    proptest! {
        #[test]
        fn never_panics_and_never_makes_root_of_a_stranger(list in "[ -~\n]{0,200}", text in "[a-z]{1,8}") {
            if let Ok(user) = User::among(&list, &text, numbers(&text)) {
                prop_assert_eq!(user.name, Some(text));
            }
        }
    }
}
