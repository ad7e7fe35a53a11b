import { style as shared } from '../docs/style.ts';

/** Plots take their colours from here, so that one drawing serves light and dark screens. */
export const style = `${shared}
:root { --sent: #1a56db; --opened: #047857; --failed: #b42318; --skipped: #8a6100; --track: #e4e7eb; }
@media (prefers-color-scheme: dark) {
  :root { --sent: #8ab4ff; --opened: #34d399; --failed: #f97066; --skipped: #e0b64a; --track: #303841; }
}
main { max-width: 56rem; }
h1, td, p { overflow-wrap: anywhere; }
@media (min-width: 40.01rem) { th, td:not(:first-child) { white-space: nowrap; } }
header p { margin: 0 0 .5rem; }
.state { border: 1px solid var(--edge); border-radius: 1rem; display: inline-block; font-weight: 600; padding: .125rem .75rem; }
.quiet, footer { color: var(--quiet); }
.verdict { border-left: 4px solid var(--sent); margin: .75rem 0; padding: .25rem 1rem; }
section { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; margin: 1rem 0; padding: 1rem; }
section h2 { margin: 0 0 .5rem; }
section table { border: 0; }
section tr:first-child td { border-top: 0; }
dl { display: grid; gap: .75rem; grid-template-columns: repeat(auto-fit, minmax(6rem, 1fr)); margin: 1rem 0 0; }
dt { color: var(--quiet); font-size: .875rem; }
dd { font-size: 1.375rem; font-variant-numeric: tabular-nums; font-weight: 600; margin: 0; }
td { font-variant-numeric: tabular-nums; }
.key { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; margin: 0 0 .5rem; padding: 0; }
.key span { display: inline-block; height: .25rem; margin-right: .5rem; vertical-align: middle; width: 1.25rem; }
.key .sent { background: var(--sent); } .key .opened { background: var(--opened); }
.key .failed { background: var(--failed); } .key .skipped { background: var(--skipped); }
summary { cursor: pointer; padding: .5rem 0; }
.plot { display: block; font: 13px system-ui, sans-serif; height: auto; width: 100%; }
.plot text { fill: var(--quiet); } .plot .label { fill: CanvasText; font-weight: 600; }
.end { text-anchor: end; } .middle { text-anchor: middle; }
.grid { stroke: var(--line); }
.line { fill: none; stroke-linejoin: round; stroke-width: 2.5; } .under { opacity: .12; }
.line.sent { stroke: var(--sent); } .line.opened { stroke: var(--opened); }
.under.sent, rect.sent, .dot { fill: var(--sent); } .under.opened { fill: var(--opened); }
rect.failed { fill: var(--failed); } rect.skipped { fill: var(--skipped); } .track { fill: var(--track); }
.whisker { stroke: var(--sent); stroke-width: 2; }
.bar { border-radius: .25rem; display: block; height: .5rem; margin-top: .25rem; width: 100%; } .bar.whole { height: 1rem; }
.narrow { display: none; }
@media (max-width: 40rem) {
  .wide { display: none; } .narrow { display: block; }
  td[data-head]::before { color: var(--quiet); content: attr(data-head) ": "; }
}
`;
