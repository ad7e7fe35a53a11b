import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FakeAnswer, FakeKind, FakeRequest, Verdict } from './kinds.ts';
import type { SeenMail } from './mail.ts';

/** How the server misbehaves; nothing of it at first. */
export type Misbehaviour = {
  latencyMs: number;
  /** For all requests, or for those that it says so of, before their mails are looked at. */
  instead:
    | ((request: FakeRequest, mails: readonly SeenMail[]) => FakeAnswer | undefined)
    | undefined;
  /** For mails by their recipient; `''` is for all others. */
  verdicts: Map<string, Verdict>;
  /** Takes the mails, and then does this in place of the answer. */
  afterTaking: ((response: ServerResponse, answer: FakeAnswer) => void) | undefined;
  /** Ends as many connections before all of a request has been read. */
  cuts: number;
};

export type FakeProvider = {
  origin: string;
  behaviour: Misbehaviour;
  /** Mails that were taken, by recipient. */
  received: Map<string, SeenMail[]>;
  /** How many mails each request had. */
  sizes: number[];
  recover(): void;
  close(): Promise<void>;
};

const good = (): Misbehaviour => ({
  latencyMs: 0,
  instead: undefined,
  verdicts: new Map(),
  afterTaking: undefined,
  cuts: 0,
});

/** A provider of a kind, which remembers the mails that it takes. */
export async function startFakeProvider(kind: FakeKind): Promise<FakeProvider> {
  const received: FakeProvider['received'] = new Map();
  /** Answers by their idempotency keys. */
  const known = new Map<string, FakeAnswer>();
  const sizes: number[] = [];
  let count = 0;

  const answerTo = async (
    request: FakeRequest,
  ): Promise<{ answer: FakeAnswer; isTaken: boolean }> => {
    const { behaviour } = fake;
    if (!kind.knows(request)) return { answer: kind.wrongKey, isTaken: false };
    const mails = await kind.read(request);
    sizes.push(mails.length);
    await sleep(behaviour.latencyMs);
    const instead = behaviour.instead?.(request, mails);
    if (instead) return { answer: instead, isTaken: false };
    const key = String(request.headers['idempotency-key'] ?? '');
    const before = known.get(key);
    if (before) return { answer: before, isTaken: true };
    const inspections = mails.map((mail) => {
      const verdict =
        behaviour.verdicts.get(mail.recipients[0] ?? '') ?? behaviour.verdicts.get('') ?? 'taken';
      count += 1;
      return { mail, verdict, id: `mail-${count}` };
    });
    const answer = kind.answer(inspections, request);
    if (answer.status < 300 || isPartial(answer)) {
      for (const { mail, verdict } of inspections) {
        const to = mail.recipients[0] ?? '';
        if (verdict === 'taken') received.set(to, [...(received.get(to) ?? []), mail]);
      }
    }
    if (key !== '') known.set(key, answer);
    return { answer, isTaken: true };
  };

  const onRequest = async (incoming: IncomingMessage, response: ServerResponse) => {
    if (fake.behaviour.cuts > 0) {
      fake.behaviour.cuts -= 1;
      await once(incoming, 'data');
      incoming.socket.resetAndDestroy();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { url: path = '', headers } = incoming;
    const { answer, isTaken } = await answerTo({ path, headers, body: Buffer.concat(chunks) });
    const { afterTaking } = fake.behaviour;
    if (isTaken && afterTaking) afterTaking(response, answer);
    else write(response, answer);
  };
  const server = createServer((request, response) => {
    onRequest(request, response).catch((error: unknown) =>
      write(response, { status: 400, body: `the fake cannot read it: ${error}` }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const fake: FakeProvider = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    behaviour: good(),
    received,
    sizes,
    recover: () => {
      Object.assign(fake.behaviour, good());
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return fake;
}

/** Whether each mail has a status of its own, whatever the answer's. */
function isPartial({ body }: FakeAnswer): boolean {
  return typeof body === 'object' && body !== null && 'Messages' in body;
}

function write(response: ServerResponse, { status, body = '', headers = {} }: FakeAnswer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}
