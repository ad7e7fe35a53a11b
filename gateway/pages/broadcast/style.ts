import { stylesheet } from '#lib/html/stylesheet.ts';
import { wideStyle } from '../../html/wide-style.ts';

/** Plots take their colours from here, so that one drawing serves light and dark screens. */
export const style = stylesheet(
  wideStyle,
  `
main { max-width: 56rem; }
h1, td, p { overflow-wrap: anywhere; }
@media (min-width: 40.01rem) { th, td:not(:first-child) { white-space: nowrap; } }
header p { margin: 0 0 .5rem; }
.state { border: 1px solid var(--edge); border-radius: 1rem; display: inline-block; font-weight: 600; padding: .125rem .75rem; }
.quiet, footer { color: var(--quiet); }
.verdict { border-left: 4px solid var(--accent); margin: .75rem 0; padding: .25rem 1rem; }
section { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; margin: 1rem 0; padding: 1rem; }
section h2 { margin: 0 0 .5rem; }
section table { border: 0; }
section tr:first-child td { border-top: 0; }
dl { display: grid; gap: .75rem; grid-template-columns: repeat(auto-fit, minmax(6rem, 1fr)); margin: 1rem 0 0; }
dt { color: var(--quiet); font-size: .875rem; }
dd { font-size: 1.375rem; font-variant-numeric: tabular-nums; font-weight: 600; margin: 0; }
dd.share { color: var(--quiet); font-size: .875rem; font-weight: 400; }
td { font-variant-numeric: tabular-nums; }
.key { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; margin: 0 0 .5rem; padding: 0; }
.key span { display: inline-block; height: .25rem; margin-right: .5rem; vertical-align: middle; width: 1.25rem; }
.key .sent { background: var(--accent); } .key .opened { background: var(--good); }
.key .failed { background: var(--bad); } .key .skipped { background: var(--warn); }
summary { cursor: pointer; padding: .5rem 0; }
.plot { display: block; font: 13px system-ui, sans-serif; height: auto; width: 100%; }
.plot text { fill: var(--quiet); } .plot .label { fill: CanvasText; font-weight: 600; }
.end { text-anchor: end; } .middle { text-anchor: middle; }
.grid { stroke: var(--line); }
.line { fill: none; stroke-linejoin: round; stroke-width: 2.5; } .under { opacity: .12; }
.line.sent { stroke: var(--accent); } .line.opened { stroke: var(--good); }
.line.failed { stroke: var(--bad); } .line.skipped { stroke: var(--warn); }
.under.sent, rect.sent, .dot { fill: var(--accent); } .under.opened { fill: var(--good); }
.under.failed { fill: var(--bad); } .under.skipped { fill: var(--warn); }
rect.failed { fill: var(--bad); } rect.skipped { fill: var(--warn); } .track { fill: var(--track); }
.whisker { stroke: var(--accent); stroke-width: 2; }
.bar { border-radius: .25rem; display: block; height: .5rem; margin-top: .25rem; width: 100%; } .bar.whole { height: 1rem; }
.narrow { display: none; }
@media (max-width: 40rem) {
  .wide { display: none; } .narrow { display: block; }
  td[data-head]::before { color: var(--quiet); content: attr(data-head) ": "; }
}
`,
);
