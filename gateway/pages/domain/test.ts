import {
  type DomainTest,
  type DomainTestResult,
  DomainTestState,
  type GetNewestDomainTestResponse,
} from '#gen/postrider/messages/v1/domain_tests_pb.ts';
import { type Html, html } from '#lib/html/template.ts';
import { timeOf } from '../../html/times.ts';
import { badge } from './badge.ts';
import type { StateWords } from './words.ts';

const stateWords: Partial<Record<DomainTestState, StateWords>> = {
  [DomainTestState.PENDING]: { text: 'On its way', tone: 'quiet' },
  [DomainTestState.ARRIVED]: { text: 'Arrived', tone: 'good' },
  [DomainTestState.EXPIRED]: { text: 'Not arrived', tone: 'bad' },
  [DomainTestState.FAILED]: { text: 'Failed', tone: 'bad' },
};
const explanations: Partial<Record<DomainTestState, string>> = {
  [DomainTestState.PENDING]: 'Load this page again in a few seconds.',
  [DomainTestState.EXPIRED]: 'The mail has not arrived within an hour.',
};

/** SpamAssassin takes a mail for spam from here on. */
const spamScoreMax = 5;

type Row = { what: string; about: string; verdict: StateWords };

/** The newest test mail of a domain; nothing where the installation takes none. */
export function testOf(given: GetNewestDomainTestResponse | undefined): Html {
  if (!given?.isOffered) return html``;
  const { test } = given;
  return html`<section><h2>Test mail</h2>
<p>A mail from this domain to this installation shows what a receiver finds in it.</p>
${test ? resultOf(test) : ''}<form method="post"><button type="submit" name="action" value="test">Send a test mail</button></form></section>
`;
}

function resultOf({ state, sender, createdAt, error, result }: DomainTest): Html {
  const words = stateWords[state] ?? { text: 'Unknown', tone: 'quiet' };
  const explanation = error ?? result?.problem ?? explanations[state];
  return html`<p>${badge(words)}</p>
<p class="quiet">From ${sender}, ${createdAt ? timeOf(createdAt) : ''}.</p>
${explanation ? html`<p class="notice">${explanation}</p>` : ''}${result ? tableOf(rowsOf(result)) : ''}`;
}

function tableOf(rows: readonly Row[]): Html {
  return html`<table><thead><tr><th>What</th><th>Found</th><th>Verdict</th></tr></thead>
<tbody>${rows.map(
    ({ what, about, verdict }) =>
      html`<tr><td data-head="What">${what}</td><td data-head="Found">${about}</td><td data-head="Verdict">${badge(verdict)}</td></tr>
`,
  )}</tbody></table>
`;
}

function rowsOf(result: DomainTestResult): Row[] {
  const { spf, dkim, dmarc, oneClick, sizeBytes, isEncrypted, spamScore } = result;
  const isCovered = oneClick?.isRight && oneClick.isSigned;
  return [
    { what: 'SPF', about: spf?.domain ?? '', verdict: verdictOf(spf?.result) },
    ...(dkim.length === 0
      ? [{ what: 'DKIM', about: 'not signed', verdict: verdictOf('none') }]
      : []),
    ...dkim.map(({ domain, selector, algorithm, reason, result: verdict }) => ({
      what: 'DKIM',
      about: [`${selector} of ${domain}, ${algorithm}`, reason].filter(Boolean).join(': '),
      verdict: verdictOf(verdict),
    })),
    { what: 'DMARC', about: alignmentOf(dmarc), verdict: verdictOf(dmarc?.result) },
    {
      what: 'One-click unsubscribing',
      about: oneClick?.isRight ? '' : 'The headers are missing or wrong.',
      verdict: isCovered
        ? { text: 'Signed', tone: 'good' }
        : { text: oneClick?.isRight ? 'Not signed' : 'Wrong', tone: 'bad' },
    },
    {
      what: 'TLS',
      about: 'of the last hop',
      verdict: isEncrypted ? { text: 'Yes', tone: 'good' } : { text: 'No', tone: 'warn' },
    },
    { what: 'Size', about: `${sizeBytes} bytes`, verdict: { text: 'Measured', tone: 'quiet' } },
    ...(spamScore === undefined ? [] : [spamRow(spamScore)]),
  ];
}

function spamRow(score: number): Row {
  const tone = score < spamScoreMax ? 'good' : 'bad';
  return { what: 'SpamAssassin', about: '', verdict: { text: `${score}`, tone } };
}

function alignmentOf(dmarc: DomainTestResult['dmarc']): string {
  const aligned = [dmarc?.isSpfAligned ? 'SPF' : '', dmarc?.isDkimAligned ? 'DKIM' : ''];
  const by = aligned.filter((each) => each !== '').join(' and ');
  const policy = dmarc?.policy ? `policy ${dmarc.policy}` : 'no policy';
  return `${policy}, ${by === '' ? 'not aligned' : `aligned by ${by}`}`;
}

/** Words of RFC 8601. */
function verdictOf(result = 'none'): StateWords {
  const tones = { pass: 'good', none: 'warn', neutral: 'warn', temperror: 'warn' } as const;
  const tone = Object.entries(tones).find(([known]) => known === result)?.[1] ?? 'bad';
  return { text: result, tone };
}
