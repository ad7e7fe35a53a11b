/*
 * Replies by which a receiver says that it gets too much mail.
 *
 * Texts are those of KumoMTA's shaping.toml (policy-extras and community), of Google
 * (support.google.com/a/answer/3726730), Yahoo (senders.yahooinc.com, its error codes) and
 * Microsoft (sendersupport.olc.protection.outlook.com/pm/troubleshooting). Minutes are KumoMTA's
 * durations, kept within 30 and 90.
 */

const leastMinutes = 30;
const mostMinutes = 90;

/** The first that fits counts. */
const texts: readonly [text: RegExp, minutes: number][] = [
  [/\[(?:TSS?|IPTS)0[1-9]\]/, mostMinutes],
  [/temporarily deferred|permanently deferred/i, mostMinutes],
  [/due to (?:unexpected volume|user complaints)/i, mostMinutes],
  [/unusual rate|4\.7\.28\b/i, leastMinutes],
  [/rate[ -]?limit|frequency limited|throttl/i, leastMinutes],
  [
    /too many (?:connections|messages|mails|requests|recipients|concurrent|sessions)/i,
    leastMinutes,
  ],
  [/trop de connexions/i, leastMinutes],
  [/maximum number of (?:connections|messages)|max concurrent connections/i, leastMinutes],
  [/max message per connection/i, leastMinutes],
  [/server busy|(?:sending|receiving) (?:mail )?too (?:quickly|fast|much)/i, leastMinutes],
];

/** A reply with one of these says that policy holds the mail back now (RFC 3463, X.7). */
const policyCode = /^(?:421|450|451) (?:4\.7\.\d{1,3})\b/;
/** Greylisting is about one mail and not about their number, and so is a failed check of it. */
const isOther = /gr[ae]y-?list|SPF|DKIM|DMARC|PTR|reverse DNS|TLS|certificate/i;

/**
 * For how many minutes a temporary reply asks for less mail; undefined where it is about something
 * else. `info` is the reply as it is recorded.
 */
export function throttledMinutes(info: string): number | undefined {
  if (!/^4\d\d\b/.test(info)) return undefined;
  const known = texts.find(([text]) => text.test(info));
  if (known) return known[1];
  return policyCode.test(info) && !isOther.test(info) ? leastMinutes : undefined;
}
