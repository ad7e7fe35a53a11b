/** Shared by the pages beside the reference; light and dark. */
export const style = `
:root { color-scheme: light dark; --back: #f4f5f7; --card: #fff; --line: #dfe3e8; --edge: #7b8794; --quiet: #52606d; --focus: #1a56db; }
@media (prefers-color-scheme: dark) {
  :root { --back: #0f1215; --card: #1b2026; --line: #37404a; --quiet: #a9b4c0; --focus: #8ab4ff; }
}
* { box-sizing: border-box; }
body { background: var(--back); font: 1rem/1.5 system-ui, sans-serif; margin: 0; }
main { margin: 0 auto; max-width: 84rem; padding: 1.5rem 1rem 4rem; }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: 0 0 1rem; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; }
p { max-width: 48rem; margin: 0 0 1rem; }
a { color: var(--focus); }
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
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
`;
