import { hash } from 'node:crypto';

/** The path at which a gateway says which installation it belongs to. */
export const markPath = '/.well-known/postrider';

/** The same for all processes with one `PUBLIC_URL`: no other server answers with it. */
export function installationMark(publicUrl: string): string {
  const { origin } = new URL(publicUrl);
  return `postrider ${hash('sha256', `postrider/${origin}`).slice(0, 32)}\n`;
}
