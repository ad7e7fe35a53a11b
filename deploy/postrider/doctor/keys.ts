import { type Keyset, readKeyset } from '#lib/keys/keyset.ts';
import { type Finding, ok, reasonOf, wrong } from './finding.ts';

const about = 'SERVICE_KEYS';
const newKeys =
  'make them with `npx postrider secrets <folder>`, and give each process its own; `all` takes those of all services';
const remedy =
  'print them anew with `npm run keys -- --file <the same file>`, and give each process its own';

/** Whether each keyset is whole, and those of several services come from one installation. */
export function checkKeys(text: string): Finding[] {
  const parts = text.trim().split(/\s+/).filter(Boolean);
  if (parts.length === 0) return [wrong(about, 'is not set', newKeys)];
  const keysets: Keyset[] = [];
  const faults: Finding[] = [];
  for (const part of parts) {
    try {
      const { service } = JSON.parse(Buffer.from(part, 'base64url').toString());
      keysets.push(readKeyset(part, String(service)));
    } catch (error) {
      const reason = error instanceof SyntaxError ? 'one is not a keyset' : reasonOf(error);
      faults.push(wrong(about, reason, remedy));
    }
  }
  for (const keyset of keysets) faults.push(...misfits(keyset, keysets));
  if (faults.length > 0) return faults;
  const names = keysets.map(({ service }) => service).join(', ');
  return [ok(about, `keys of ${names}${keysets.length > 1 ? ' fit together' : ''}`)];
}

/** The services that keysets belong to; those that cannot be read are left out. */
export function keyOwners(text: string): string[] {
  return text
    .trim()
    .split(/\s+/)
    .flatMap((part) => {
      try {
        return [String(JSON.parse(Buffer.from(part, 'base64url').toString()).service)];
      } catch {
        return [];
      }
    });
}

function misfits(own: Keyset, all: readonly Keyset[]): Finding[] {
  const found: string[] = [];
  for (const other of all) {
    const signs = own.identity[0]?.x ?? '';
    if (!other.services[own.service]?.includes(signs))
      found.push(`${other.service} does not know the key that ${own.service} signs with`);
    const issues = own.issuer?.[0]?.x;
    if (issues !== undefined && !other.people.includes(issues))
      found.push(`${other.service} does not know the key that signs tokens of people`);
    const opens = own.letterOpeners?.map(({ x }) => x);
    if (opens && !opens.includes(other.letters))
      found.push(`${own.service} cannot open what ${other.service} seals for it`);
    for (const [purpose, keys] of Object.entries(own.macs)) {
      const theirs = other.macs[purpose];
      if (theirs && !theirs.includes(keys[0] ?? ''))
        found.push(`${other.service} does not know the key of ${purpose} that ${own.service} uses`);
    }
  }
  return found.map((text) => wrong(about, text, remedy));
}
