/** The inspector page's style sheet. Follows the reader's light or dark setting; loads nothing. */
export const inspectorStyle = String.raw`
:root { color-scheme: light dark; --bg: #f6f7f9; --card: #fff; --ink: #1b1f24; --soft: #667080; --line: #dfe3e8;
  --error: #c62f3b; --warning: #b26a00; --info: #2a6fb0; --mark: #fde7c3; --control: #e3ecfb; }
@media (prefers-color-scheme: dark) { :root { --bg: #14171b; --card: #1c2026; --ink: #e4e8ee; --soft: #949eab;
  --line: #2f353d; --error: #ff7b84; --warning: #f0ad4e; --info: #79b8f3; --mark: #57421c; --control: #24385a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--ink); font: 15px/1.45 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: baseline; padding: 1rem 1.5rem;
  background: var(--card); border-bottom: 1px solid var(--line); }
h1 { font-size: 1.15rem; margin: 0; } h2 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
main { max-width: 76rem; margin: 0 auto; padding: 0 1.5rem 3rem; }
a { color: var(--info); } .soft { color: var(--soft); } .right { margin-left: auto; }
main > .bar { margin: 1.2rem 0 .8rem; } .bar h2 { margin: 0; }
.bar { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center; }
select, button { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line);
  border-radius: 6px; padding: .2rem .6rem; }
.finding { background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--soft);
  border-radius: 8px; padding: .7rem 1rem; margin: .6rem 0; }
.finding.error { border-left-color: var(--error); } .finding.warning { border-left-color: var(--warning); }
.finding.info { border-left-color: var(--info); }
.finding p { margin: .3rem 0; } .facts { font-size: .85rem; color: var(--soft); overflow-wrap: anywhere; }
.event { border-bottom: 1px solid var(--line); padding: .35rem 0; font-size: .9rem; }
.event .facts { flex-basis: 100%; }
.kind { font-weight: 600; } .error .level { color: var(--error); } .warning .level { color: var(--warning); }
.info .level { color: var(--info); } .level { font-weight: 600; margin-right: .5rem; }
.window { display: flex; flex-wrap: wrap; gap: 3px; margin: .5rem 0; font: 13px/1.3 ui-monospace, monospace; }
.piece { border: 1px solid var(--line); border-radius: 4px; padding: 1px 5px; text-align: center; white-space: pre; }
.piece .at { display: block; font-size: 10px; color: var(--soft); } .piece.control { background: var(--control); }
.piece.found { background: var(--mark); border-color: var(--warning); } .piece.same { outline: 2px solid var(--info); }
table { border-collapse: collapse; width: 100%; background: var(--card); border: 1px solid var(--line); }
th, td { text-align: left; padding: .35rem .7rem; border-bottom: 1px solid var(--line); font-size: .9rem; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; } .empty { padding: 1rem 0; color: var(--soft); }
`;
