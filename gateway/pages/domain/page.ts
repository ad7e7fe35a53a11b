import { type CallOptions, type Client, createClient, type Transport } from '@connectrpc/connect';
import { DomainPageService } from '#gen/postrider/workspaces/v1/domains_pb.ts';
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
/** A form without fields. */
const bodyLimitBytes = 1_024;
/** A check waits for DNS servers. */
const callTimeoutMs = 25_000;

type PageContext = { workspaces: Transport; authorization: Authorization };

/** The page of a domain, for whoever has its link: its records, and a button that checks them. */
export function domainPage({ workspaces, authorization }: PageContext): HtmlPage {
  const client = createClient(DomainPageService, workspaces);
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
        return answer(exchange, admission, { client, token, options });
      };
    },
  };
}

type Opened = {
  client: Client<typeof DomainPageService>;
  token: string;
  options: CallOptions;
};

async function answer(
  exchange: Exchange,
  admission: PageAdmission,
  opened: Opened,
): Promise<HttpAnswer> {
  const { method } = exchange.request;
  const isCheck = method === 'POST';
  if (!isCheck && method !== 'GET' && method !== 'HEAD') throw methodNotAllowed('GET, HEAD, POST');
  if (isCheck) await admission.readBody(exchange, bodyLimitBytes);
  const { client, token, options } = opened;
  try {
    const isRefused = isCheck && (await isTooSoon(opened));
    const notice = isRefused ? 'There were ten checks within a minute: wait a minute.' : '';
    const shown = await client.getDomainPage({ token }, options);
    return sheetOf(shown, { status: isRefused ? 429 : 200, notice });
  } catch (error) {
    const { status } = failureOf(error, '');
    if (status === 400 || status === 404) return badLink();
    if (status === 503 || status === 504) return tryLater();
    throw error;
  }
}

/** Has the domain checked, unless there were too many checks. */
async function isTooSoon({ client, token, options }: Opened): Promise<boolean> {
  try {
    await client.verifyDomainByPage({ token }, options);
    return false;
  } catch (error) {
    if (failureOf(error, '').status === 429) return true;
    throw error;
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
