import type { DomainKey, RecordFinding } from '../domains/domain.ts';
import type { WantedRecord } from '../domains/records.ts';
import { type Asked, missing, shown, tagsOf, textsAt } from './texts.ts';

/** A key is right wherever a CNAME leads, as long as verifiers read it. */
export async function lookAtKey(
  asked: Asked,
  record: WantedRecord & { signing: DomainKey },
): Promise<RecordFinding> {
  const { signing: key, value, type } = record;
  const read = await textsAt(asked, record.host);
  if ('state' in read) return read;
  const { texts, target } = read;
  const keys = texts.filter((text) => tagsOf(text).has('p'));
  if (key.state === 'revoked') return revoked(keys);
  if (keys.length > 1) {
    const note = 'Several keys stand at this host: delete all but the wanted one.';
    return { state: 'conflict', found: shown(keys), note };
  }
  const [only] = keys;
  if (only !== undefined) {
    return { state: isKey(only, key) ? 'ok' : 'wrong', found: shown(keys) };
  }
  if (type === 'TXT' || target === undefined) return missing(target, texts);
  if (target !== value) return { state: 'wrong', found: shown([target, ...texts]) };
  const note =
    'The CNAME is right, but the zone of the installation does not have the key yet: ask its operator to publish it.';
  return { ...missing(target, texts), note };
}

function revoked(keys: readonly string[]): RecordFinding {
  const isLeft = keys.some((text) => tagsOf(text).get('p') !== '');
  return { state: isLeft ? 'wrong' : 'ok', found: shown(keys) };
}

/** As a verifier reads it (RFC 6376, 3.6.1): some tags narrow what the key may sign. */
function isKey(text: string, { algorithm, public_key }: DomainKey): boolean {
  const tags = tagsOf(text);
  const allows = (tag: string, wanted: readonly string[]) => {
    const given = tags.get(tag);
    return given === undefined || given.split(':').some((each) => wanted.includes(each.trim()));
  };
  return (
    (tags.get('v') ?? 'DKIM1') === 'DKIM1' &&
    (tags.get('k') ?? 'rsa') === algorithm &&
    tags.get('p')?.replaceAll(/\s/g, '') === public_key &&
    allows('h', ['sha256']) &&
    allows('s', ['*', 'email'])
  );
}
