import { readEnv } from '#lib/config.ts';
import type { Env } from '#lib/env.ts';

export function readConfig(env: Env) {
  return readEnv(env, (variables) => ({
    host: variables.text('HOST', '127.0.0.1'),
    webPort: variables.integer('INBOX_PORT', 4402),
    smtpPort: variables.integer('SMTP_PORT', 4403),
    folder: variables.text('INBOX_FOLDER', '.postrider/inbox'),
    mailsMax: variables.integer('INBOX_MAILS_MAX', 10_000),
  }));
}
