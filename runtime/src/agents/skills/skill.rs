//! What a skill is: a name, a description, and files, `SKILL.md` among them.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Most files of a skill.
pub const MOST_FILES: usize = 200;

/// Most bytes of all its files.
pub const MOST_BYTES: usize = 4 << 20;

/// The file that every skill has.
const MAIN: &str = "SKILL.md";

/// Longest description, in characters.
const DESCRIPTION: usize = 1024;

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// Lower-case words joined by `-`; also the name of its folder.
    pub name: String,
    /// When an agent is to use it.
    pub description: String,
    /// Content by path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Agents that get it; every one where it is empty.
    pub targets: Vec<String>,
    /// Directories whose sessions get it, those below too; every one where it is empty.
    pub cwds: Vec<String>,
}

/// Why something is no skill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkillError {
    /// The name.
    #[error("name must be at most 64 lower-case letters, digits and single `-` between them")]
    Name,
    /// The description.
    #[error("description must be one line of 1 to {DESCRIPTION} characters")]
    Description,
    /// A path that leads out, or is none.
    #[error("`{0}` is no path inside of a skill")]
    Path(String),
    /// One is a file and a directory.
    #[error("`{0}` is both a file and a directory")]
    Clash(String),
    /// The front matter of `SKILL.md`.
    #[error("the front matter of SKILL.md {0}")]
    FrontMatter(&'static str),
    /// Too many files, or too much of them.
    #[error("a skill has at most {MOST_FILES} files and {MOST_BYTES} bytes")]
    TooLarge,
}

#[derive(Deserialize)]
struct FrontMatter {
    name: Option<String>,
    description: Option<String>,
}

impl Skill {
    /// Checks what was sent. Where `SKILL.md` is missing, or has no front matter, it is given one.
    ///
    /// # Errors
    /// See [`SkillError`].
    pub fn checked(mut self) -> Result<Self, SkillError> {
        if !is_name(&self.name) {
            return Err(SkillError::Name);
        }
        let length = self.description.chars().count();
        if length == 0 || length > DESCRIPTION || self.description.contains(['\n', '\r']) {
            return Err(SkillError::Description);
        }
        for path in self.files.keys() {
            if !is_path(path) {
                return Err(SkillError::Path(path.clone()));
            }
            let inside = format!("{path}/");
            if self.files.keys().any(|other| other.starts_with(&inside)) {
                return Err(SkillError::Clash(path.clone()));
            }
        }
        let main = self.files.remove(MAIN).unwrap_or_default();
        let main = self.main(main)?;
        self.files.insert(MAIN.to_owned(), main);
        if self.files.len() > MOST_FILES || self.bytes() > MOST_BYTES {
            return Err(SkillError::TooLarge);
        }
        Ok(self)
    }

    fn main(&self, content: Vec<u8>) -> Result<Vec<u8>, SkillError> {
        let text = String::from_utf8(content).map_err(|_| SkillError::FrontMatter("is no text"))?;
        match front_matter(&text) {
            None if text.starts_with("---") => Err(SkillError::FrontMatter("has no end")),
            None => {
                let name = serde_json::Value::from(self.name.as_str());
                // Every JSON string is a YAML string.
                let description = serde_json::Value::from(self.description.as_str());
                Ok(format!("---\nname: {name}\ndescription: {description}\n---\n\n{text}").into_bytes())
            }
            Some(block) => {
                let read: FrontMatter =
                    serde_yaml::from_str(block).map_err(|_| SkillError::FrontMatter("cannot be read"))?;
                if read.name.as_deref() != Some(&*self.name) {
                    return Err(SkillError::FrontMatter("has another name"));
                }
                if read.description.is_none_or(|description| description.trim().is_empty()) {
                    return Err(SkillError::FrontMatter("has no description"));
                }
                Ok(text.into_bytes())
            }
        }
    }

    /// Bytes of all files.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.files.values().map(Vec::len).sum()
    }
}

/// Name and description that a `SKILL.md` gives, where it gives any.
#[must_use]
pub fn described(text: &str) -> (Option<String>, Option<String>) {
    let read = front_matter(text).and_then(|block| serde_yaml::from_str::<FrontMatter>(block).ok());
    read.map_or((None, None), |read| (read.name, read.description))
}

/// The YAML between the first two lines of dashes.
fn front_matter(text: &str) -> Option<&str> {
    let rest = text
        .trim_start_matches('\u{feff}')
        .strip_prefix("---")?
        .trim_start_matches('\r')
        .strip_prefix('\n')?;
    let end = rest.find("\n---")?;
    rest.get(..end)
}

/// Whether `text` can name a skill.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    text.len() <= 64 && text.split('-').all(word)
}

/// Whether `text` leads down, and into no repository.
fn is_path(text: &str) -> bool {
    let part = |part: &str| {
        !matches!(part, "" | "." | "..")
            && !part.eq_ignore_ascii_case(".git")
            && part.len() <= 255
            && !part.chars().any(char::is_control)
            && !part.contains('\\')
    };
    text.len() <= 1024 && text.split('/').all(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(files: &[(&str, &str)]) -> Skill {
        Skill {
            name: "code-review".to_owned(),
            description: "How: we \"review\"".to_owned(),
            files: files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect(),
            targets: Vec::new(),
            cwds: Vec::new(),
        }
    }

    #[test]
    fn a_missing_front_matter_is_written_and_can_be_read() {
        let own = skill(&[("SKILL.md", "# Steps\n"), ("scripts/run.sh", "true")]).checked().unwrap();
        let main = String::from_utf8(own.files["SKILL.md"].clone()).unwrap();
        assert_eq!(described(&main), (Some("code-review".to_owned()), Some("How: we \"review\"".to_owned())));
        assert!(main.ends_with("\n\n# Steps\n"));
        assert_eq!(own.clone().checked().unwrap(), own, "what was checked once stays as it is");
    }

    #[test]
    fn what_is_no_skill_is_refused() {
        let wrong = |change: fn(&mut Skill)| {
            let mut own = skill(&[]);
            change(&mut own);
            own.checked().unwrap_err()
        };
        for name in ["", "Code", "a--b", "-a", "a_b", "../x"] {
            let mut own = skill(&[]);
            own.name = name.to_owned();
            assert_eq!(own.checked(), Err(SkillError::Name), "{name}");
        }
        for path in ["../x", "/etc/x", "a//b", "a/./b", "", "a\\b", ".git/hooks/x", "a/.GIT/x", "a\nb"] {
            assert_eq!(skill(&[(path, "x")]).checked(), Err(SkillError::Path(path.to_owned())), "{path}");
        }
        assert_eq!(skill(&[("a", "x"), ("a/b", "x")]).checked(), Err(SkillError::Clash("a".to_owned())));
        assert_eq!(wrong(|own| own.description.clear()), SkillError::Description);
        for (text, why) in [
            ("---\nname: code-review\n", "has no end"),
            ("---\nname: other\ndescription: x\n---\n", "has another name"),
            ("---\nname: code-review\n---\n", "has no description"),
            ("---\n: [\n---\n", "cannot be read"),
        ] {
            assert_eq!(skill(&[("SKILL.md", text)]).checked(), Err(SkillError::FrontMatter(why)), "{text}");
        }
        let large = wrong(|own| drop(own.files.insert("big".to_owned(), vec![0; MOST_BYTES])));
        assert_eq!(large, SkillError::TooLarge);
    }
}
