import { variables as settings } from '#gen/variables.ts';
import { publicEvents } from '#lib/events/contracts.ts';
import type { Route } from '../../../gateway/api/routes.ts';
import { codesTable, reasonsTable } from '../../../gateway/docs/errors.ts';
import { callbackExample, fieldsTable } from '../../../gateway/docs/events.ts';
import { filters, sample, tags } from '../../../gateway/docs/filters.ts';
import {
  limitsTable,
  quotasTable,
  requestLimits,
  serviceLimits,
} from '../../../gateway/docs/limits.ts';
import { examplesTable, templateVariables } from '../../../gateway/docs/liquid.ts';
import { quoted } from '../../../gateway/docs/page.ts';
import { variablesTable } from '../../../gateway/docs/variables.ts';
import { commentOf } from '../../../gateway/openapi/words.ts';
import { anchorOf } from '../links.ts';
import { markdownTable, type Page } from '../page.ts';

const json = (text: string) => `\`\`\`json\n${text}\n\`\`\``;

/** The pages that show the same tables as `/docs` of a gateway. */
export function tablePages(routes: ReadonlyMap<string, readonly Route[]>): Page[] {
  return [errorsPage(), eventsPage(), limitsPage(routes), templatesPage(), settingsPage()];
}

function errorsPage(): Page {
  return {
    path: 'reference/errors.md',
    text: `# Errors

The body of every error has \`error\`, \`code\`, \`reason\`, \`request_id\` and \`details\`. \`code\` and \`reason\` are stable and for programs,
\`error\` is for people, and \`details\` is there where fields are at fault.

${json('{\n  "error": "…",\n  "code": "…",\n  "reason": "…",\n  "request_id": "…",\n  "details": [{ "field": "…", "description": "…" }]\n}')}

## Codes

${markdownTable(codesTable())}

## Reasons

\`reason\` says more exactly why. What the gateway refuses by itself, such as a body that is too large, has none.

${markdownTable(reasonsTable())}
`,
  };
}

function eventsPage(): Page {
  const list = publicEvents.map(
    ({ type, data }) => `- [${quoted(type)}](#${anchorOf(type)}): ${commentOf(data)}`,
  );
  const sections = publicEvents.map((event) => {
    const { type, since, data } = event;
    return `## ${quoted(type)}

${commentOf(data)} Since ${since}.

${markdownTable(fieldsTable(event))}

${json(callbackExample(event))}`;
  });
  return {
    path: 'reference/events.md',
    text: `# Events

A webhook subscription gets events of its types by POST, each at least once and in no order. [Webhooks](../guides/webhooks.md) has
retries, signatures and limits. Data have all fields that are listed here; fields may be added.

${list.join('\n')}

${sections.join('\n\n')}
`,
  };
}

function limitsPage(routes: ReadonlyMap<string, readonly Route[]>): Page {
  const groups = serviceLimits.map(
    ([heading, limits]) => `## ${heading}\n\n${markdownTable(limitsTable(limits))}`,
  );
  return {
    path: 'reference/limits.md',
    text: `# Limits and quotas

What is beyond a limit is refused with an answer that names it. Limits of single fields, such as the length of a name, are with
their [operations](operations/index.md).

## Requests

An operator sets the rates by [settings](settings.md); these are the defaults. Beyond a rate the answer is 429 with
\`Retry-After\` and \`RateLimit\`.

${markdownTable(requestLimits(routes))}

## Quotas of a workspace

An operator sets others for all workspaces by \`QUOTAS\`, or for one by \`workspaces.setQuotas\`. \`workspaces.usage\` says how much is
used. A refusal is 429 with the reason \`QUOTA_EXCEEDED\`, and says how much there is.

${markdownTable(quotasTable())}

${groups.join('\n\n')}
`,
  };
}

function templatesPage(): Page {
  const groups = filters.map(
    ([topic, some]) => `### ${topic}\n\n${markdownTable(examplesTable('Filter', some))}`,
  );
  return {
    path: 'reference/templates.md',
    text: `# Template variables and Liquid

Subjects, preview lines, MJML and text parts may hold Liquid. Values are escaped in HTML unless the last filter is \`raw\`, and
not in subjects and text. A link that begins with a value leads to web pages, mail, phones and messages only. Liquid runs first,
over all of the MJML; the text part says what the HTML says. What is not defined is empty; \`templates.compile\` warns of it. Times
are in UTC.

## Variables

Transactional mails have every key of \`data\` as well, at the top level; the system's own come before them.

${markdownTable(templateVariables())}

## Tags

${markdownTable(examplesTable('Tag', tags))}

## Filters

${groups.join('\n\n')}

## The data of the examples

${json(JSON.stringify(sample, undefined, 2))}
`,
  };
}

function settingsPage(): Page {
  const groups = settings.map(
    (group) => `## ${group.readBy}\n\n${markdownTable(variablesTable(group))}`,
  );
  return {
    path: 'reference/settings.md',
    text: `# Settings

Processes read their settings from the environment, once, at their start. All that are missing or wrong are named in one
message, and names that nothing reads, such as misspelled ones, in a warning. A secret may also be in a file: the variable with
\`_FILE\` after its name has the path. \`<NAME>\` is a service in capitals, such as \`CONTACTS\`.

${groups.join('\n\n')}
`,
  };
}
