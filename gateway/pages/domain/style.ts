import { stylesheet } from '#lib/html/stylesheet.ts';
import { wideStyle } from '../../html/wide-style.ts';

export const style = stylesheet(
  wideStyle,
  `
main { max-width: 52rem; }
h1, h2, h3, p, dd, summary { overflow-wrap: anywhere; }
.sender { color: var(--quiet); font-weight: 600; margin: 0 0 .25rem; }
.quiet, footer { color: var(--quiet); }
.badge { border: 1px solid currentColor; border-radius: 1rem; display: inline-block; font-size: .875rem; font-weight: 600; padding: 0 .75rem; white-space: nowrap; }
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
.verdict { font-size: 1.125rem; margin: .75rem 0 .25rem; }
.notice { border-left: 4px solid var(--warn); padding: .25rem 1rem; }
form { margin: 1rem 0 1.5rem; }
button { background: var(--action); border: 2px solid var(--action); border-radius: .5rem; color: var(--on-action); cursor: pointer; font: inherit; font-weight: 600; min-height: 3rem; padding: .5rem 1.5rem; }
button:hover { background: var(--action-hover); border-color: var(--action-hover); }
details, section { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; margin: .75rem 0; padding: 0 1rem; }
section { padding: 1rem; }
section h2 { margin: 0 0 .5rem; }
section table { border: 0; }
section thead th { border: 0; }
summary { align-items: center; cursor: pointer; display: flex; flex-wrap: wrap; gap: .25rem .75rem; padding: .875rem 0; }
summary::before { color: var(--quiet); content: '▸'; }
details[open] > summary::before { content: '▾'; }
summary .what { flex: 1; font-weight: 600; min-width: 8rem; }
.marks { white-space: nowrap; }
dl { margin: 0 0 1rem; }
dt { color: var(--quiet); font-size: .875rem; margin-top: .5rem; }
dd { margin: 0; }
.copy { background: var(--back); border: 1px solid var(--line); border-radius: .375rem; display: block; padding: .375rem .625rem; user-select: all; -webkit-user-select: all; }
textarea { background: var(--back); border: 1px solid var(--line); border-radius: .375rem; color: inherit; display: block; padding: .625rem; resize: vertical; white-space: pre; width: 100%; }
@media (max-width: 40rem) { button { width: 100%; } td[data-head]::before { color: var(--quiet); content: attr(data-head) ": "; } }
`,
);
