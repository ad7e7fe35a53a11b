import type { ReturnedMail } from './parse.ts';

/** Whether a program has written the mail, as it says itself. */
export function isAutomatic({ header }: ReturnedMail): boolean {
  return (
    /^auto-/i.test(header('auto-submitted')) ||
    header('x-autoreply') !== '' ||
    header('x-autorespond') !== '' ||
    /^(?:auto_reply|vacation|junk)$/i.test(header('precedence'))
  );
}
