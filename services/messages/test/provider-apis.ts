import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEgress, type Egress } from '#lib/outside/egress.ts';

/** A webhook at a provider. */
export type Webhook = {
  id: string;
  url: string;
  key?: string | undefined;
  [field: string]: unknown;
};

type ApiRequest = {
  method: string;
  path: string;
  query: URLSearchParams;
  json: Json;
  form: URLSearchParams;
};
// biome-ignore lint/suspicious/noExplicitAny: bodies of eight providers.
type Json = any;
type ApiAnswer = { status?: number; json?: unknown; text?: string };
type Api = (request: ApiRequest, webhooks: Webhook[]) => ApiAnswer;

const notFound: ApiAnswer = { status: 404, json: { code: 'document_not_found' } };
let count = 0;

/** A list of webhooks, with one path for each. */
function listApi(given: {
  read(json: Json): Partial<Webhook>;
  show(webhook: Webhook): object;
  wrap(list: object[]): unknown;
  made?(webhook: Webhook): unknown;
}): Api {
  return ({ method, path, json }, webhooks) => {
    const id = /\/(\d+)$/.exec(path)?.[1];
    const found = webhooks.find((each) => each.id === id);
    if (method === 'GET' && !id) return { json: given.wrap(webhooks.map(given.show)) };
    if (method === 'POST') {
      const webhook = { url: '', ...given.read(json), id: `${++count}` };
      webhooks.push(webhook);
      return { status: 201, json: given.made?.(webhook) ?? given.show(webhook) };
    }
    if (!found) return notFound;
    if (method === 'GET') return { json: given.made?.(found) ?? given.show(found) };
    if (method === 'DELETE') webhooks.splice(webhooks.indexOf(found), 1);
    else Object.assign(found, given.read(json));
    return { json: {} };
  };
}

const postmark: Api = (request, webhooks) => {
  const stream = request.query.get('MessageStream');
  const api = listApi({
    read: ({ Url: url, HttpAuth, MessageStream, Triggers }) => ({
      ...{ url, key: HttpAuth?.Password, triggers: Triggers },
      ...(MessageStream && { stream: MessageStream }),
    }),
    show: ({ id, url, stream: MessageStream }) => ({ ID: Number(id), Url: url, MessageStream }),
    wrap: (Webhooks) => ({
      Webhooks: Webhooks.filter((each) => Reflect.get(each, 'MessageStream') === stream),
    }),
  });
  return api(request, webhooks);
};

const sparkpost = listApi({
  read: ({ target: url, auth_credentials: auth, events }) => ({ url, key: auth?.password, events }),
  show: ({ id, url: target }) => ({ id, target }),
  wrap: (results) => ({ results }),
});

const brevo: Api = (request, webhooks) => {
  if (request.method === 'GET' && webhooks.length === 0) return notFound;
  const api = listApi({
    read: ({ url, auth, events }) => ({ url, key: auth?.token, events }),
    show: ({ id, url }) => ({ id: Number(id), url }),
    wrap: (list) => ({ webhooks: list }),
  });
  return api(request, webhooks);
};

const mailjet = listApi({
  read: ({ Url: url, EventType, Version }) => ({ url, EventType, Version }),
  show: ({ id, url: Url, EventType }) => ({ ID: Number(id), Url, EventType, IsBackup: false }),
  wrap: (Data) => ({ Count: Data.length, Data }),
});

const resend = (secret: () => string) =>
  listApi({
    read: ({ endpoint: url, events }) => ({ url, events }),
    show: ({ id, url: endpoint }) => ({ id, endpoint }),
    wrap: (data) => ({ object: 'list', data }),
    made: ({ id }) => ({ object: 'webhook', id, signing_secret: secret() }),
  });

const sendgrid =
  (publicKey: () => string): Api =>
  (request, webhooks) => {
    const signed = /\/signed\/(\d+)$/.exec(request.path)?.[1];
    if (signed) return { json: { id: signed, public_key: publicKey() } };
    const api = listApi({
      read: ({ url, ...settings }) => ({ url, ...settings }),
      show: ({ id, url, enabled }) => ({ id, url, enabled }),
      wrap: (list) => ({ max_allowed: 5, webhooks: list }),
    });
    return api(request, webhooks);
  };

