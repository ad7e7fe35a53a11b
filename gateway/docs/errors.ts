import { codeToString } from '@connectrpc/connect/protocol-connect';
import { reasons } from '#lib/errors/reasons.ts';
import { html } from '#lib/html/template.ts';
import { codeNamed, errorCodes } from '../api/errors.ts';
import { type DocsPage, docsPage, quoted, type Table, table } from './page.ts';

/** The meaning of each code and the remedy, in plain words. */
const meanings: Record<string, readonly [meaning: string, action: string]> = {
  invalid_argument: [
    'A field is wrong; `details` names each with the reason. Malformed JSON is named with line and column.',
    'Change the request. A repeat gets the same answer.',
  ],
  failed_precondition: [
    'The request is well-formed, but not possible in the present state, such as pausing a draft.',
    'Read the text; change the state first.',
  ],
  unauthenticated: [
    'There is no token, or it is wrong or expired.',
    'Sign in again, or use another key.',
  ],
  permission_denied: [
    'The token lacks a permission, which the text names; or the workspace is not yours, or does not exist.',
    'Ask an owner of the workspace.',
  ],
  not_found: ['There is no such thing, or no such path.', 'Check the id and the path.'],
  method_not_allowed: [
    'The path takes another method; `Allow` names it.',
    'Use GET to read, POST to change.',
  ],
  request_timeout: ['The request took too long to arrive.', 'Send it again.'],
  already_exists: ['The id is taken.', 'Use another id, or change what is there.'],
  aborted: [
    'Something else changed the same thing at the same time, or the key was used for another request.',
    'Read it again, then repeat.',
  ],
  payload_too_large: ['The body is larger than the operation takes.', 'Send less at once.'],
  unsupported_media_type: [
    'The body is not JSON in UTF-8, or is compressed.',
    'Set `Content-Type: application/json`.',
  ],
  resource_exhausted: [
    'A limit is reached for now.',
    'Wait as long as `Retry-After` says, then repeat.',
  ],
  internal: [
    'A fault of ours. The cause is in the log, under the `request_id`.',
    'Repeat later; tell the operator the `request_id`.',
  ],
  unavailable: [
    'A part is starting, stopping, or busy.',
    'Wait as long as `Retry-After` says, then repeat.',
  ],
  deadline_exceeded: [
    'It took too long. It may still have happened.',
    'Repeat it, with an `Idempotency-Key` where the operation takes one.',
  ],
};

/** Every code, with its status. */
export function codesTable(): Table {
  const rows = errorCodes().map(({ status, name }) => {
    const [meaning, action] = meanings[name] ?? ['', ''];
    return [quoted(String(status)), quoted(name), meaning, action];
  });
  return { heads: ['Status', 'Code', 'What it means', 'What to do'], rows };
}

export function reasonsTable(): Table {
  const rows = Object.entries(reasons).map(([reason, [status, action]]) => {
    const [, name] = codeNamed(codeToString(status));
    return [quoted(reason), quoted(name), action];
  });
  return { heads: ['Reason', 'Code', 'What to do'], rows };
}

export function errorsPage(): DocsPage {
  return docsPage(
    'Errors',
    html`<p>The body of every error is <code>{"error": "…", "code": "…", "reason": "…", "request_id": "…", "details": [{"field": "…", "description": "…"}]}</code>.
<code>code</code> and <code>reason</code> are stable and for programs, <code>error</code> is for people, and <code>details</code> is there where fields are at fault.</p>
${table(codesTable())}
<p><code>reason</code> says more exactly why. What the gateway refuses by itself, such as a body that is too large, has none.</p>
${table(reasonsTable())}
<p>gRPC answers the same codes by its own names, such as <code>INVALID_ARGUMENT</code>, with <code>google.rpc</code> details: <code>BadRequest</code> for
fields, <code>RetryInfo</code> for when to repeat, <code>RequestInfo</code>, and <code>ErrorInfo</code> with the reason.</p>`,
  );
}
