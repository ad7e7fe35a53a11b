import type { KindOfProvider } from './kind.ts';
import { smtp } from './smtp.ts';

/** Every kind of provider that an integration may have. */
export const kindsOfProvider: readonly KindOfProvider[] = [smtp];

/** Undefined for a name that is no kind. */
export function findKind(name: string): KindOfProvider | undefined {
  return kindsOfProvider.find(({ kind }) => kind === name);
}