/** One webhook here is one URL of an event there. */
const mailgun: Api = ({ method, path, form }, webhooks) => {
  if (method === 'GET') {
    const events = Map.groupBy(webhooks, ({ event }) => `${event}`);
    const shown = [...events].map(([event, all]) => [event, { urls: all.map(({ url }) => url) }]);
    return { json: { webhooks: Object.fromEntries(shown) } };
  }
  const event = method === 'POST' ? form.get('id') : path.split('/').at(-1);
  const others = webhooks.filter((each) => each.event !== event);
  const urls = form.getAll('url').map((url) => ({ id: `${++count}`, url, event }));
  if (urls.length > 3) return { status: 400, json: { message: 'too many' } };
  webhooks.splice(0, webhooks.length, ...others, ...urls);
  return { json: { message: 'Webhook has been updated' } };
};

function formIn(text: string, { headers }: IncomingMessage): URLSearchParams {
  if (!headers['content-type']?.startsWith('multipart/form-data')) return new URLSearchParams(text);
  const fields = text.matchAll(/name="(\w+)"\r\n\r\n(.*)\r\n/g);
  return new URLSearchParams(
    [...fields].map(([, name = '', value = '']): [string, string] => [name, value]),
  );
}

type Topic = { attributes: Record<string, string>; destinations: Map<string, Json> };

const escaped = (text: string) => text.replaceAll('&', '&amp;');

/** One webhook here is one subscription there. */
const sns =
  (topic: () => string, topics: Map<string, Topic>, subscribed: (endpoint: string) => void): Api =>
  ({ form, query }, webhooks) => {
    const field = (name: string) => form.get(name) ?? query.get(name) ?? '';
    const arn = field('SubscriptionArn');
    switch (field('Action')) {
      case 'CreateTopic':
        if (!topics.has(topic())) {
          topics.set(topic(), { attributes: {}, destinations: new Map() });
        }
        return { text: `<TopicArn>${topic()}</TopicArn>` };
      case 'SetTopicAttributes':
        Object.assign(topics.get(field('TopicArn'))?.attributes ?? {}, {
          [field('AttributeName')]: field('AttributeValue'),
        });
        return { text: '' };
      case 'Subscribe': {
        const url = field('Endpoint');
        if (!webhooks.some((each) => each.url === url)) {
          const id = `${++count}`;
          webhooks.push({
            id,
            url,
            arn: 'PendingConfirmation',
            policy: field('Attributes.entry.1.value'),
          });
        }
        subscribed(url);
        return { text: '<SubscriptionArn>pending confirmation</SubscriptionArn>' };
      }
      case 'ConfirmSubscription': {
        const found = webhooks.find(({ url }) => url === field('Token'));
        if (found) found.arn = `arn:aws:sns:us-east-1:123456789012:t:${found.id}`;
        return { text: '' };
      }
      case 'ListSubscriptionsByTopic':
        return {
          text: webhooks
            .map(
              ({ url, arn: own }) =>
                `<member><SubscriptionArn>${own}</SubscriptionArn><Endpoint>${escaped(url)}</Endpoint></member>`,
            )
            .join(''),
        };
      case 'Unsubscribe':
        webhooks.splice(
          webhooks.findIndex((each) => each.arn === arn),
          1,
        );
        return { text: '' };
      case 'DeleteTopic':
        topics.delete(field('TopicArn'));
        webhooks.splice(0);
        return { text: '' };
      default:
        return { status: 400, text: '<Code>InvalidAction</Code>' };
    }
  };

/** Configuration sets by name, with their destinations. */
const ses =
  (sets: Map<string, Map<string, Json>>): Api =>
  ({ method, path, json }) => {
    const [, , , , set = '', , destination = ''] = path.split('/').map(decodeURIComponent);
    if (method === 'POST' && set === '') {
      sets.set(json.ConfigurationSetName, new Map());
      return { json: {} };
    }
    const found = sets.get(set);
    if (!found) return { status: 404, json: { message: 'Configuration set does not exist' } };
    if (method === 'GET') {
      const all = [...found].map(([Name, each]) => ({ Name, ...each }));
      return { json: { EventDestinations: all } };
    }
    const name = destination || json.EventDestinationName;
    if (method === 'DELETE') found.delete(name);
    else found.set(name, json.EventDestination);
    return { json: {} };
  };

