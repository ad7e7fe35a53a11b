import type { Resolver } from 'node:dns/promises';

const namesMax = 60;
/** SPF and DMARC read short texts; a name may have thousands. */
const recordsMax = 50;

const types = ['TXT', 'MX', 'A', 'AAAA', 'PTR', 'CNAME'] as const;

/**
 * The DNS queries of the verifier. Beyond 60 names, and once its time is up, it gets no answer, so
 * that a mail costs no more, whatever its records name.
 */
export function boundedResolver(resolver: Pick<Resolver, 'resolve'>, signal: AbortSignal) {
  let asked = 0;
  return async (name: string, type: string): Promise<string[][] | string[]> => {
    asked += 1;
    const known = types.find((each) => each === type);
    if (asked > namesMax || !known || signal.aborted) {
      throw Object.assign(new Error('no more names are asked for'), { code: 'ESERVFAIL' });
    }
    const records: unknown = await resolver.resolve(name, known);
    return Array.isArray(records) ? records.slice(0, recordsMax) : [];
  };
}
