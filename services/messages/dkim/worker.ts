import { parentPort } from 'node:worker_threads';
import { type SigningDomain, signatureFields } from './signature.ts';

/** Domains that a thread signs for, by numbers of its own. */
export type SigningRequest =
  | { learn: number; domain: SigningDomain }
  | { forget: number }
  /** Mails in the buffer, which is transferred there and back. */
  | { sign: readonly SignedPart[]; bytes: ArrayBuffer };

export type SignedPart = { start: number; end: number; domain: number };

/** The fields of each mail in turn; null where it cannot be signed. */
export type SigningAnswer = { signatures: readonly (string | null)[]; bytes: ArrayBuffer };

const domains = new Map<number, SigningDomain>();

parentPort?.on('message', (request: SigningRequest) => {
  if ('learn' in request) domains.set(request.learn, request.domain);
  else if ('forget' in request) domains.delete(request.forget);
  else {
    const { bytes } = request;
    const mails = Buffer.from(bytes);
    const signatures = request.sign.map((part) => signatureOf(mails, part));
    const answer: SigningAnswer = { signatures, bytes };
    parentPort?.postMessage(answer, [bytes]);
  }
});

function signatureOf(mails: Buffer, { start, end, domain: number }: SignedPart): string | null {
  const domain = domains.get(number);
  if (!domain) return null;
  try {
    return signatureFields(mails.subarray(start, end), domain, new Date());
  } catch {
    return null;
  }
}
