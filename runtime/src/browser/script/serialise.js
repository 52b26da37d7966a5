// The value as JSON text, where it is none already: dates as text, big numbers as digits, elements by name, maps and sets as
// lists; what has no meaning outside the page is left out.
function serialise() {
  const above = [];
  function plain(key, value) {
    const raw = this[key];
    if (typeof raw === 'bigint') return raw.toString();
    if (raw instanceof Node) return 'ref: <' + raw.nodeName + '>';
    if (raw instanceof Map || raw instanceof Set) value = [...raw];
    if (raw instanceof Error) return raw.name + ': ' + raw.message;
    if (raw instanceof RegExp) return String(raw);
    if (ArrayBuffer.isView(raw) && !(raw instanceof DataView)) value = Array.from(raw, Number);
    if (typeof value !== 'object' || value === null) return value;
    while (above.length > 0 && above[above.length - 1].made !== this) above.pop();
    if (above.some((one) => one.raw === raw)) return '[Circular]';
    above.push({ raw, made: value });
    return value;
  }
  const text = JSON.stringify(this, plain);
  return text === undefined ? null : text;
}
