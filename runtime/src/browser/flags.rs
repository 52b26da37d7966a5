//! The command line of the browser.

use std::path::Path;

/// Flags of every start: no window, no port, no traffic of the browser's own, nothing but what passes the proxy.
const ALWAYS: [&str; 45] = [
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-startup-window",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    "--hide-scrollbars",
    "--mute-audio",
    "--force-color-profile=srgb",
    "--password-store=basic",
    "--use-mock-keychain",
    // A container's /dev/shm is 64 MB: shared memory goes to files instead.
    "--disable-dev-shm-usage",
    // Pages of several identities run beside each other, and none is in front.
    "--disable-backgrounding-occluded-windows",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-ipc-flooding-protection",
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    "--disable-auto-reload",
    // The browser's own business with its vendor.
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-infobars",
    "--disable-notifications",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-pings",
    "--no-service-autorun",
    "--allow-pre-commit-input",
    "--export-tagged-pdf",
    // A picture waits for one frame rather than two.
    "--enable-features=CDPScreenshotNewSurface",
    // The network is the proxy of each identity. What belongs to none goes nowhere.
    "--disable-quic",
    "--proxy-server=127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    // Reports and FedCm among them: what they send does not stop where a page's requests are watched.
    "--disable-features=AutofillServerCommunication,AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,\
     DialMediaRouteProvider,DocumentReporting,FedCm,GlobalMediaControls,HttpsUpgrades,ImprovedCookieControls,LensOverlay,\
     MediaRouter,NetworkErrorLogging,NetworkTimeServiceQuerying,OptimizationHints,PaintHolding,Reporting,Translate",
];

/// The arguments, the browser's own name first.
pub(super) fn arguments(name: &str, profile: &Path, sandboxed: bool) -> Vec<String> {
    let mut all = vec![name.to_owned()];
    all.extend(ALWAYS.map(str::to_owned));
    if !sandboxed {
        all.push("--no-sandbox".to_owned());
    }
    all.push(format!("--user-data-dir={}", profile.display()));
    all
}
