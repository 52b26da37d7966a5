//! Clicking and typing: which element, when, and what follows.

use crate::driver::Driver;
use crate::site::{Page, Site};
use serde_json::{Value, json};

const FORM: &str = r#"<!DOCTYPE html><title>Form</title>
<style>#cover { position: fixed; inset: 0; z-index: 9; display: none }</style>
<button id=go onclick="said.push('go')">Go on</button>
<button id=off disabled onclick="said.push('off')">Off</button>
<button id=hidden style="display:none" onclick="said.push('hidden')">Hidden</button>
<div class=list><span>One</span><span onclick="said.push('two')">Two <b>parts</b></span></div>
<div id=host></div>
<a id=next href="/next">Next page</a>
<button id=far style="position:absolute;top:5000px" onclick="said.push('far')">Far</button>
<form action="/sent"><input id=name name=name value=old oninput="said.push('i')" onkeydown="said.push('d' + event.key)"></form>
<textarea id=area></textarea><div id=free contenteditable>old</div>
<div id=cover></div>
<script>
  const said = [];
  const shadow = host.attachShadow({mode: 'open'});
  shadow.innerHTML = "<button class=inner>In shadow</button>";
  shadow.querySelector('button').onclick = () => said.push('shadow');
</script>"#;

fn start() -> (Driver, Site) {
    let site = Site::new(&[
        ("/", Page::html(FORM)),
        ("/next", Page::html("<title>Next</title>")),
        ("/sent", Page::html("<title>Sent</title>")),
    ]);
    let driver = Driver::start("{}");
    driver.go(&site.url("/"));
    (driver, site)
}

#[test]
fn a_click_reaches_the_element_that_is_meant() {
    let (driver, _site) = start();
    for (selector, wanted) in [
        ("#go", "go"),
        ("button", "go"),
        ("text=go ON", "go"),
        ("\"Go on\"", "go"),
        ("//button[@id='go']", "go"),
        ("text=two", "two"),
        ("text='Two parts'", "two"),
        (".list >> span >> text=parts", "two"),
        ("css=#host >> .inner", "shadow"),
        (".inner", "shadow"),
        ("text=In shadow", "shadow"),
        ("#far", "far"),
    ] {
        let answer = driver.ok("/browser/click", json!({ "selector": selector }));
        assert_eq!(answer, json!({ "clicked": true, "selector": selector }));
        assert_eq!(driver.eval("said.splice(0).join()"), wanted, "{selector}");
    }
}

#[test]
fn a_click_waits_and_says_what_it_waited_for() {
    let (driver, _site) = start();
    let late = |script: &str, selector: &str| {
        driver.eval(&format!("setTimeout(() => {{ {script} }}, 400); 0"));
        driver.ok("/browser/click", json!({ "selector": selector, "timeout": 60000 }));
        driver.eval("said.splice(0).join()")
    };
    assert_eq!(late("hidden.style.display = 'block'", "#hidden"), "hidden");
    assert_eq!(late("off.disabled = false", "#off"), "off");
    driver.eval("cover.style.display = 'block'");
    assert_eq!(late("cover.style.display = 'none'", "#go"), "go");
    driver.eval("globalThis.moving = go.animate([{transform: 'none'}, {transform: 'translate(200px)'}], {duration: 600}); 0");
    driver.ok("/browser/click", json!({ "selector": "#go" }));
    assert_eq!(driver.eval("[moving.playState, said.splice(0).join()]"), json!(["finished", "go"]));
    driver.eval("off.disabled = true; hidden.style.display = 'none'");
    for (selector, prepare, why) in [
        ("#nothing", "0", "no element matches"),
        ("text=no such text", "0", "no element matches"),
        ("#hidden", "0", "the element is not visible"),
        ("#off", "0", "the element is disabled"),
        ("#go", "cover.style.display = 'block'", "<div id=\"cover\"> is in front of the element"),
    ] {
        driver.eval(prepare);
        let answer =
            driver.ask("one", "/browser/click", Some(&json!({ "selector": selector, "timeout": 2000 })));
        let error = format!("Timed out after 2000 ms: {why}");
        assert_eq!(
            answer,
            (408, json!({ "error": error, "type": "TimeoutError", "code": "timeout" })),
            "{selector}"
        );
    }
}

#[test]
fn what_a_click_leads_to_is_there_when_it_is_answered() {
    let (driver, site) = start();
    driver.ok("/browser/click", json!({ "selector": "text=Next page" }));
    assert_eq!(driver.eval("[document.title, location.href]"), json!(["Next", site.url("/next")]));
}

#[test]
fn typing_presses_keys() {
    let (driver, site) = start();
    let typed = |body: Value| {
        let answer = driver.ok("/browser/type", body.clone());
        assert_eq!(answer, json!({ "typed": true, "selector": body["selector"], "text": body["text"] }));
    };
    driver.eval("document.querySelector('#name').setSelectionRange(3, 3)");
    typed(json!({ "selector": "#name", "text": "A!" }));
    assert_eq!(
        driver.eval("[document.querySelector('#name').value, said.splice(0).join()]"),
        json!(["oldA!", "dA,i,d!,i"])
    );
    typed(json!({ "selector": "#name", "text": "é中🙂", "clear": true }));
    assert_eq!(driver.eval("document.querySelector('#name').value"), "é中🙂");
    typed(json!({ "selector": "#area", "text": "a\n\"b\"\\" }));
    assert_eq!(driver.eval("area.value"), "a\n\"b\"\\");
    typed(json!({ "selector": "#free", "text": "new", "clear": true }));
    assert_eq!(driver.eval("free.innerText"), "new");
    let long = "0123456789".repeat(50);
    typed(json!({ "selector": "#area", "text": long, "clear": true }));
    assert_eq!(driver.eval("area.value"), long);
    let begun = std::time::Instant::now();
    typed(json!({ "selector": "#area", "text": "abc", "delay": 150 }));
    assert!(begun.elapsed().as_millis() >= 300);
    typed(json!({ "selector": "#area", "text": "", "clear": true }));
    assert_eq!(driver.eval("area.value"), "");
    typed(json!({ "selector": "#name", "text": "ada\n", "clear": true }));
    assert_eq!(driver.eval("[document.title, location.href]"), json!(["Sent", site.url("/sent?name=ada")]));
}
