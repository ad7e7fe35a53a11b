import { createClient, type Transport } from '@connectrpc/connect';
import { MessageLinkService } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { Answer } from '../answer.ts';
import type { ReadBody } from '../body.ts';
import { failureOf, Refusal } from '../errors.ts';
import type { Exchange } from '../exchange.ts';
import { type Content, pageAnswer } from './layout.ts';
import type { Page } from './page.ts';

const link = /^\/u\/([A-Za-z0-9_-]{1,64})\/([A-Za-z0-9._~-]{1,1024})$/;
// One-click clients send `List-Unsubscribe=One-Click`; nothing of the body is needed.
const bodyLimitBytes = 16 * 1024;
const callTimeoutMs = 10_000;

const question: Content = {
  status: 200,
  title: 'Unsubscribe',
  text: 'Do you want to stop receiving these emails?',
  button: 'Unsubscribe',
};
const done: Content = {
  status: 200,
  title: 'You are unsubscribed',
  text: 'You will not receive these emails any more. You can close this page.',
};
const badLink: Content = {
  status: 400,
  title: 'This link does not work',
  text: 'It may have been cut off. Please open the whole link from the email again.',
};
const tryLater: Content = {
  status: 503,
  title: 'Please try again',
  text: 'We could not unsubscribe you just now. Please try again in a minute.',
  button: 'Try again',
};

/**
 * The page behind the unsubscribe link of a mail. Opening it changes nothing, since mail scanners open
 * every link; the button, and mail programs by RFC 8058, post to the same address.
 */
export function unsubscribePage(messages: Transport): Page {
  const client = createClient(MessageLinkService, messages);
  return {
    name: 'unsubscribe',
    answer(exchange, readBody) {
      if (!exchange.path.startsWith('/u/')) return undefined;
      const [, workspaceId, token] = link.exec(exchange.path) ?? [];
      if (!workspaceId || !token) return Promise.resolve(pageAnswer(badLink));
      return answerLink(exchange, readBody, async () => {
        const headers = { 'x-request-id': exchange.id, 'x-client-address': exchange.clientAddress };
        const options = { headers, signal: exchange.signal, timeoutMs: callTimeoutMs };
        await client.unsubscribeByLink({ workspaceId, token }, options);
      });
    },
  };
}

async function answerLink(
  { request, response }: Exchange,
  readBody: ReadBody,
  unsubscribe: () => Promise<void>,
): Promise<Answer> {
  switch (request.method) {
    case 'GET':
    case 'HEAD':
      return pageAnswer(question);
    case 'POST':
      await readBody(request, response, bodyLimitBytes);
      return pageAnswer(await outcome(unsubscribe));
    default:
      throw new Refusal(405, 'method_not_allowed', 'Method not allowed', {
        allow: 'GET, HEAD, POST, OPTIONS',
      });
  }
}

/** What the person reads. A message or contact that is gone means no more mail, which is what was asked. */
async function outcome(unsubscribe: () => Promise<void>): Promise<Content> {
  try {
    await unsubscribe();
    return done;
  } catch (error) {
    const { status } = failureOf(error, '');
    if (status === 404) return done;
    return status === 400 ? badLink : tryLater;
  }
}
