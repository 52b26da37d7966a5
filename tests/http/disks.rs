//! Disks that are full or read-only.

use crate::mount::Mount;
use crate::raw::{get, post, request};
use crate::server::Setup;
use serde_json::{Value, json};

#[test]
fn row_131_the_disk_is_full() {
    let dir = tempfile::tempdir().unwrap();
    let small = dir.path().join("small");
    let Some(_mount) = Mount::tmpfs("1m,nr_inodes=3", &small) else { return };
    std::fs::write(small.join("old"), "old").unwrap();
    let large = dir.path().join("large");
    std::fs::write(&large, vec![7; 3 << 20]).unwrap();
    let server = Setup::new().no_base_dir().arg("--base-dir").arg(&dir.path().display().to_string()).start();
    let no_space = |answer: crate::raw::Answer| {
        assert_eq!((answer.status, answer.code().as_str()), (507, "no_space"), "{}", answer.json());
        let left: Vec<_> =
            std::fs::read_dir(&small).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| name == "old" || name == "filler"), "{left:?}");
        assert_eq!(std::fs::read_to_string(small.join("old")).unwrap(), "old");
    };
    let content = "QUJD".repeat((5 << 20) / 3);
    for target in ["/upload", "/files/upload-stream"] {
        for path in ["small/new", "small/old"] {
            no_space(post(
                server.port,
                target,
                &json!({"path": path, "content_base64": content}).to_string(),
            ));
        }
    }
    let moved = json!({"source": "large", "destination": "small/large"});
    no_space(post(server.port, "/files/move", &moved.to_string()));
    assert_eq!(std::fs::metadata(&large).unwrap().len(), 3 << 20);
    // No name has room any more.
    std::fs::write(small.join("filler"), "").unwrap();
    no_space(post(server.port, "/files/mkdir", r#"{"path":"small/dir"}"#));
    no_space(post(server.port, "/files/mkdir", r#"{"path":"small/dir/below"}"#));
    assert_eq!(get(server.port, "/health").status, 200);
}

#[test]
fn a_read_only_file_system_is_told_by_whatever_would_change_it() {
    let dir = tempfile::tempdir().unwrap();
    let disk = dir.path().join("disk");
    let server = Setup::new().no_base_dir().arg("--base-dir").arg(&dir.path().display().to_string()).start();
    std::fs::create_dir_all(disk.join("tree/sub")).unwrap();
    std::fs::write(disk.join("old"), "old").unwrap();
    std::fs::write(disk.join("tree/sub/f"), "f").unwrap();
    std::fs::write(dir.path().join("beside"), "beside").unwrap();
    let Some(_mount) = Mount::read_only(&disk) else { return };
    let changes = [
        ("upload", "POST", "/upload", json!({"path": "disk/old", "content_base64": "QQ=="})),
        ("upload", "POST", "/upload", json!({"path": "disk/new/deep", "content_base64": "QQ=="})),
        (
            "files_upload_stream",
            "POST",
            "/files/upload-stream",
            json!({"path": "disk/new", "content_base64": "QQ=="}),
        ),
        ("files_mkdir", "POST", "/files/mkdir", json!({"path": "disk/a/b"})),
        ("files_delete", "DELETE", "/files?path=disk/old", Value::Null),
        ("files_delete", "DELETE", "/files?path=disk/tree", Value::Null),
        ("files_move", "POST", "/files/move", json!({"source": "disk/old", "destination": "disk/new"})),
        ("files_move", "POST", "/files/move", json!({"source": "disk/old", "destination": "taken"})),
        ("files_move", "POST", "/files/move", json!({"source": "beside", "destination": "disk/beside"})),
    ];
    for (endpoint, method, target, body) in changes {
        let text = body.to_string();
        let sent = (!body.is_null()).then_some(text.as_bytes());
        let answer = request(server.port, method, target, &[], sent);
        let which = if endpoint == "files_move" { "destination: " } else { "" };
        let right = json!({"error": format!("{which}The file system is read-only"), "type": "PermissionError",
            "code": "read_only", "endpoint": endpoint});
        assert_eq!((answer.status, answer.json()), (403, right), "{target} {body}");
    }
    for path in ["disk/old", "disk/tree/sub/f", "beside"] {
        assert_eq!(get(server.port, &format!("/download?path={path}")).status, 200, "{path}");
    }
    let names = std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(names, 2, "nothing is left over");
}
