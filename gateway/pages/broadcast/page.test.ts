import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { durationFromMs, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { parse } from 'parse5';
import { BroadcastStatus } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import {
  BroadcastPageService,
  GetBroadcastPageResponseSchema,
} from '#gen/postrider/broadcasts/v1/page_pb.ts';
import {
  keyring,
  startGateway,
  startService,
  type TestGateway,
  type TestService,
} from '../../testing.ts';

type Shown = Omit<MessageInitShape<typeof GetBroadcastPageResponseSchema>, '$typeName'>;

const startMs = Date.UTC(2026, 0, 2, 9);
const { SENDING, SENT, DRAFT, PAUSED } = BroadcastStatus;

let service: TestService;
let gateway: TestGateway;
let shown: Shown | ConnectError;
let asked: { id: string; token: string }[];
let caller: string | undefined;
let count = 0;

beforeAll(async () => {
  service = await startService((router) => {
    router.service(BroadcastPageService, {
      getBroadcastPage: async ({ id, token }, { requestHeader }) => {
        const [, bearer = ''] = (requestHeader.get('authorization') ?? '').split(' ');
        caller = (await keyring.verifyToken(bearer))?.subject;
        asked.push({ id, token });
        if (shown instanceof ConnectError) throw shown;
        return create(GetBroadcastPageResponseSchema, shown);
      },
    });
  });
  gateway = await startGateway(service.port);
});
beforeEach(() => {
  asked = [];
  gateway.logged.length = 0;
  shown = pageOf({});
});
afterAll(async () => {
  await gateway.stop();
  await service.stop();
});

const arm = (templateId: string, templateName: string) => ({
  result: {
    templateId,
    templateName,
    recipients: 1_000,
    opens: 250,
    clicks: 50,
    openRate: 0.25,
    clickRate: 0.05,
    openRateInterval: { low: 0.2242, high: 0.2778 },
    clickRateInterval: { low: 0.0381, high: 0.0653 },
  },
  openRate: { low: 0.2242, high: 0.2778 },
  clickRate: { low: 0.0381, high: 0.0653 },
});

/** A broadcast that is being sent, with a test. */
function pageOf(over: Partial<Shown>): Shown {
  return {
    broadcast: {
      name: 'Spring',
      status: SENDING,
      enqueuedCount: 12_000,
      sentCount: 3_000,
      failedCount: 12,
      skippedCount: 34,
      deferredCount: 56,
      startedAt: timestampFromMs(startMs),
    },
    expiresAt: timestampFromMs(startMs + 30 * 86_400_000),
    arms: [arm('a', 'Arm A'), arm('b', 'Arm B')],
    comparison: {
      metric: 'click_rate',
      best: 'a',
      second: 'b',
      difference: 0.021,
      low: 0.0042,
      high: 0.0378,
      isEnough: true,
    },
    links: { links: [{ url: 'https://a.example/?x=1&y=2', clicks: 1_234 }], linkCount: 1 },
    timeline: {
      since: timestampFromMs(startMs),
      step: durationFromMs(60_000),
      sent: [1_000, 500, 0],
      opened: [0, 200, 150],
    },
    ...over,
  };
}

/** A link of its own, which no page is kept for. */
const newPath = () => `/broadcasts/b${++count}?token=secret-token-${count}`;
const get = (path = newPath(), method = 'GET') => fetch(`${gateway.url}${path}`, { method });
const textOf = async (path?: string) => (await get(path)).text();

/** The texts of a page, as a reader sees them. */
const readable = (page: string) =>
  page
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');

test('mail that waits for the rates of receivers is counted by group, and nothing is shown without any', async () => {
  const waiting = [
    { receiver: 'google', count: 12_345 },
    { receiver: 'other', count: 1 },
  ];
  shown = pageOf({ timeline: { waiting } });
  const text = readable(await textOf());
  expect(text).toContain('12,345 wait for the rate of google.');
  expect(text).toContain('1 waits for the rate of other receivers.');
  shown = pageOf({});
  expect(readable(await textOf())).not.toContain('for the rate of');
});

test('reports of the provider are shown with their shares, classes and a warning, and nothing where none came', async () => {
  const timeline = {
    since: timestampFromMs(startMs),
    step: durationFromMs(60_000),
    ...{ sent: [1_000, 1_000, 0], opened: [0, 0, 0], delivered: [0, 900, 1_050] },
    ...{ returned: [0, 40, 6], complained: [0, 0, 3] },
    bounces: [
      { class: 'hard', count: 40 },
      { class: 'soft', count: 6 },
    ],
    receivers: [
      { receiver: 'google', sent: 1_000, returned: 40, complained: 3 },
      { receiver: 'other', sent: 1_000, returned: 6, complained: 0 },
    ],
  };
  shown = pageOf({ timeline });
  const text = readable(await textOf());
  for (const expected of [
    'Delivered 1,950 97.5% of sent',
    'Returned 46 2.3% of sent',
    'Complaints 3 0.15% of sent',
    'Mailbox providers ask for less than 0.1% of complaints.',
    'hard the address is dead 40',
    'soft the mailbox takes no mail for now 6',
    '46 returned, 3 complaints',
    'google 1,000 4% 0.3%',
    'other 1,000 0.6% 0%',
  ]) {
    expect(text).toContain(expected);
  }
  shown = pageOf({ timeline: { ...timeline, complained: [0, 0, 6] } });
  expect(readable(await textOf())).toContain('refuse senders with more than 0.3% of complaints');
  shown = pageOf({});
  expect(readable(await textOf())).not.toContain('Delivery');
});

test('the page shows the numbers of the answer, in plots and in tables', async () => {
  const page = await textOf('/broadcasts/numbers?token=t0');
  expect(asked).toEqual([{ id: 'numbers', token: 't0' }]);
  expect(caller).toBe('gateway');
  const text = readable(page);
  for (const expected of [
    'Spring · Postrider',
    '3,046 of 12,000 recipients so far are done (25.4%)',
    'Sent 3,000',
    'Failed 12',
    'Skipped 34',
    'Deferred 56',
    'Opened 500',
    '1,500 sent and 350 opened, from 2 Jan 2026, 09:00:00 UTC to 2 Jan 2026, 09:03:00 UTC',
    '2 Jan 2026, 09:02:00 UTC 1,500 200',
    'Arm A is better than Arm B by 2.1 percentage points of click rate (95% interval 0.4 to 3.8)',
    'Arm A 1,000 250 25% (22.4% to 27.8%) 50 5% (3.8% to 6.5%)',
    'https://a.example/?x=1&amp;y=2 1,234',
    'until 1 Feb 2026, 09:00:00 UTC',
  ])
    expect(text).toContain(expected);
});

test('every plot says what it shows to people who do not see it', async () => {
  const page = await textOf();
  const plots = page.match(/<svg class="plot[^>]*>.*?<\/svg>/gs) ?? [];
  expect(plots).toHaveLength(4);
  for (const plot of plots) {
    const [, ...ids] = /role="img" aria-labelledby="(\S+) (\S+)"/.exec(plot) ?? [];
    expect(plot).toContain(`<title id="${ids[0]}">`);
    expect(plot).toContain(`<desc id="${ids[1]}">`);
    expect(plot).not.toMatch(/NaN|undefined|Infinity/);
  }
});

test('the page is for nobody but its reader, and runs nothing', async () => {
  const response = await get();
  const { headers } = response;
  expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('x-robots-tag')).toBe('noindex');
  expect(headers.get('cache-control')).toBe('no-store');
  const page = await response.text();
  expect(page).not.toMatch(/<script|<a |style="/i);
});

test.each([
  [SENDING, '10'],
  [PAUSED, '10'],
  [SENT, null],
  [DRAFT, null],
])('a broadcast in state %s asks for itself again after %s', async (status, expected) => {
  shown = pageOf({ broadcast: { name: 'x', status } });
  expect((await get()).headers.get('refresh')).toBe(expected);
});

test('names and addresses cannot leave their place', async () => {
  const evil = `</svg></style><script>alert(1)</script><img src=x onerror=alert(1)>"'&\u202e`;
  shown = pageOf({
    broadcast: {
      name: evil,
      status: PAUSED,
      pauseReason: evil,
      startedAt: timestampFromMs(startMs),
    },
    arms: [arm('a', evil), arm('b', `${evil}2`)],
    links: { links: [{ url: evil, clicks: 1 }], linkCount: 1 },
  });
  const page = await textOf();
  const names = new Set<string>();
  const attributes = new Set<string>();
  type Node = { nodeName: string; attrs?: { name: string }[]; childNodes?: Node[] };
  const visit = ({ nodeName, attrs = [], childNodes = [] }: Node) => {
    names.add(nodeName);
    for (const { name } of attrs) attributes.add(name);
    childNodes.forEach(visit);
  };
  visit(parse(page) as unknown as Node);
  expect([...names].filter((name) => ['script', 'img'].includes(name))).toEqual([]);
  expect([...attributes].filter((name) => name.startsWith('on'))).toEqual([]);
  expect(page).not.toContain('<script');
  expect(page).toContain('<bdi>&lt;/svg&gt;');
});

test('eight arms with names as long as they come, and links as long as they come, are drawn', async () => {
  const arms = Array.from({ length: 8 }, (_, at) => arm(`t${at}`, `${at} ${'name '.repeat(50)}`));
  const links = Array.from({ length: 20 }, (_, at) => ({
    url: `https://a.example/${at}/${'x'.repeat(1_900)}`,
    clicks: 20 - at,
  }));
  shown = pageOf({ arms, links: { links, linkCount: 500 } });
  const page = await textOf();
  expect(page.match(/class="dot"/g)).toHaveLength(16);
  expect(readable(page)).toContain('and 480 more');
  expect(
    Math.max(
      ...readable(page)
        .split(' ')
        .map((word) => word.length),
    ),
  ).toBeLessThan(200);
});

test('a difference that may be chance is not called one', async () => {
  const ends = { difference: 0.01, low: -0.02, high: 0.04 };
  shown = pageOf({ comparison: { metric: 'open_rate', best: 'b', second: 'a', ...ends } });
  const text = readable(await textOf());
  expect(text).toContain(
    'Not enough to tell. Arm B is ahead of Arm A by 1.0 percentage points of open rate',
  );
  expect(text).not.toContain('is better than');
});

test('once there is a winner, it is named with its reason, and nothing is compared any more', async () => {
  const startedAt = timestampFromMs(startMs);
  shown = pageOf({
    broadcast: { name: 'x', status: SENT, startedAt, winningTemplate: 'b' },
    decidedBy: 'tie',
  });
  const text = readable(await textOf());
  expect(text).toContain('Winner: Arm B , the first of several that were equal.');
  expect(text).toContain('no longer compare');
  expect(text).not.toMatch(/is better than|is ahead of/);
});

test('once there is a winner, the test keeps its numbers, and those of the whole stand beside them', async () => {
  const startedAt = timestampFromMs(startMs);
  const tested = (id: string, opens: number) => ({
    ...arm(id, `Arm ${id}`),
    testResult: { ...arm(id, `Arm ${id}`).result, recipients: 120, opens, openRate: opens / 120 },
  });
  shown = pageOf({
    broadcast: { name: 'x', status: SENT, startedAt, winningTemplate: 'b' },
    arms: [tested('a', 30), tested('b', 60)],
    decidedBy: 'open_rate',
  });
  const text = readable(await textOf());
  expect(text).toContain('the test is shown as it was at that moment');
  expect(text).toMatch(/Arm b 120 60 50% .*The whole broadcast.* Arm b 1,000 250 25%/);
});

test('labels of the time axis do not touch each other, however long the broadcast lasted', async () => {
  const [sent, opened] = [Array(20).fill(1), Array(20).fill(0)];
  for (const seconds of [1, 2, 12, 60, 700, 7_200, 86_400]) {
    const step = durationFromMs(seconds * 1_000);
    shown = pageOf({ timeline: { since: timestampFromMs(startMs), step, sent, opened } });
    const page = await textOf();
    for (const [plot] of page.matchAll(/<title id="time-.*?<\/svg>/gs)) {
      const places = [...plot.matchAll(/<text x="([\d.]+)" y="252"/g)].map(([, x]) => Number(x));
      expect(places.length).toBeGreaterThan(0);
      for (const [index, place] of places.entries()) {
        expect(place - (places[index - 1] ?? -100)).toBeGreaterThan(75);
      }
    }
  }
});

test('the time axis of a short broadcast has each time once', async () => {
  for (const milliseconds of [20, 50, 150, 1_000]) {
    const step = durationFromMs(milliseconds);
    const counts = { sent: Array(20).fill(1), opened: Array(20).fill(0) };
    shown = pageOf({ timeline: { since: timestampFromMs(startMs), step, ...counts } });
    const page = await textOf();
    for (const [plot] of page.matchAll(/<title id="time-.*?<\/svg>/gs)) {
      const labels = [...plot.matchAll(/y="252" class="middle">([\d:]+)</g)].map(([, at]) => at);
      expect(labels).toEqual([...new Set(labels)]);
    }
  }
});

test('a draft, and a broadcast without recipients, have pages', async () => {
  shown = { broadcast: { name: 'x', status: DRAFT } };
  expect(readable(await textOf())).toContain('0 of 0 recipients are done (0%)');
  const nobody = { name: 'x', status: SENT, startedAt: timestampFromMs(startMs) };
  shown = { broadcast: nobody, arms: [arm('a', '')], links: {}, timeline: {} };
  const text = readable(await textOf());
  expect(text).toContain('Nothing was sent yet.');
  expect(text).toContain('Nobody has clicked yet.');
});

test('parts that cannot be read in time are named, and the rest is shown', async () => {
  shown = pageOf({ timeline: undefined, links: undefined, arms: [], comparison: undefined });
  const text = readable(await textOf());
  expect(text).toContain('Sent 3,000');
  for (const part of ['how many were sent and opened when', 'opens and clicks', 'clicks on links'])
    expect(text).toContain(`It takes too long to read ${part} at the moment.`);
});

test.each([Code.InvalidArgument, Code.NotFound])(
  'a link that broadcasts answers with %s is not valid, whatever the reason',
  async (code) => {
    shown = new ConnectError('for developers', code);
    const response = await get();
    expect(response.status).toBe(404);
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    const page = await response.text();
    expect(page).toContain('This link is not valid');
    expect(page).not.toContain('for developers');
  },
);

test.each(['', '?token=', '?token=a.b', `?token=${'a'.repeat(256)}`, '/x?token=a', '%2f?token=a'])(
  'a path that ends with %j asks nobody',
  async (end) => {
    expect((await get(`/broadcasts/b1${end}`)).status).toBe(404);
    expect(asked).toEqual([]);
  },
);

test('while broadcasts is down, people are asked to come again', async () => {
  shown = new ConnectError('no database', Code.Unavailable);
  const response = await get();
  expect(response.status).toBe(503);
  expect(await response.text()).toContain('Try again later');
});

test('a fault is logged without the token', async () => {
  shown = new ConnectError('a fault', Code.Internal);
  expect((await get('/broadcasts/b1?token=very-secret')).status).toBe(500);
  expect(gateway.logged).toHaveLength(1);
  expect(JSON.stringify(gateway.logged)).not.toContain('very-secret');
});

test('only GET and HEAD are answered', async () => {
  expect((await get(newPath(), 'POST')).status).toBe(405);
  const head = await get(newPath(), 'HEAD');
  expect([head.status, await head.text()]).toEqual([200, '']);
});

test('a thousand readers at once cost one call and one drawing', async () => {
  const path = newPath();
  const answers = await Promise.all(Array.from({ length: 1_000 }, () => get(path)));
  const pages = new Set(await Promise.all(answers.map((each) => each.text())));
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  expect(pages.size).toBe(1);
  // A slow machine may take longer than a page is kept.
  expect(asked.length).toBeLessThan(20);
});
