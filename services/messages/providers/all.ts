import { brevo } from './brevo/provider.ts';
import { mailgun } from './mailgun/provider.ts';
import { mailjet } from './mailjet/provider.ts';
import { postmark } from './postmark/provider.ts';
import type { MailProvider } from './provider.ts';
import { resend } from './resend/provider.ts';
import { sendgrid } from './sendgrid/provider.ts';
import { ses } from './ses/provider.ts';
import { smtp } from './smtp/provider.ts';
import { sparkpost } from './sparkpost/provider.ts';

/** The kinds that are called by HTTP; an origin given takes the place of a kind's own. */
const httpKinds = { ses, sparkpost, postmark, mailgun, mailjet, sendgrid, brevo, resend };

/** Origins by the kinds of providers that are called there, such as `https://proxy.example`. */
export type ProviderOrigins = { readonly [Kind in keyof typeof httpKinds]?: string };

/** Every kind of provider, called at the origins that are given. */
export function providersAt(origins: ProviderOrigins): readonly MailProvider[] {
  const kinds = Object.entries(httpKinds);
  return [smtp, ...kinds.map(([kind, open]) => open(Reflect.get(origins, kind)))];
}

/** Every kind of provider. */
export const providers = providersAt({});

/**
 * Reads `kind=origin` items. Throws an error that names `variable` for a kind that is not called by
 * HTTP, and for what is no origin.
 */
export function readOrigins(items: readonly string[], variable: string): ProviderOrigins {
  const pairs = items.map((item) => {
    const [kind = '', origin = ''] = item.split(/=(.*)/s);
    if (!Object.hasOwn(httpKinds, kind)) {
      throw new Error(
        `${variable} names '${kind}', which is none of ${Object.keys(httpKinds).join(', ')}`,
      );
    }
    const url = URL.canParse(origin) ? new URL(origin) : undefined;
    if (!url || !/^https?:$/.test(url.protocol) || url.origin !== origin) {
      throw new Error(`${variable} needs an origin for ${kind}, such as https://proxy.example`);
    }
    return [kind, origin] as const;
  });
  return Object.fromEntries(pairs);
}
