import type { Sink } from '../../../test/sink.ts';
import type { SigningDomain } from '../dkim/signature.ts';
import { createSigning, type DomainKeys } from '../dkim/signing.ts';
import { SigningThreads } from '../dkim/threads.ts';
import type { MailParts } from '../mime/mail.ts';
import type { SendOutcome } from '../providers/outcome.ts';
import { type Algorithm, newDomainKey, type Records } from './given-domain.ts';
import { closing, givenPool, send } from './given-pool.ts';

/** A domain with a key of each algorithm, whose selector is its name. */
export function givenSigner(...algorithms: Algorithm[]) {
  const name = 'sender.example';
  const made = algorithms.map((algorithm) => newDomainKey(algorithm, algorithm));
  const records: Records = new Map(
    made.map(({ key, record }) => [`${key.selector}._domainkey.${name}`, record]),
  );
  return { domain: { name, keys: made.map(({ key }) => key) }, records };
}

export function givenThreads(size = 1): SigningThreads {
  const threads = new SigningThreads(size);
  closing.push(() => threads.close());
  return threads;
}

/** Sends mails by SMTP, signed; gives what became of them. */
export function sendSigned(
  port: number,
  mails: readonly MailParts[],
  {
    domain,
    threads,
    domains = { keysNow: () => domain, read: async () => undefined },
  }: { domain: SigningDomain; threads: SigningThreads; domains?: DomainKeys },
): Promise<SendOutcome[]> {
  const signing = createSigning(domains, threads);
  const pool = givenPool(port, {}, 4);
  return send(
    pool,
    mails.map((mail, index) => ({
      to: `p${index}@example.com`,
      prepare: () => mail,
      signature: signing('w1', domain.name),
    })),
  );
}

/** Mails as a server took them, in the order of their recipients. */
export const bodiesOf = (sink: Sink, count: number): string[] =>
  Array.from({ length: count }, (_, index) => sink.bodies(`p${index}@example.com`)[0] ?? '');
