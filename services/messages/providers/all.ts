import type { MailProvider } from './provider.ts';
import { smtp } from './smtp/provider.ts';

/** Every kind of provider. */
export const providers: readonly MailProvider[] = [smtp];
