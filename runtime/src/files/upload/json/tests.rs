//! What the reader takes and refuses, in any cut.

use super::*;
use proptest::prelude::*;

#[derive(Default)]
struct Kept(Vec<(String, Value)>, Option<Vec<u8>>);

impl Sink for Kept {
    fn content_begins(&mut self) -> Result<(), UploadError> {
        self.1 = Some(Vec::new());
        Ok(())
    }
    fn content(&mut self, text: &[u8]) -> Result<(), UploadError> {
        self.1.get_or_insert_default().extend_from_slice(text);
        Ok(())
    }
    fn member(&mut self, name: &str, value: Value) -> Result<(), UploadError> {
        self.0.push((name.to_owned(), value));
        Ok(())
    }
}

fn read(text: &[u8], cut: usize) -> Result<Kept, UploadError> {
    let mut reader = Reader::new("content_base64");
    let mut kept = Kept::default();
    for piece in text.chunks(cut) {
        reader.feed(piece, &mut kept)?;
    }
    reader.finish()?;
    Ok(kept)
}

#[test]
fn reads_members_around_the_content() {
    let text = br#" {"path" : "a\"b", "content_base64":"QUJD\/\u002b==", "n": [1,{"x":"]"}], "t":true } "#;
    for cut in 1..text.len() {
        let kept = read(text, cut).unwrap();
        assert_eq!(kept.1.as_deref(), Some(&b"QUJD/+=="[..]), "{cut}");
        let names: Vec<&str> = kept.0.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["path", "n", "t"]);
        assert_eq!(kept.0[0].1, "a\"b");
    }
}

#[test]
fn refuses_what_the_library_refuses() {
    for text in [
        "",
        "[]",
        "{",
        "{}x",
        "{,}",
        r#"{"a":1,}"#,
        r#"{"a" 1}"#,
        r#"{"a":}"#,
        r#"{"a":NaN}"#,
        r#"{"a":1e999}"#,
        r#"{"a":01}"#,
        r#"{"a":1]"#,
        r#"{"a":"\x"}"#,
        r#"{"content_base64":"\x"}"#,
        r#"{"content_base64":"a"#,
        r#"{"a":1,"a":2}"#,
        r#"{"content_base64":"","content_base64":""}"#,
        "\u{feff}{}",
        r#"{"a":"\ud800"}"#,
    ] {
        assert!(read(text.as_bytes(), 3).is_err(), "{text}");
    }
    let deep = format!(r#"{{"a":{}}}"#, "[".repeat(10_000));
    assert!(read(deep.as_bytes(), 100).is_err());
}

proptest! {
    #[test]
    fn any_object_in_any_cut_reads_as_the_library_reads_it(
        members in proptest::collection::btree_map("[a-z]{1,4}", "\\PC{0,12}", 0..6),
        content in "[A-Za-z0-9+/]{0,64}",
        cut in 1_usize..40,
    ) {
        let mut object: serde_json::Map<String, Value> =
            members.iter().map(|(name, value)| (name.clone(), Value::from(value.clone()))).collect();
        object.insert("content_base64".to_owned(), Value::from(content.clone()));
        let text = serde_json::to_vec(&object).unwrap();
        let kept = read(&text, cut).unwrap();
        prop_assert_eq!(kept.1.unwrap(), content.into_bytes());
        let got: std::collections::BTreeMap<String, Value> = kept.0.into_iter().collect();
        prop_assert_eq!(got.len(), members.len());
        for (name, value) in members {
            prop_assert_eq!(&got[&name], &Value::from(value));
        }
    }

    #[test]
    fn never_panics(text in proptest::collection::vec(any::<u8>(), 0..200), cut in 1_usize..40) {
        let _ = read(&text, cut);
    }
}
