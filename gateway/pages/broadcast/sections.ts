import { durationMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { GetBroadcastPageResponse } from '#gen/postrider/broadcasts/v1/page_pb.ts';
import type {
  GetBroadcastTimelineResponse,
  ReceiverOutcomes,
} from '#gen/postrider/messages/v1/progress_pb.ts';
import { type Html, html } from '#lib/html/template.ts';
import { dateOf } from '../../html/times.ts';
import { bar, type Line, type Point, ratePlot, timePlot } from './plot.ts';
import { countOf, finePercentOf, percentOf, pointsOf, shorten } from './words.ts';

type Shown = GetBroadcastPageResponse;
type Arms = Shown['arms'];

/** A table whose cells name their column on narrow screens. */
function table(caption: string, heads: readonly string[], rows: readonly Html[][]): Html {
  const body = rows.map(
    (row) =>
      html`<tr>${row.map((cell, at) => html`<td data-head="${heads[at] ?? ''}">${cell}</td>`)}</tr>\n`,
  );
  return html`<table aria-label="${caption}"><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${body}</tbody></table>`;
}

const cell = (text: string): Html => html`${text}`;
const charactersMax = 160;
/** Text of a tenant, whose length and writing direction must not change what stands beside it. */
export const name = (text: string): Html => html`<bdi>${shorten(text, charactersMax)}</bdi>`;

/** Sent and opened, added up over time. */
export function timeSection({ broadcast, timeline }: Shown): Html {
  if (!broadcast?.startedAt) return html``;
  if (!timeline) return section('Over time', unavailable('how many were sent and opened when'));
  if (!timeline.since) return section('Over time', html`<p>Nothing was sent yet.</p>`);
  const sent = linePoints(timeline, timeline.sent);
  const opened = linePoints(timeline, timeline.opened);
  const lines: Line[] = [
    { name: 'Sent', style: 'sent', points: sent },
    { name: 'Opened', style: 'opened', points: opened },
  ];
  const totals = [sent, opened].map((points) => points.at(-1)?.count ?? 0);
  const description = `${countOf(totals[0] ?? 0)} sent and ${countOf(totals[1] ?? 0)} opened, from ${dateOf(sent[0]!.at)} to ${dateOf(sent.at(-1)!.at)}. The table below has the same numbers.`;
  const rows = sent.map(({ at, count }, index) =>
    [dateOf(at), countOf(count), countOf(opened[index]?.count ?? 0)].map(cell),
  );
  return section(
    'Over time',
    html`<ul class="key">${lines.map(({ name, style }) => html`<li><span class="${style}"></span>${name}</li>`)}</ul>
${timePlot({ id: 'time', title: 'Sent and opened over time', description }, lines)}
<details><summary>The numbers as a table</summary>${table('Sent and opened over time', ['Until', 'Sent', 'Opened'], rows)}</details>`,
  );
}

/** Reports of the provider: deliveries, mails that came back, and complaints. */
/** Counts the messages that wait for the rates of receivers, by group. */
export function waitingLine({ timeline }: Shown): Html {
  const waiting = timeline?.waiting ?? [];
  return html`${waiting.map(
    ({ receiver, count }) =>
      html`<p>${countOf(count)} ${count === 1 ? 'waits' : 'wait'} for the rate of ${receiver === 'other' ? 'other receivers' : receiver}.</p>`,
  )}`;
}

export function deliverySection({ timeline }: Shown): Html {
  if (!timeline?.since) return html``;
  const { bounces } = timeline;
  const lines = {
    delivered: linePoints(timeline, timeline.delivered),
    returned: linePoints(timeline, timeline.returned),
    complained: linePoints(timeline, timeline.complained),
  };
  const total = (points: readonly Point[]) => points.at(-1)?.count ?? 0;
  const sent = Math.max(1, total(linePoints(timeline, timeline.sent)));
  const [delivered, returned, complained] = Object.values(lines).map(total);
  if (!delivered && !returned && !complained) return html``;
  const facts: [string, number | undefined][] = [
    ['Delivered', delivered],
    ['Returned', returned],
    ['Complaints', complained],
  ];
  const rows = bounces.map(({ class: kind, count }) => [
    cell(kind),
    cell(classWords.get(kind) ?? 'an unknown reason'),
    cell(countOf(count)),
  ]);
  const classes =
    rows.length > 0 ? table('Returned by class', ['Class', 'Reason', 'Messages'], rows) : html``;
  return section(
    'Delivery',
    html`<dl>${facts.map(([term, count = 0]) => html`<div><dt>${term}</dt><dd>${countOf(count)}</dd><dd class="share">${finePercentOf(count / sent)} of sent</dd></div>`)}</dl>
${complaintWarning((complained ?? 0) / sent)}${returned || complained ? returnedPlot(lines) : ''}${classes}${receiversTable(timeline.receivers)}`,
  );
}

/** A receiver goes by its own readers: one may refuse a sender while all together look well. */
function receiversTable(receivers: readonly ReceiverOutcomes[]): Html {
  if (receivers.length < 2) return html``;
  const rows = receivers.map(({ receiver, sent, returned, complained }) => [
    cell(receiver),
    cell(countOf(sent)),
    cell(finePercentOf(returned / Math.max(1, sent))),
    cell(finePercentOf(complained / Math.max(1, sent))),
  ]);
  return table('By receiver', ['Receiver', 'Sent', 'Returned', 'Complaints'], rows);
}

/** Gmail and Yahoo ask for less than 0.1 % and refuse senders with 0.3 %. */
const complaintShares = { much: 0.001, tooMuch: 0.003 };

function complaintWarning(share: number): Html {
  if (share < complaintShares.much) return html``;
  const words =
    share < complaintShares.tooMuch
      ? 'Mailbox providers ask for less than 0.1% of complaints.'
      : 'Mailbox providers refuse senders with more than 0.3% of complaints.';
  return html`<p class="verdict">${words}</p>`;
}

const classWords = new Map([
  ['hard', 'the address is dead'],
  ['soft', 'the mailbox takes no mail for now'],
  ['expired', 'the server took no mail until the time was over'],
  ['message', 'the content or the size was refused'],
  ['sender', 'the sender was refused'],
]);

function returnedPlot({ returned, complained }: Record<'returned' | 'complained', Point[]>): Html {
  const lines: Line[] = [
    { name: 'Returned', style: 'failed', points: returned },
    { name: 'Complaints', style: 'skipped', points: complained },
  ];
  const title = 'Returned mails and complaints over time';
  const count = (points: readonly Point[]) => countOf(points.at(-1)?.count ?? 0);
  const description = `${count(returned)} returned, ${count(complained)} complaints. The numbers above are the same.`;
  return html`<ul class="key">${lines.map(({ name, style }) => html`<li><span class="${style}"></span>${name}</li>`)}</ul>${timePlot({ id: 'returned', title, description }, lines)}`;
}

/** How many there were at the end of each stretch, from nothing on. */
function linePoints(timeline: GetBroadcastTimelineResponse, counts: readonly number[]): Point[] {
  const startMs = timeline.since ? timestampMs(timeline.since) : 0;
  const stepMs = timeline.step ? durationMs(timeline.step) : 1_000;
  let count = 0;
  const ends = counts.map((each, index) => {
    count += each;
    return { at: new Date(startMs + (index + 1) * stepMs), count };
  });
  return [{ at: new Date(startMs), count: 0 }, ...ends];
}

/** The variations of a test, or the rates of the only content. */
export function armsSection(shown: Shown): Html {
  const { broadcast, arms, comparison } = shown;
  if (!broadcast?.startedAt) return html``;
  const title = comparison ? 'The test' : 'Opens and clicks';
  if (arms.length === 0) return section(title, unavailable('opens and clicks'));
  const whole = arms.map(({ result }) => result);
  const hasKept = arms.some(({ testResult }) => testResult);
  const tables = hasKept
    ? html`${armsTable('The sample', testedOf(arms))}<h3>The whole broadcast</h3>${armsTable('The whole broadcast', whole)}`
    : armsTable('Variations', whole);
  return section(title, html`${verdict(shown)}${armsPlot(shown)}${tables}`);
}

/** The numbers that the test compares: the sample's, as it was when the winner was chosen. */
const testedOf = (arms: Arms) => arms.map(({ result, testResult }) => testResult ?? result);

function armsPlot({ arms, comparison }: Shown): Html {
  const about =
    'The dot is the rate, the line its 95% interval. The table below has the same numbers.';
  if (!comparison) {
    const [arm] = arms;
    const rows = [
      { label: 'Opened', rate: arm?.result?.openRate ?? 0, ...boundsOf(arm?.openRate) },
      { label: 'Clicked', rate: arm?.result?.clickRate ?? 0, ...boundsOf(arm?.clickRate) },
    ];
    return ratePlot({ id: 'rates', title: 'Open rate and click rate', description: about }, rows);
  }
  const isClicks = comparison.metric === 'click_rate';
  const rows = testedOf(arms).map((result) => ({
    label: result?.templateName ?? '',
    rate: (isClicks ? result?.clickRate : result?.openRate) ?? 0,
    ...boundsOf(isClicks ? result?.clickRateInterval : result?.openRateInterval),
  }));
  const title = `${isClicks ? 'Click' : 'Open'} rate of each variation`;
  return html`<p class="quiet">${title}</p>${ratePlot({ id: 'rates', title, description: about }, rows)}`;
}

const boundsOf = (interval: { low: number; high: number } | undefined) => ({
  low: interval?.low ?? 0,
  high: interval?.high ?? 1,
});

function armsTable(caption: string, results: readonly Arms[number]['result'][]): Html {
  const heads = ['Variation', 'Sent', 'Opened', 'Open rate (95%)', 'Clicked', 'Click rate (95%)'];
  const rows = results.map((result) => [
    name(result?.templateName ?? ''),
    cell(countOf(result?.recipients ?? 0)),
    cell(countOf(result?.opens ?? 0)),
    cell(rateText(result?.openRate ?? 0, result?.openRateInterval)),
    cell(countOf(result?.clicks ?? 0)),
    cell(rateText(result?.clickRate ?? 0, result?.clickRateInterval)),
  ]);
  return table(caption, heads, rows);
}

function rateText(rate: number, interval: Arms[number]['openRate']): string {
  const { low, high } = boundsOf(interval);
  return `${percentOf(rate)} (${percentOf(low)} to ${percentOf(high)})`;
}

/** The result of the test, as in `broadcasts.getTestResults`. */
function verdict({ broadcast, arms, comparison, decidedBy }: Shown): Html {
  if (!comparison) return html``;
  const nameOf = (id: string) =>
    name(arms.find(({ result }) => result?.templateId === id)?.result?.templateName ?? id);
  const winner = broadcast?.winningTemplate;
  if (winner) {
    const since = arms.some(({ testResult }) => testResult)
      ? '; the test is shown as it was at that moment'
      : ', so the numbers below no longer compare the variations';
    const reason = deciders.get(decidedBy ?? '') ?? 'chosen';
    return html`<div class="verdict"><p>Winner: <strong>${nameOf(winner)}</strong>, ${reason}. Since then the others of the audience get it${since}.</p></div>`;
  }
  const { best, second, isEnough, difference, low, high } = comparison;
  const metric = comparison.metric === 'click_rate' ? 'click rate' : 'open rate';
  const distance = `${pointsOf(difference)} percentage points of ${metric} (95% interval ${pointsOf(low)} to ${pointsOf(high)})`;
  const told = isEnough
    ? html`<strong>${nameOf(best)}</strong> is better than ${nameOf(second)} by ${distance}.`
    : html`<strong>Not enough to tell.</strong> ${nameOf(best)} is ahead of ${nameOf(second)} by ${distance}, which may be chance: it takes at least 100 messages of each, and an interval above 0.`;
  return html`<div class="verdict"><p>${told}</p></div>`;
}

const deciders = new Map([
  ['person', 'chosen by a person'],
  ['open_rate', 'by its open rate'],
  ['click_rate', 'by its click rate'],
  ['tie', 'the first of several that were equal'],
  ['silence', 'the first one, since nobody opened or clicked'],
]);

/** Links by clicks. Their addresses are text: the page leads nowhere. */
export function linksSection({ broadcast, links }: Shown): Html {
  if (!broadcast?.startedAt) return html``;
  if (!links) return section('Links', unavailable('clicks on links'));
  const most = Math.max(1, ...links.links.map(({ clicks }) => clicks));
  const rows = links.links.map(({ url, clicks }) => [
    html`${name(url)}${bar(clicks / most)}`,
    cell(countOf(clicks)),
  ]);
  const more = links.linkCount - rows.length;
  const rest = more > 0 ? html`<p class="quiet">and ${countOf(more)} more</p>` : html``;
  if (rows.length === 0) return section('Links', html`<p>Nobody has clicked yet.</p>`);
  return section('Links', html`${table('Links by clicks', ['Link', 'Clicks'], rows)}${rest}`);
}

export function section(title: string, body: Html): Html {
  return html`<section><h2>${title}</h2>${body}</section>\n`;
}

function unavailable(what: string): Html {
  return html`<p class="quiet">It takes too long to read ${what} at the moment. The rest of the page is right; try again in a minute.</p>`;
}
