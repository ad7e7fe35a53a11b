import { createClient, type Transport } from '@connectrpc/connect';
import { InboundReportService, ReportVerdict } from '#gen/postrider/messages/v1/reports_pb.ts';
import type { Log } from '#lib/log.ts';
import type { Authorization } from '#lib/rpc/client/transport.ts';
import { requestIdHeader } from '#lib/rpc/request-id.ts';
import type { HtmlPage, PageAdmission } from '../html/page.ts';
import { type HttpAnswer, jsonAnswer } from '../http/answer.ts';
import type { Exchange } from '../http/exchange.ts';
import { methodNotAllowed, Refusal } from '../http/refusal.ts';
import { notNow } from './not-now.ts';

const path = '/webhooks/email';
const bodyLimitBytes = 1024 * 1024;
const callTimeoutMs = 10_000;
const idPattern = /^[A-Za-z0-9_-]{1,64}$/;
const keyPattern = /^[A-Za-z0-9_-]{43}$/;

/** The headers that providers sign with. */
const signatureHeaders = [
  'svix-id',
  'svix-timestamp',
  'svix-signature',
  'x-twilio-email-event-webhook-signature',
  'x-twilio-email-event-webhook-timestamp',
];
/** Several signatures, of several keys, are far shorter. */
const headerLengthMax = 1_000;

type Inbound = { messages: Transport; authorization: Authorization; log: Log };

/**
 * Takes providers' reports, as they came, for messages, which has the keys. A 200 says that they
 * are stored; a 401 is the same whatever is wrong with the URL or the signature.
 */
export function providerReports({ messages, authorization, log }: Inbound): HtmlPage {
  const client = createClient(InboundReportService, messages);
  const record = async (exchange: Exchange, body: Buffer) => {
    const { query, id } = exchange;
    const named = (name: string) => query.get(name) ?? '';
    const request = {
      ...{ workspaceId: named('workspace_id'), integrationId: named('integration_id') },
      ...{ provider: named('provider'), key: keyOf(exchange), body },
      headers: signatureOf(exchange),
    };
    const isPossible =
      [request.workspaceId, request.integrationId, request.provider].every((each) =>
        idPattern.test(each),
      ) && keyPattern.test(request.key);
    if (!isPossible) return ReportVerdict.REFUSED;
    const headers = { [requestIdHeader]: id, authorization: await authorization() };
    const { verdict } = await client.recordReports(request, { headers, timeoutMs: callTimeoutMs });
    return verdict;
  };
  return {
    name: 'provider reports',
    answer(exchange, admission) {
      if (exchange.path !== path) return undefined;
      return () => answer(exchange, admission, { record, log });
    },
  };
}

async function answer(
  exchange: Exchange,
  admission: PageAdmission,
  given: { record(exchange: Exchange, body: Buffer): Promise<ReportVerdict>; log: Log },
): Promise<HttpAnswer> {
  if (exchange.request.method !== 'POST') throw methodNotAllowed('POST');
  const provider = exchange.query.get('provider') ?? '';
  try {
    const body = await admission.readBody(exchange, bodyLimitBytes);
    // Not before the body is there, since its client could keep the place for as long.
    const leave = admission.enterReports(exchange, exchange.query.get('workspace_id') ?? '');
    return answerOf(await given.record(exchange, body).finally(leave));
  } catch (err) {
    const isNotNow = !(err instanceof Refusal) || [429, 503].includes(err.failure.status);
    if (!isNotNow || exchange.signal.aborted) throw err;
    given.log.warn({ requestId: exchange.id, err }, 'reports of a provider were not stored');
    return notNow(provider, exchange.id);
  }
}

function answerOf(verdict: ReportVerdict): HttpAnswer {
  if (verdict === ReportVerdict.RECORDED) return jsonAnswer(200, { success: true });
  throw verdict === ReportVerdict.UNREADABLE
    ? new Refusal(400, 'invalid_argument', 'The body cannot be read')
    : new Refusal(401, 'unauthenticated', 'The URL is not valid');
}

/**
 * From the URL, or, for providers that have a place for it, the password of basic authentication or
 * the bearer token.
 */
function keyOf({ query, request }: Exchange): string {
  const [scheme = '', credentials = ''] = (request.headers.authorization ?? '').split(' ', 2);
  const inUrl = query.get('key');
  if (inUrl !== null) return inUrl;
  if (scheme.toLowerCase() === 'bearer') return credentials;
  const decoded = Buffer.from(credentials, 'base64').toString();
  return scheme.toLowerCase() === 'basic' ? decoded.slice(decoded.indexOf(':') + 1) : '';
}

/** A longer one is left out, and with it the signature is wrong. */
function signatureOf({ request }: Exchange): Record<string, string> {
  return Object.fromEntries(
    signatureHeaders.flatMap((name) => {
      const value = request.headers[name];
      const isFit = typeof value === 'string' && value.length <= headerLengthMax;
      return isFit ? [[name, value]] : [];
    }),
  );
}
