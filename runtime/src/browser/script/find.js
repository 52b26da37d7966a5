// Waits for an element and says where it is. `want`: `click` (visible, still, enabled, and nothing before it), `type`
// (visible, enabled; gets the focus), `look` (visible, still; where it is in the document).
async function find(steps, want, clear, timeout) {
  const until = performance.now() + timeout;
  const frame = () => new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 100); });
  const plain = (text) => (text || '').replace(/\s+/g, ' ').trim();
  const roots = (root, found = [root]) => {
    for (const element of root.querySelectorAll('*')) {
      if (element.shadowRoot) { found.push(element.shadowRoot); roots(element.shadowRoot, found); }
    }
    return found;
  };
  const deep = (start) => {
    const found = [];
    if (start.shadowRoot) found.push(...roots(start.shadowRoot));
    return [...roots(start), ...found];
  };

  function* byText(start, step) {
    const wanted = plain(step.body), folded = wanted.toLowerCase();
    const said = (element) => plain(
      element instanceof HTMLInputElement && ['submit', 'button', 'reset'].includes(element.type)
        ? element.value : element.shadowRoot ? element.shadowRoot.textContent + element.textContent : element.textContent);
    const holds = (element) => !['SCRIPT', 'STYLE', 'NOSCRIPT', 'HEAD'].includes(element.tagName)
      && (step.exact ? said(element).includes(wanted) : said(element).toLowerCase().includes(folded));
    function* visit(element) {
      if (!holds(element)) return false;
      let inner = false;
      for (const child of [...(element.shadowRoot ? element.shadowRoot.children : []), ...element.children]) {
        if (yield* visit(child)) inner = true;
      }
      const fits = !inner && (!step.exact || said(element) === wanted);
      if (fits) yield element;
      return inner || fits;
    }
    for (const child of start.children || []) yield* visit(child);
  }

  function* matches(start, step) {
    if (step.engine === 'text') {
      yield* byText(start, step);
    } else if (step.engine === 'xpath') {
      const path = start === document || !step.body.startsWith('/') ? step.body : '.' + step.body;
      const found = document.evaluate(path, start, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE);
      for (let at = 0; at < found.snapshotLength; at++) {
        if (found.snapshotItem(at) instanceof Element) yield found.snapshotItem(at);
      }
    } else {
      for (const root of deep(start)) yield* root.querySelectorAll(step.body);
    }
  }

  function first(start, at) {
    for (const element of matches(start, steps[at])) {
      const found = at + 1 === steps.length ? element : first(element, at + 1);
      if (found) return found;
    }
    return null;
  }

  const isVisible = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 0 && height > 0 && element.checkVisibility({ visibilityProperty: true });
  };
  const isDisabled = (element) => element.matches(':disabled') || !!element.closest('[aria-disabled="true"]');
  const inView = (box) => box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
  const named = (element) => '<' + element.tagName.toLowerCase() + (element.id ? ' id="' + element.id + '"' : '') + '>';

  const hit = (element, x, y) => {
    let top = document.elementFromPoint(x, y);
    while (top && top.shadowRoot) {
      const inner = top.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === top) break;
      top = inner;
    }
    for (let up = top; up; up = up.parentNode || up.host) {
      if (up === element || (up instanceof HTMLLabelElement && up.control === element)) return null;
    }
    return top;
  };

  const point = (element) => {
    for (const box of element.getClientRects()) {
      const left = Math.max(box.left, 0), right = Math.min(box.right, innerWidth);
      const top = Math.max(box.top, 0), bottom = Math.min(box.bottom, innerHeight);
      if (right - left > 0 && bottom - top > 0) return { x: (left + right) / 2, y: (top + bottom) / 2 };
    }
    return null;
  };

  const ready = async (element) => {
    if (!isVisible(element)) return { why: 'the element is not visible' };
    if (want !== 'look' && isDisabled(element)) return { why: 'the element is disabled' };
    if (want === 'type') {
      element.focus();
      if (clear) {
        if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) element.select();
        else getSelection().selectAllChildren(element);
        document.execCommand('delete');
      }
      return { x: 0, y: 0, width: 0, height: 0 };
    }
    if (!inView(element.getBoundingClientRect())) {
      element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    }
    const before = element.getBoundingClientRect();
    let box = before;
    // Two frames: in its first an animation has not moved anything yet.
    for (let still = 0; still < 2; still++) {
      await frame();
      box = element.getBoundingClientRect();
      if (box.x !== before.x || box.y !== before.y || box.width !== before.width || box.height !== before.height) {
        return { why: 'the element does not hold still' };
      }
    }
    if (want === 'look') return { x: box.x + scrollX, y: box.y + scrollY, width: box.width, height: box.height };
    const at = point(element);
    if (!at) return { why: 'the element is outside the page' };
    const other = hit(element, at.x, at.y);
    if (other) return { why: named(other) + ' is in front of the element' };
    return { x: at.x, y: at.y, width: box.width, height: box.height };
  };

  let why = 'no element matches';
  for (;;) {
    let element;
    try {
      element = first(document, 0);
    } catch (error) {
      return { bad: String(error.message || error) };
    }
    const found = element ? await ready(element) : { why: 'no element matches' };
    if (!found.why) return found;
    why = found.why;
    if (performance.now() >= until) return { why };
    await frame();
  }
}
