import {
  type CallOptions,
  type Client,
  ConnectError,
  createClient,
  type Transport,
} from '@connectrpc/connect';
import {
  DomainTestPageService,
  type GetNewestDomainTestResponse,
} from '#gen/postrider/messages/v1/domain_tests_pb.ts';
import {
  DomainPageService,
  type GetDomainPageResponse,
} from '#gen/postrider/workspaces/v1/domains_pb.ts';
import type { Authorization } from '#lib/rpc/client/transport.ts';
import { requestIdHeader } from '#lib/rpc/request-id.ts';
import { failureOf } from '../../api/errors.ts';
import type { HtmlPage, PageAdmission } from '../../html/page.ts';
import type { HttpAnswer } from '../../http/answer.ts';
import type { Exchange } from '../../http/exchange.ts';
import { methodNotAllowed } from '../../http/refusal.ts';
import { messageSheet, sheetOf } from './sheet.ts';

const prefix = '/domains/';
const tokenPattern = /^[A-Za-z0-9_-]{1,512}$/;
/** A form with the name of its button. */
const bodyLimitBytes = 1_024;
/** A check waits for DNS servers, a test for a mail server. */
const callTimeoutMs = 25_000;

type PageContext = { workspaces: Transport; messages: Transport; authorization: Authorization };

/**
 * The page of a domain, for whoever has its link: its records with a button that checks them, and
 * its newest test mail with a button that sends one.
 */
export function domainPage({ workspaces, messages, authorization }: PageContext): HtmlPage {
  const client = createClient(DomainPageService, workspaces);
  const tests = createClient(DomainTestPageService, messages);
  return {
    name: 'domain',
    answer(exchange, admission) {
      if (!exchange.path.startsWith(prefix)) return undefined;
      return async () => {
        const token = exchange.path.slice(prefix.length);
        if (!tokenPattern.test(token)) return badLink();
        const { id, signal } = exchange;
        const headers = { [requestIdHeader]: id, authorization: await authorization() };
        const options = { headers, signal, timeoutMs: callTimeoutMs };
        return answer(exchange, admission, { client, tests, token, options });
      };
    },
  };
}

type Opened = {
  client: Client<typeof DomainPageService>;
  tests: Client<typeof DomainTestPageService>;
  token: string;
  options: CallOptions;
};

async function answer(
  exchange: Exchange,
  admission: PageAdmission,
  opened: Opened,
): Promise<HttpAnswer> {
  const { method } = exchange.request;
  const isChange = method === 'POST';
  if (!isChange && method !== 'GET' && method !== 'HEAD') throw methodNotAllowed('GET, HEAD, POST');
  const body = isChange ? await admission.readBody(exchange, bodyLimitBytes) : undefined;
  const isTest = new URLSearchParams(body?.toString('utf8')).get('action') === 'test';
  const { client, token, options } = opened;
  try {
    const checked = isChange && !isTest ? await check(opened) : nothingToSay;
    const shown = await client.getDomainPage({ token }, options);
    const tested = isTest ? await sendTest(opened, shown) : nothingToSay;
    const test = await readTest(opened, shown);
    return sheetOf(shown, test, tested.notice === '' ? checked : tested);
  } catch (error) {
    const { status } = failureOf(error, '');
    if (status === 400 || status === 404) return badLink();
    if (status === 503 || status === 504) return tryLater();
    throw error;
  }
}

type Notice = { status: number; notice: string };

const nothingToSay: Notice = { status: 200, notice: '' };

/** Has the domain checked, unless there were too many checks. */
async function check({ client, token, options }: Opened): Promise<Notice> {
  try {
    await client.verifyDomainByPage({ token }, options);
    return nothingToSay;
  } catch (error) {
    if (failureOf(error, '').status !== 429) throw error;
    return { status: 429, notice: 'There were ten checks within a minute: wait a minute.' };
  }
}

async function sendTest(
  { tests, options }: Opened,
  { workspaceId, domain }: GetDomainPageResponse,
): Promise<Notice> {
  try {
    await tests.sendDomainTestByPage({ workspaceId, name: domain?.name ?? '' }, options);
    return nothingToSay;
  } catch (error) {
    const { status } = failureOf(error, '');
    if (status === 429) {
      return { status, notice: 'There were ten test mails within an hour: try again later.' };
    }
    const isExplained = status >= 400 && status < 500;
    const why = isExplained ? ConnectError.from(error).rawMessage : 'try again later';
    return { status, notice: `No test mail was sent: ${why}.` };
  }
}

/** Undefined where messages cannot say it: the records are shown all the same. */
async function readTest(
  { tests, options }: Opened,
  { workspaceId, domain }: GetDomainPageResponse,
): Promise<GetNewestDomainTestResponse | undefined> {
  try {
    return await tests.getNewestDomainTest({ workspaceId, name: domain?.name ?? '' }, options);
  } catch {
    return undefined;
  }
}

const badLink = () =>
  messageSheet(
    404,
    'This link is not valid',
    'It has expired, is not complete, or its domain was deleted. The operation domains.get of the API answers a new link as setup_url.',
  );

const tryLater = () =>
  messageSheet(503, 'Try again later', 'The domain cannot be read at the moment.');
