//! A router of axum on loopback, for what answers in streams or in bytes; it listens until the test program ends.

use axum::Router;

/// Serves what `router` makes of the port that it listens on; yields the port.
pub fn serve(router: impl FnOnce(u16) -> Router) -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let router = router(port);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            axum::serve(listener, router).await.unwrap();
        });
    });
    port
}
