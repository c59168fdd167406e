/** The inspector page: one document, no outside resource, and a policy under which nothing but its own script runs. */
import { createHash } from 'node:crypto';

import { findingKinds, severities } from '../exchange/finding.ts';

import { inspectorScript } from './inspector-script.ts';
import { inspectorStyle } from './inspector-style.ts';

function sourceHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** The page's Content-Security-Policy. */
export const inspectorPolicy = [
  "default-src 'none'",
  `script-src ${sourceHash(inspectorScript)}`,
  `style-src ${sourceHash(inspectorStyle)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

function options(values: readonly string[]): string {
  return values.map((value) => `<option>${value}</option>`).join('');
}

export const inspectorPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tokenweir inspector</title>
<style>${inspectorStyle}</style>
</head>
<body>
<header>
  <h1>Tokenweir <span id="version" class="soft"></span></h1>
  <span id="state" class="soft" role="status">loading</span>
  <nav class="right soft"><a href="/metrics">metrics</a> · <a href="/config">config</a> · <a href="/readyz">readiness</a></nav>
</header>
<main>
  <div class="bar">
    <h2>Findings</h2>
    <label>kind <select id="kind"><option value="">all</option>${options(findingKinds)}</select></label>
    <label>severity <select id="severity"><option value="">all</option>${options(severities)}</select></label>
    <label><input type="checkbox" id="pause"> pause</label>
    <span class="soft">Ordinary tokens are masked unless privacy.showText is on; hover a token to see equal ones.</span>
  </div>
  <p id="no-findings" class="empty">No findings: nothing has been seen yet, or nothing was wrong with it.</p>
  <section id="findings"></section>
  <h2>Engine events</h2>
  <p id="no-events" class="empty" hidden>The engine has not been heard of.</p>
  <section id="events"></section>
  <h2>Sessions</h2>
  <p id="no-sessions" class="empty" hidden>No conversation is remembered.</p>
  <div class="scroll"><table>
    <thead><tr><th>session</th><th>client</th><th>model</th><th class="number">turns</th><th class="number">heads</th>
      <th class="number">tokens</th><th class="number">last turn</th></tr></thead>
    <tbody id="sessions"></tbody>
  </table></div>
</main>
<script>${inspectorScript}</script>
</body>
</html>
`;
