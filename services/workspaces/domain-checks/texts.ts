import type { RecordFinding } from '../domains/domain.ts';
import type { DnsServer } from './dns.ts';

/** The DNS server that a look asks, and for which workspace. */
export type Asked = { server: DnsServer; workspaceId: string };

const shownMax = 5;
const shownLength = 512;

/** Values as findings keep them. */
export function shown(values: readonly string[]): string[] {
  return values.slice(0, shownMax).map((value) => value.slice(0, shownLength));
}

export const unreachable: RecordFinding = { state: 'unreachable', found: [] };

const besideNote =
  'A CNAME stands beside other records at this host, which DNS does not allow: keep one of them.';

/** The texts at a host, and the finding that ends the look where nothing is to be said of them. */
export async function textsAt(
  { server, workspaceId }: Asked,
  host: string,
): Promise<{ texts: string[]; target: string | undefined } | RecordFinding> {
  const [texts, target] = await Promise.all([
    server.texts(host, workspaceId),
    server.target(host, workspaceId),
  ]);
  if (texts === 'unreachable') return unreachable;
  const [to] = target === 'unreachable' ? [] : target.values;
  if (to === undefined || texts.values.length === 0) return { texts: texts.values, target: to };
  // A server follows a CNAME: all texts are those of its target, unless some stand beside it.
  const there = await server.texts(to, workspaceId);
  if (there === 'unreachable' || texts.values.every((text) => there.values.includes(text))) {
    return { texts: texts.values, target: to };
  }
  return { state: 'conflict', found: shown([to, ...texts.values]), note: besideNote };
}

/** The finding where no text is like the wanted one. */
export function missing(target: string | undefined, texts: readonly string[] = []): RecordFinding {
  const values = target === undefined ? texts : [target, ...texts];
  return { state: 'missing', found: shown(values) };
}

/** The tags of a record such as `v=DKIM1; p=…`, by their names in lower case. */
export function tagsOf(text: string): Map<string, string> {
  return new Map(
    text.split(';').flatMap((part): [string, string][] => {
      const [name = '', ...value] = part.split('=');
      return value.length === 0 ? [] : [[name.trim().toLowerCase(), value.join('=').trim()]];
    }),
  );
}
