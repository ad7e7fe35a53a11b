import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contentSecurityPolicy } from '#lib/html/content-security-policy.ts';
import { htmlDocument, noIcon } from '#lib/html/document.ts';
import { stylesheet } from '#lib/html/stylesheet.ts';
import { html } from '#lib/html/template.ts';
import { wideStyle } from '../html/wide-style.ts';
import { staticFile } from '../static/file.ts';
import { type DocsPage, docsLinks } from './page.ts';

const categories = ['marketing', 'transactional', 'welcome', 'opt_in', 'other'];

const exampleMjml = `<mjml>
  <mj-body background-color="#f4f5f7">
    <mj-section background-color="#ffffff">
      <mj-column>
        <mj-text font-size="24px">Hello {{ contact.first_name | default: "friend" }}</mj-text>
        {% if order.total > 20 %}<mj-text>Thank you for your large order.</mj-text>{% endif %}
        <mj-button href="https://example.com/orders/{{ order.id }}">Your order</mj-button>
        <mj-text font-size="12px"><a href="{{ unsubscribe_url }}">Unsubscribe</a></mj-text>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>`;

const style = stylesheet(
  wideStyle,
  `
.panes { display: grid; gap: 1.5rem; grid-template-columns: minmax(0, 1fr); }
@media (min-width: 70rem) { .panes { grid-template-columns: 26rem minmax(0, 1fr); } }
input, select { font: inherit; min-height: 2.5rem; }
label { display: block; font-weight: 600; margin: 0 0 .75rem; }
label.check { font-weight: 400; }
input:not([type=checkbox]), select, textarea { background: var(--card); border: 1px solid var(--edge); border-radius: .375rem; color: inherit;
  display: block; font-weight: 400; margin-top: .25rem; padding: .5rem; width: 100%; }
input[type=checkbox] { min-height: 0; margin-right: .5rem; }
textarea { resize: vertical; }
.pair { display: grid; gap: 0 .75rem; grid-template-columns: 1fr 1fr; }
button { background: var(--action); border: 2px solid var(--action); border-radius: .375rem; color: var(--on-action); cursor: pointer; font: inherit; font-weight: 600;
  min-height: 2.75rem; padding: .25rem 1rem; }
button[aria-pressed=false] { background: transparent; border-color: var(--edge); color: inherit; }
.screen { background: var(--card); border: 1px solid var(--line); height: 44rem; margin: .75rem 0; overflow: hidden; }
iframe { background: var(--paper); border: 0; display: block; transform-origin: 0 0; }
pre { background: var(--card); border: 1px solid var(--line); margin: 0; max-height: 30rem; overflow: auto; padding: .75rem; white-space: pre-wrap; overflow-wrap: anywhere; }
ul { margin: 0; padding-left: 1.25rem; overflow-wrap: anywhere; }
#status { font-weight: 600; margin: .75rem 0; min-height: 1.5rem; }
#status.bad { color: var(--bad); }
`,
);

const script = staticFile(
  'preview.js',
  readFileSync(join(import.meta.dirname, 'preview.js'), 'utf8'),
);

export const previewFiles = [script];

const body = html`<main>
${docsLinks}
<h1>Preview a mail</h1>
<p>Shows what <code>templates.compile</code> answers. The API key stays in this page and is forgotten when you leave it.</p>
<noscript><p>This page needs JavaScript.</p></noscript>
<div class="panes">
<form id="form" autocomplete="off">
<div class="pair">
<label>Workspace id<input name="workspace_id" required maxlength="64" spellcheck="false"></label>
<label>API key or token<input name="token" type="password" required autocomplete="off"></label>
</div>
<label>MJML with Liquid<textarea name="mjml_source" rows="16" required spellcheck="false">${exampleMjml}</textarea></label>
<label>Subject<input name="subject" maxlength="255" value="Your order {{ order.id }}"></label>
<label>Preview line<input name="subject_preview" maxlength="255"></label>
<label>Test data (JSON)<textarea name="test_data" rows="4" spellcheck="false">{ "order": { "id": 7, "total": 24 } }</textarea></label>
<label>Contact (JSON)<textarea name="contact" rows="3" spellcheck="false">{ "first_name": "Ann" }</textarea></label>
<div class="pair">
<label>Language<input name="language" maxlength="35" spellcheck="false"></label>
<label>Category<select name="category">${categories.map((name) => html`<option>${name}</option>`)}</select></label>
</div>
<label class="check"><input name="enable_tracking" type="checkbox" checked>Tracked links</label>
<button>Show the mail</button>
<p id="status" role="status"></p>
</form>
<section id="result" hidden aria-label="The mail">
<h2 id="subject"></h2>
<p id="facts"></p>
<div role="group" aria-label="Width">
<button type="button" data-width="390" aria-pressed="true">390 px</button>
<button type="button" data-width="1280" aria-pressed="false">1280 px</button>
</div>
<div class="screen"><iframe id="mail" title="The mail" sandbox width="390"></iframe></div>
<h2>Warnings</h2><div id="warnings"></div>
<h2>Links</h2><div id="links"></div>
<h2>Text part</h2><pre id="text"></pre>
</section>
</div>
</main>
<script src="${script.path}"></script>`;

/**
 * A page that shows what `templates.compile` answers. The mail stands in a frame that may do
 * nothing. It has the policy of the page: its own styles and pictures are allowed, scripts are
 * those of this origin, and the frame's sandbox runs none.
 */
export const previewPage: DocsPage = {
  text: htmlDocument({ title: 'Preview a mail', style, head: noIcon, body }),
  policy: contentSecurityPolicy({
    scripts: "'self'",
    style: "'unsafe-inline'",
    images: ['http:', 'https:', 'data:'],
    requests: "'self'",
  }),
};
