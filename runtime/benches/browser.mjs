// The browser group beside Playwright: first navigation, warm navigation and screenshot, in one run, round by round.
//
// Both drive the same Chromium against the same page on loopback. Ours is asked over HTTP by this very process, so its
// figures hold a request and an answer more than Playwright's; its traffic passes the egress proxy, Playwright's does not.
//
//   npm install playwright-core          (anywhere; run from there)
//   node …/runtime/benches/browser.mjs …/target/release/agent-sandbox-server [rounds] [calls a round]
import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { chromium } = createRequire(join(process.cwd(), 'x.js'))('playwright-core');
const [binary, rounds = 7, calls = 20] = process.argv.slice(2);
const executablePath = process.env.ABX_BROWSER || '/usr/bin/chromium';

const page = '<!DOCTYPE html><title>Bench</title><style>p { color: #246 }</style><link rel=icon href="data:,">'
  + '<img src=/i.svg>' + '<p>Some text to be drawn.</p>'.repeat(40) + '<script src=/s.js></script>';
const site = http.createServer((request, response) => {
  const [type, body] = {
    '/i.svg': ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><circle r="20"/></svg>'],
    '/s.js': ['text/javascript', 'document.title = "Bench " + document.querySelectorAll("p").length'],
  }[request.url] || ['text/html', page];
  response.writeHead(200, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
});
await new Promise((done) => site.listen(0, '127.0.0.1', done));
const url = `http://127.0.0.1:${site.address().port}/`;

const timed = async (what) => {
  const begun = performance.now();
  await what();
  return performance.now() - begun;
};

const agent = new http.Agent({ keepAlive: true });
const ask = (port, path, body) => new Promise((done, failed) => {
  const text = JSON.stringify(body);
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };
  const request = http.request({ port, host: '127.0.0.1', path, method: 'POST', agent, headers }, (answer) => {
    const pieces = [];
    answer.on('data', (piece) => pieces.push(piece));
    answer.on('end', () => {
      const whole = Buffer.concat(pieces).toString();
      if (answer.statusCode === 200) done(JSON.parse(whole));
      else failed(new Error(`${path}: ${answer.statusCode} ${whole}`));
    });
  });
  request.on('error', failed);
  request.end(text);
});

async function ours(found) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  writeFileSync(join(folder, 'policy.yaml'), 'groups: {browser: true}\n');
  const server = spawn(binary, ['serve', '--host', '127.0.0.1', '--port', '0', '--pty-port', '0', '--base-dir', folder,
    '--policy', join(folder, 'policy.yaml')], { stdio: ['ignore', 'ignore', 'pipe'] });
  const port = await new Promise((done) => server.stderr.on('data', (text) => {
    const at = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(text);
    if (at) done(Number(at[1]));
  }));
  const go = () => ask(port, '/browser/navigate', { url });
  const shoot = async () => Buffer.from((await ask(port, '/browser/screenshot', {})).image_base64, 'base64');
  found.first.push(await timed(go));
  for (let call = 0; call < calls; call++) found.warm.push(await timed(go));
  for (let call = 0; call < calls; call++) found.shot.push(await timed(shoot));
  server.kill('SIGTERM');
  await new Promise((done) => server.on('exit', done));
}

async function playwright(found) {
  let browser, tab;
  found.first.push(await timed(async () => {
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--headless=new'] });
    tab = await browser.newPage();
    await tab.goto(url);
    await tab.title();
  }));
  const go = async () => { await tab.goto(url); await tab.title(); };
  for (let call = 0; call < calls; call++) found.warm.push(await timed(go));
  for (let call = 0; call < calls; call++) found.shot.push(await timed(() => tab.screenshot()));
  await browser.close();
}

const empty = () => ({ first: [], warm: [], shot: [] });
const found = { ours: empty(), playwright: empty() };
for (let round = 0; round < rounds; round++) {
  // Each goes first every second time.
  const pair = [() => ours(found.ours), () => playwright(found.playwright)];
  for (const one of round % 2 ? pair.reverse() : pair) await one();
}
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const shown = (list) => `${median(list).toFixed(1)} (${Math.min(...list).toFixed(1)}-${Math.max(...list).toFixed(1)})`;
for (const what of ['first', 'warm', 'shot']) {
  const ratio = median(found.ours[what]) / median(found.playwright[what]);
  console.log(`${what}: ours ${shown(found.ours[what])} ms, Playwright ${shown(found.playwright[what])} ms, ratio ${ratio.toFixed(2)}`);
}
site.close();
agent.destroy();
process.exit(0);
