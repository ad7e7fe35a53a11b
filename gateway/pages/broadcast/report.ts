import type { Broadcast } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import type { GetBroadcastPageResponse } from '#gen/postrider/broadcasts/v1/page_pb.ts';
import { contentSecurityPolicy } from '#lib/html/content-security-policy.ts';
import { htmlDocument, noIcon } from '#lib/html/document.ts';
import { type Html, html } from '#lib/html/template.ts';
import { secretPageHeaders } from '../../html/headers.ts';
import { timeOf } from '../../html/times.ts';
import { stackedBar } from './plot.ts';
import {
  armsSection,
  deliverySection,
  linksSection,
  name,
  section,
  timeSection,
  waitingLine,
} from './sections.ts';
import { style } from './style.ts';
import { countOf, isMoving, percentOf, statusOf } from './words.ts';

const refreshSeconds = 10;

const headers = secretPageHeaders(contentSecurityPolicy({ style, images: ['data:'] }));

export type BroadcastReport = { status: number; headers: Record<string, string>; body: string };

/** The page of a broadcast; it asks for itself again while the broadcast may change. */
export function reportOf(shown: GetBroadcastPageResponse): BroadcastReport {
  const { broadcast } = shown;
  if (!broadcast) return messagePage(404, 'Not found', 'There is no such broadcast.');
  const isLive = isMoving(broadcast.status);
  const refresh: Record<string, string> = isLive ? { refresh: String(refreshSeconds) } : {};
  const body = html`${head(broadcast)}${progressSection(shown, broadcast)}${timeSection(shown)}${deliverySection(shown)}${armsSection(shown)}${linksSection(shown)}
<footer><p>Times are UTC.${isLive ? ` The page follows along every ${refreshSeconds} seconds.` : ''} Whoever has its link can see it${shown.expiresAt ? ` until ${timeOf(shown.expiresAt)}` : ''}; it shows no addresses of recipients.</p></footer>`;
  return { ...page(200, broadcast.name, body), headers: { ...headers, ...refresh } };
}

/** A page that says why there is no other. */
export function messagePage(status: number, title: string, text: string): BroadcastReport {
  return page(status, title, html`<h1>${title}</h1><p>${text}</p>`);
}

function page(status: number, title: string, body: Html): BroadcastReport {
  const text = htmlDocument({
    title: `${title} · Postrider`,
    style,
    head: noIcon,
    body: html`<main>\n${body}\n</main>`,
  });
  return { status, headers, body: text };
}

function head(broadcast: Broadcast): Html {
  const { scheduledAt, startedAt, completedAt, cancelledAt, pauseReason } = broadcast;
  const times = [
    scheduledAt && !startedAt ? `Starts ${timeOf(scheduledAt)}` : '',
    startedAt ? `Started ${timeOf(startedAt)}` : '',
    completedAt ? `Finished ${timeOf(completedAt)}` : '',
    cancelledAt ? `Cancelled ${timeOf(cancelledAt)}` : '',
  ].filter((each) => each !== '');
  return html`<header><h1>${name(broadcast.name)}</h1>
<p><span class="state">${statusOf(broadcast.status)}</span></p>
<p class="quiet">${times.join(' · ')}</p>
${pauseReason ? html`<p><bdi>${pauseReason}</bdi></p>` : ''}</header>
`;
}

function progressSection(shown: GetBroadcastPageResponse, broadcast: Broadcast): Html {
  const { arms } = shown;
  const { enqueuedCount, sentCount, failedCount, skippedCount, deferredCount } = broadcast;
  const done = sentCount + failedCount + skippedCount;
  const share = (count: number) => (enqueuedCount > 0 ? Math.min(1, count / enqueuedCount) : 0);
  const soFar = broadcast.startedAt && !broadcast.audienceFrozenAt ? ' so far' : '';
  const title = `${countOf(done)} of ${countOf(enqueuedCount)} recipients${soFar} are done (${percentOf(share(done))})`;
  const parts = [
    { style: 'sent', name: 'Sent', share: share(sentCount) },
    { style: 'failed', name: 'Failed', share: share(failedCount) },
    { style: 'skipped', name: 'Skipped', share: share(skippedCount) },
  ];
  const sum = (of: 'opens' | 'clicks') =>
    countOf(arms.reduce((total, { result }) => total + (result?.[of] ?? 0), 0));
  const facts: [string, string][] = [
    ['Recipients', countOf(enqueuedCount)],
    ['Sent', countOf(sentCount)],
    ['Failed', countOf(failedCount)],
    ['Skipped', countOf(skippedCount)],
    ['Deferred', countOf(deferredCount)],
    ...(arms.length > 0
      ? ([
          ['Opened', sum('opens')],
          ['Clicked', sum('clicks')],
        ] as [string, string][])
      : []),
  ];
  return section(
    'Progress',
    html`<p>${title}</p>
<ul class="key">${parts.map(({ style, name }) => html`<li><span class="${style}"></span>${name}</li>`)}</ul>
${stackedBar(title, parts)}
<dl>${facts.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>
${waitingLine(shown)}`,
  );
}
