//! Pages on loopback, and what was asked for.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// One answer.
#[derive(Clone)]
pub struct Page {
    status: u16,
    headers: String,
    body: Vec<u8>,
    after: Duration,
    behind: Option<Gate>,
}

/// What pages wait behind until a test opens it; closed at first.
#[derive(Clone, Default)]
pub struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    pub fn set(&self, open: bool) {
        *self.0.0.lock().unwrap() = open;
        self.0.1.notify_all();
    }

    fn pass(&self) {
        let mut open = self.0.0.lock().unwrap();
        while !*open {
            open = self.0.1.wait(open).unwrap();
        }
    }
}

impl Page {
    pub fn html(body: &str) -> Self {
        let headers = "Content-Type: text/html; charset=utf-8\r\n".to_owned();
        Self { status: 200, headers, body: body.into(), after: Duration::ZERO, behind: None }
    }

    pub fn script(body: &str) -> Self {
        Self { headers: "Content-Type: text/javascript\r\n".to_owned(), ..Self::html(body) }
    }

    pub fn redirect(to: &str) -> Self {
        Self { status: 302, headers: format!("Location: {to}\r\n"), ..Self::html("") }
    }

    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    pub fn header(mut self, line: &str) -> Self {
        self.headers.push_str(&format!("{line}\r\n"));
        self
    }

    /// Sent only once the gate is open.
    pub fn behind(mut self, gate: &Gate) -> Self {
        self.behind = Some(gate.clone());
        self
    }

    /// Sent only after a while.
    pub fn after(mut self, time: Duration) -> Self {
        self.after = time;
        self
    }
}

/// A server of pages; its thread ends with the program.
pub struct Site {
    pub port: u16,
    pages: Arc<Mutex<HashMap<String, Page>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    pub fn new(pages: &[(&str, Page)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let pages: HashMap<_, _> =
            pages.iter().map(|(path, page)| ((*path).to_owned(), page.clone())).collect();
        let site = Self { port, pages: Arc::new(Mutex::new(pages)), asked: Arc::default() };
        let (pages, asked) = (Arc::clone(&site.pages), Arc::clone(&site.asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (pages, asked) = (Arc::clone(&pages), Arc::clone(&asked));
                std::thread::spawn(move || answer(stream, &pages, &asked));
            }
        });
        site
    }

    /// Adds a page, which may name the site's own port.
    pub fn add(&self, path: &str, page: Page) {
        self.pages.lock().unwrap().insert(path.to_owned(), page);
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Method and path of every request so far.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    /// Whether it was asked for that path.
    pub fn was_asked(&self, path: &str) -> bool {
        self.asked().iter().any(|line| line.split(' ').nth(1) == Some(path))
    }
}

/// A site of one page.
pub fn home() -> Site {
    Site::new(&[("/", Page::html("<title>Home</title>"))])
}

fn answer(stream: TcpStream, pages: &Mutex<HashMap<String, Page>>, asked: &Mutex<Vec<String>>) {
    let mut stream = BufReader::new(stream);
    loop {
        let (mut first, mut length, mut line) = (String::new(), 0, String::new());
        if stream.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        while stream.read_line(&mut line).unwrap_or(0) > 2 {
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            line.clear();
        }
        let _ = stream.by_ref().take(length).read_to_end(&mut Vec::new());
        let mut words = first.split_whitespace();
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        asked.lock().unwrap().push(format!("{method} {target}"));
        let path = target.split('?').next().unwrap_or_default();
        let page = pages.lock().unwrap().get(path).cloned();
        let page = page.unwrap_or_else(|| Page::html("<title>Nothing</title>").status(404));
        std::thread::sleep(page.after);
        if let Some(gate) = &page.behind {
            gate.pass();
        }
        let head = format!(
            "HTTP/1.1 {} X\r\n{}Content-Length: {}\r\n\r\n",
            page.status,
            page.headers,
            page.body.len()
        );
        if stream.get_mut().write_all(&[head.as_bytes(), &page.body].concat()).is_err() {
            return;
        }
    }
}

/// A port that counts who comes, and answers nobody.
pub struct Sink {
    pub port: u16,
    came: Arc<Mutex<usize>>,
}

impl Sink {
    /// Of both TCP and UDP.
    pub fn new() -> Self {
        let (tcp, udp) = loop {
            let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
            if let Ok(udp) = UdpSocket::bind(tcp.local_addr().unwrap()) {
                break (tcp, udp);
            }
        };
        let (port, came) = (tcp.local_addr().unwrap().port(), Arc::<Mutex<usize>>::default());
        let (by_tcp, by_udp) = (Arc::clone(&came), Arc::clone(&came));
        std::thread::spawn(move || {
            for stream in tcp.incoming() {
                // Counted first: whoever came learns of it by the end of the connection.
                *by_tcp.lock().unwrap() += 1;
                drop(stream);
            }
        });
        std::thread::spawn(move || {
            while udp.recv(&mut [0; 2048]).is_ok() {
                *by_udp.lock().unwrap() += 1;
            }
        });
        Self { port, came }
    }

    /// Connections and packets so far.
    pub fn came(&self) -> usize {
        *self.came.lock().unwrap()
    }
}

/// Pages over TLS, with a certificate that nobody vouches for.
pub struct Encrypted {
    pub port: u16,
    child: std::process::Child,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Encrypted {
    pub fn new(folder: &std::path::Path) -> Self {
        let certificate = folder.join("certificate.pem");
        let made = std::process::Command::new("openssl")
            .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
            .arg("-keyout")
            .arg(&certificate)
            .arg("-out")
            .arg(folder.join("public.pem"))
            .stderr(std::process::Stdio::null())
            .status();
        assert!(made.unwrap().success());
        let public = std::fs::read_to_string(folder.join("public.pem")).unwrap();
        let whole = std::fs::read_to_string(&certificate).unwrap() + &public;
        std::fs::write(&certificate, whole).unwrap();
        let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/browser/encrypted.py");
        let mut child = std::process::Command::new("python3")
            .arg("-B")
            .arg(script)
            .arg(&certificate)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.next().unwrap().unwrap().parse().unwrap();
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let heard = Arc::clone(&asked);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                heard.lock().unwrap().push(line);
            }
        });
        Self { port, child, asked }
    }

    /// The path of every request so far.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Encrypted {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
