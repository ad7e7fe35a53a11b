import { authenticate } from 'mailauth';
import { withResolver } from '#lib/outside/names/query.ts';
import { boundedResolver } from './bounded-resolver.ts';

/** A mail as it came, and from whom. */
export type ArrivedMail = {
  mail: Uint8Array;
  /** Of the server that delivered it. */
  ip: string;
  helo: string;
  /** The envelope sender; empty for none. */
  sender: string;
  host: string;
  dnsServers: readonly string[];
};

/** The result of the verifier, without bytes, TLS and score. */
export type MailVerdict = {
  spf: { result: string; domain: string };
  dkim: { result: string; domain: string; selector: string; algorithm: string; reason: string }[];
  dmarc: { result: string; policy: string; isSpfAligned: boolean; isDkimAligned: boolean };
  oneClick: { isRight: boolean; isSigned: boolean };
  problem?: string;
};

/** Ours have 3 KiB. The library's expressions take time by the square of a field's length. */
const headMaxBytes = 32 * 1024;
/** Ours have two; each costs a key. */
const signaturesMax = 10;
const dnsMaxMs = 8_000;
const textLengthMax = 255;

export async function verdictOn(given: ArrivedMail): Promise<MailVerdict> {
  const mail = Buffer.from(given.mail);
  const head = headOf(mail);
  const signatures = fieldsOf(head, 'dkim-signature').length;
  const oneClick = { isRight: isOneClick(head), isSigned: false };
  if (signatures > signaturesMax) {
    const problem = `the mail has ${signatures} DKIM signatures, and more than ${signaturesMax} are not verified`;
    return { ...nothing, oneClick, problem };
  }
  if (head.length > headMaxBytes) {
    return { ...nothing, oneClick, problem: 'the header of the mail has more than 32 KiB' };
  }
  const signal = AbortSignal.timeout(dnsMaxMs);
  const { ip, helo, sender, host: mta } = given;
  const found = await withResolver({ servers: given.dnsServers, signal }, (resolver) =>
    authenticate(mail, {
      ...{ ip, helo, sender, mta, disableArc: true, disableBimi: true },
      resolver: boundedResolver(resolver, signal),
    }),
  );
  return {
    spf: spfOf(found.spf),
    dkim: found.dkim.results.filter(({ signingDomain }) => signingDomain).map(dkimOf),
    dmarc: dmarcOf(found.dmarc),
    oneClick: { ...oneClick, isSigned: found.dkim.results.some(coversOneClick) },
    ...(signal.aborted && { problem: 'DNS servers did not answer in time' }),
  };
}

export const nothing = {
  spf: { result: 'none', domain: '' },
  dkim: [],
  dmarc: { result: 'none', policy: '', isSpfAligned: false, isDkimAligned: false },
  oneClick: { isRight: false, isSigned: false },
} satisfies MailVerdict;

type Found = Awaited<ReturnType<typeof authenticate>>;
type Signature = Found['dkim']['results'][number];

const spfOf = (spf: Found['spf']): MailVerdict['spf'] =>
  spf ? { result: textOf(spf.status.result), domain: textOf(spf.domain) } : nothing.spf;

const dkimOf = ({
  status,
  signingDomain,
  selector,
  algo,
}: Signature): MailVerdict['dkim'][number] => ({
  result: textOf(status.result),
  domain: textOf(signingDomain),
  selector: textOf(selector),
  algorithm: textOf(algo),
  reason: textOf(status.comment),
});

function dmarcOf(dmarc: Found['dmarc']): MailVerdict['dmarc'] {
  if (!dmarc) return nothing.dmarc;
  const { status, policy, alignment } = dmarc;
  return {
    result: textOf(status.result),
    policy: textOf(policy),
    isSpfAligned: Boolean(alignment?.spf?.result),
    isDkimAligned: Boolean(alignment?.dkim?.result),
  };
}

/** RFC 8058: a signature that passes covers both fields. */
function coversOneClick({ status, signingHeaders }: Signature): boolean {
  const names = (signingHeaders?.keys ?? '').toLowerCase().split(/[\s:]+/);
  return (
    status.result === 'pass' &&
    ['list-unsubscribe', 'list-unsubscribe-post'].every((name) => names.includes(name))
  );
}

function isOneClick(head: string): boolean {
  const [address, ...others] = fieldsOf(head, 'list-unsubscribe');
  const [post, ...otherPosts] = fieldsOf(head, 'list-unsubscribe-post');
  if (address === undefined || post === undefined) return false;
  if (others.length + otherPosts.length > 0) return false;
  return /<\s*https:\/\/[^>]+>/i.test(address) && /^list-unsubscribe=one-click$/i.test(post);
}

/** The header of a mail, unfolded. */
export function headOf(mail: Buffer): string {
  const end = mail.indexOf('\r\n\r\n');
  const head = mail.toString('latin1', 0, end < 0 ? mail.length : end);
  return head.replace(/\r\n[ \t]+/g, ' ');
}

/** The values of the fields of a name, which is in lower case. */
export function fieldsOf(head: string, name: string): string[] {
  return head.split('\r\n').flatMap((line) => {
    const colon = line.indexOf(':');
    const isIt = colon >= 0 && line.slice(0, colon).trim().toLowerCase() === name;
    return isIt ? [line.slice(colon + 1).trim()] : [];
  });
}

/** Texts of a mail and of DNS are somebody else's choice, and PostgreSQL takes no zero byte. */
function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : '';
  return text.slice(0, textLengthMax).replaceAll(/[^\x20-\x7e]/g, '\u{fffd}');
}
