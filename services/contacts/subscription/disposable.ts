import domains from 'disposable-email-domains' with { type: 'json' };
import wildcards from 'disposable-email-domains/wildcard.json' with { type: 'json' };

const known = new Set<string>(domains);
const knownWithAll = new Set<string>(wildcards);

/** Whether an address, in its canonical form, belongs to a provider of disposable addresses. */
export function isDisposable(address: string): boolean {
  const domain = address.slice(address.lastIndexOf('@') + 1);
  if (known.has(domain)) return true;
  const labels = domain.split('.');
  return labels.some((_, first) => knownWithAll.has(labels.slice(first).join('.')));
}
