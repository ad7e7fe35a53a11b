import type { SigningDomain } from './signature.ts';
import type { SigningThreads } from './threads.ts';

/** The part of the sending domains that signing asks. */
export type DomainKeys = {
  /**
   * The keys that sign now. Undefined without any; `old` where they are to be read again first.
   */
  keysNow(workspaceId: string, domain: string): SigningDomain | undefined | 'old';
  read(workspaceId: string): Promise<unknown>;
};

/** The same as a sender of mails knows it. */
type Signature = {
  room: number;
  make(mail: Buffer, done: (fields: string | undefined) => void): void;
};

export type Signing = (workspaceId: string, domain: string) => Signature;

/** Two signatures of the longest domain and selector, with all fields, take 2.3 KB. */
const room = 4_096;

/**
 * Signs mails by the keys that are in use when they are signed. A mail of a domain whose keys
 * cannot be read, or that has none by then, is not signed.
 */
export function createSigning(domains: DomainKeys, threads: SigningThreads): Signing {
  return (workspaceId, name) => {
    const domain = () => domains.keysNow(workspaceId, name);
    const read = () => domains.read(workspaceId);
    return { room, make: (mail, done) => threads.sign({ mail, domain, read, done }) };
  };
}