/** Values that the APIs answer. */
export type ProviderSecrets = { publicKey: string; signingSecret: string; topic: string };

/** The APIs of eight providers for webhooks, in one server. */
export async function startProviderApis(secrets: ProviderSecrets) {
  const topics = new Map<string, Topic>();
  const sets = new Map<string, Map<string, Json>>();
  const apis = new Map<string, Webhook[]>();
  const state = {
    /** An answer in place of that of the API. */
    failure: undefined as ApiAnswer | undefined,
    /** In turn, with the host. */
    calls: [] as string[],
    onSubscribe: (_endpoint: string) => {},
    /** Whether the test with which SparkPost makes or changes a webhook is answered 200. */
    takesTest: async (_key: string) => true,
  };
  const byHost: Record<string, { kind: string; api: Api }> = {
    'api.postmarkapp.com': { kind: 'postmark', api: postmark },
    'api.sparkpost.com': { kind: 'sparkpost', api: sparkpost },
    'api.brevo.com': { kind: 'brevo', api: brevo },
    'api.mailjet.com': { kind: 'mailjet', api: mailjet },
    'api.resend.com': { kind: 'resend', api: resend(() => secrets.signingSecret) },
    'api.sendgrid.com': { kind: 'sendgrid', api: sendgrid(() => secrets.publicKey) },
    'api.mailgun.net': { kind: 'mailgun', api: mailgun },
    'email.us-east-1.amazonaws.com': { kind: 'ses', api: ses(sets) },
    'sns.us-east-1.amazonaws.com': {
      kind: 'ses',
      api: sns(
        () => secrets.topic,
        topics,
        (endpoint) => state.onSubscribe(endpoint),
      ),
    },
  };
  const webhooksOf = (kind: string): Webhook[] => {
    const found = apis.get(kind) ?? [];
    apis.set(kind, found);
    return found;
  };
  const answer = async (request: IncomingMessage): Promise<ApiAnswer> => {
    const host = `${request.headers['x-host']}`;
    const { pathname, searchParams } = new URL(request.url ?? '/', `https://${host}`);
    const { method = '' } = request;
    state.calls.push(`${method} ${host}${pathname}`);
    let text = '';
    for await (const chunk of request) text += chunk;
    if (state.failure) return state.failure;
    const { kind, api } = byHost[host] ?? {};
    const isKnown = Object.keys(request.headers).some((name) =>
      ['authorization', 'x-postmark-server-token', 'api-key'].includes(name),
    );
    const isConfirmation = searchParams.get('Action') === 'ConfirmSubscription';
    if (!api || !kind || !(isKnown || isConfirmation)) return { status: 401, json: {} };
    const isJson = request.headers['content-type'] === 'application/json';
    const body = { json: isJson ? JSON.parse(text) : {}, form: formIn(text, request) };
    const isTested = kind === 'sparkpost' && (method === 'POST' || method === 'PUT');
    if (isTested && !(await state.takesTest(body.json.auth_credentials.password))) {
      return { status: 400, json: { errors: [{ message: 'POST to the target failed' }] } };
    }
    const given = { method, path: pathname, query: searchParams, ...body };
    return api(given, webhooksOf(kind));
  };
  const server = createServer((request, response) => {
    void answer(request).then(({ status = 200, json, text }) => {
      response.writeHead(status).end(text ?? JSON.stringify(json));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const egress = createEgress({ allow: ['127.0.0.0/8'], dnsServers: [] });
  /** Calls that server in place of the providers' hosts. */
  const callOutside: Egress['call'] = (call) => {
    const { protocol, host, pathname, search } = new URL(call.url);
    if (protocol !== 'https:') throw new Error(`${call.url} is called without TLS`);
    const headers = { ...call.headers, 'x-host': host };
    return egress.call({ ...call, headers, url: `http://127.0.0.1:${port}${pathname}${search}` });
  };
  return {
    ...{ state, topics, sets, webhooksOf, callOutside },
    reset() {
      Object.assign(state, { failure: undefined, calls: [], onSubscribe: () => {} });
      for (const map of [topics, sets, apis]) map.clear();
    },
    async close() {
      await egress.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
