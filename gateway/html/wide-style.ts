/** Rules of pages with tables and code, after those of `stylesheet`. */
export const wideStyle = `
body { background: var(--back); font: 1rem/1.5 system-ui, sans-serif; }
main { margin: 0 auto; max-width: 84rem; padding: 1.5rem 1rem 4rem; }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: 0 0 1rem; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; }
p { max-width: 48rem; margin: 0 0 1rem; }
a { color: var(--accent); }
code, pre, textarea { font: .875rem/1.5 ui-monospace, monospace; }
code { overflow-wrap: anywhere; }
table { background: var(--card); border: 1px solid var(--line); border-collapse: collapse; width: 100%; }
th, td { border-top: 1px solid var(--line); padding: .5rem .75rem; text-align: left; vertical-align: top; }
th { color: var(--quiet); font-size: .875rem; }
td:last-child { overflow-wrap: anywhere; }
@media (min-width: 40.01rem) { td:not(:last-child) > code:only-child { white-space: nowrap; } }
@media (max-width: 40rem) {
  thead { display: none; }
  tr { border-top: 1px solid var(--line); display: block; padding: .5rem 0; }
  td { border: 0; display: block; padding: .125rem .75rem; }
}
`;
