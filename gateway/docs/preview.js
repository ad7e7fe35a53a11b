// Everything from the answer is shown as text, except the mail itself, which stands in a frame without any rights.
const byId = (id) => document.getElementById(id);
const form = byId('form');
const frame = byId('mail');

function say(text, isBad) {
  byId('status').textContent = text;
  byId('status').className = isBad ? 'bad' : '';
}

function json(name) {
  const text = form.elements[name].value.trim();
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    form.elements[name].focus();
    throw new Error(`${name} is not JSON: ${error.message}`);
  }
}

function requestBody() {
  const value = (name) => form.elements[name].value;
  return {
    workspace_id: value('workspace_id').trim(),
    message_id: 'preview',
    mjml_source: value('mjml_source'),
    subject: value('subject'),
    subject_preview: value('subject_preview'),
    test_data: json('test_data'),
    contact: json('contact'),
    language: value('language').trim(),
    category: value('category'),
    tracking_settings: { enable_tracking: form.elements.enable_tracking.checked },
  };
}

function list(id, items, none) {
  const children = items.map((item) => {
    const element = document.createElement('li');
    element.textContent = item;
    return element;
  });
  const all = document.createElement(items.length ? 'ul' : 'p');
  if (items.length) all.append(...children);
  else all.textContent = none;
  byId(id).replaceChildren(all);
}

function place({ line, tag }) {
  return line ? `${tag}, line ${line}` : tag;
}

function show(answer) {
  byId('result').hidden = false;
  byId('subject').textContent = answer.subject || 'No subject';
  const kib = (answer.size_bytes / 1024).toFixed(1);
  byId('facts').textContent =
    `${answer.subject_preview ?? ''} · ${kib} KiB of HTML as sent`.replace(/^ · /, '');
  // A link would lead the frame away, also one to `#`: that is a place in this page. The sandbox
  // opens no windows.
  frame.srcdoc = (answer.html ?? '').replace(/<head>/i, '$&<base target="_blank">');
  list(
    'warnings',
    answer.warnings.map((each) => `${each.message} (${place(each)})`),
    'None.',
  );
  list(
    'links',
    answer.links.map(
      ({ url, text, tracked }) => `${text || 'no text'}: ${url}${tracked ? ' (tracked)' : ''}`,
    ),
    'None.',
  );
  byId('text').textContent = answer.text ?? '';
  fit();
}

async function compile() {
  say('Compiling …');
  const response = await fetch('/api/templates.compile', {
    method: 'POST',
    headers: {
      authorization: `Bearer ${form.elements.token.value.trim()}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(requestBody()),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error ?? `status ${response.status}`);
  if (!answer.success) throw new Error(answer.error?.message ?? 'it does not compile');
  show(answer);
  say('');
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  compile().catch((error) => say(error.message, true));
});

/** Shows the mail at the chosen width, made smaller where the page has no room for it. */
function fit() {
  const width = Number(frame.width);
  const { clientWidth, clientHeight } = frame.parentElement;
  const scale = Math.min(1, clientWidth / width);
  frame.style.height = `${clientHeight / scale}px`;
  frame.style.transform = `scale(${scale})`;
  frame.style.marginLeft = `${Math.max(0, (clientWidth - width) / 2)}px`;
}

const buttons = document.querySelectorAll('[data-width]');
for (const button of buttons) {
  button.addEventListener('click', () => {
    frame.width = button.dataset.width;
    for (const other of buttons) other.setAttribute('aria-pressed', String(other === button));
    fit();
  });
}
window.addEventListener('resize', fit);
