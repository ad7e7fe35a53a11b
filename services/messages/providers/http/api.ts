import type { MailParts } from '../../mime/mail.ts';
import type { SendOutcome } from '../outcome.ts';
import type { Outgoing } from '../outgoing.ts';
import type { MimeLimits } from '../provider.ts';

/** The HTTP API of an account of a provider. Its functions are pure. */
export type HttpApi = {
  /** As in `https://api.example.com`. */
  origin: string;
  /** The mail as a request holds it. Throws `UntakenError` where the provider can't take it. */
  part(mail: MailParts, outgoing: Outgoing): MailPart;
  /** A request for one part, or for several as far as `batch` allows. */
  request(parts: readonly MailPart[], now: Date): ApiRequest;
  /**
   * The outcome of each mail of a request, in order. Another number, or an error, leaves all
   * unknown. `separately`: none was taken, since one of them is wrong.
   */
  outcomes(answer: ApiAnswer, sent: readonly Outgoing[]): readonly SendOutcome[] | 'separately';
  /** Which mails `part` takes as they came, in MIME; absent for none. */
  takesMime?: MimeLimits;
  /** How much a request takes. One mail if absent. */
  batch?: { countMax: number; bytesMax: number };
  /**
   * For a provider that takes a request with the same bytes once, so that it may be repeated:
   * whether the answer says that the first is under way.
   */
  isUnderway?(answer: ApiAnswer): boolean;
};

export type MailPart = {
  body: string | Buffer;
  /** No other mail may be in its request. */
  isAlone?: boolean;
};

/** A POST request. */
export type ApiRequest = {
  path: string;
  headers: Record<string, string>;
  body: string | Buffer;
};

/** As far as it was read. */
export type ApiAnswer = {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
  /** Undefined where the text is no JSON. */
  json: unknown;
};

/** A mail that the provider can't take, for the reason in the message, which names no address. */
export class UntakenError extends Error {
  override name = 'UntakenError';
}
