/*
 * Takes a mail to the address of a test. Order: size, the mark in its header, the question to
 * messages whether it is wanted, the verifier and spamd side by side, and the result.
 *
 * Limits: a mail that is not wanted costs one call. A wanted one has 256 KiB at most, 60 look-ups
 * in 8 s, 10 signatures, a thread that is killed, and 10 s of spamd; 20 may wait, 2 of them of a
 * workspace, and one of a test. Others come again.
 */

import { type Client, Code } from '@connectrpc/connect';
import {
  type TestMailService,
  TestMailVerdict,
} from '#gen/postrider/messages/v1/domain_tests_pb.ts';
import { retryLater } from '#lib/errors/errors.ts';
import { type SpamdAddress, spamScore } from './verification/spamd.ts';
import { fieldsOf, headOf } from './verification/verdict.ts';
import type { Verifier } from './verification/verifier.ts';

/** A mail as the listener has it. */
export type TestMail = {
  address: string;
  /** Its beginning, up to `testMailMaxBytes`. */
  mail: Buffer;
  bytes: number;
  isEncrypted: boolean;
  ip: string;
  helo: string;
  sender: string;
};

/** `late`: the test has its result. `refused`: it is not the mail that was sent. */
export type TestMailOutcome = 'recorded' | 'late' | 'refused' | 'too large';

export type TestMailTaker = (mail: TestMail) => Promise<TestMailOutcome>;

/** Test mails have 3 KiB; relays and scanners add to them. */
export const testMailMaxBytes = 256 * 1_024;

const markForm = /^[0-9a-f]{32}$/;

type Options = {
  messages: Pick<Client<typeof TestMailService>, 'checkTestMail' | 'recordTestMail'>;
  verifier: Pick<Verifier, 'verify'>;
  /** Absent where no score is asked for. */
  spamd: SpamdAddress | undefined;
  /** This host, as the verifier names it. */
  host: string;
  dnsServers: readonly string[];
  timeoutMs: number;
};

export function takeTestMails(options: Options): TestMailTaker {
  const { messages, verifier, spamd, host, dnsServers, timeoutMs } = options;
  /** Addresses whose mail is being verified. */
  const underway = new Set<string>();
  return async ({ address, mail, bytes, isEncrypted, ip, helo, sender }) => {
    if (bytes > testMailMaxBytes) return 'too large';
    const mark = markOf(mail);
    const { verdict } = await messages.checkTestMail({ address, mark }, { timeoutMs });
    if (verdict === TestMailVerdict.LATE) return 'late';
    if (verdict !== TestMailVerdict.WANTED) return 'refused';
    const key = address.toLowerCase();
    if (underway.has(key)) {
      throw retryLater('a mail of the test is being verified', Code.ResourceExhausted, 1_000);
    }
    underway.add(key);
    try {
      const [found, spamScoreFound] = await Promise.all([
        // First, since a mail that finds no room is not given to spamd.
        verifier.verify({ mail, ip, helo, sender, host, dnsServers }, workspaceHost(key)),
        spamd && spamScore(spamd, mail),
      ]);
      const result = {
        ...found,
        ...{ sizeBytes: bytes, isEncrypted },
        ...(spamScoreFound !== undefined && { spamScore: spamScoreFound }),
      };
      await messages.recordTestMail({ address, mark, result }, { timeoutMs });
      return 'recorded';
    } finally {
      underway.delete(key);
    }
  };
}

/** Each workspace has its own. */
const workspaceHost = (address: string) => address.slice(address.indexOf('@') + 1);

/** The value of the header that says which test a mail is of; empty without one of its form. */
function markOf(mail: Buffer): string {
  const [mark = ''] = fieldsOf(headOf(mail), 'x-postrider-test');
  return markForm.test(mark) ? mark : '';
}
