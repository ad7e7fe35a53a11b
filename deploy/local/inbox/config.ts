import type { Variables } from '#lib/env.ts';

/** `npm start` sets all but the last. */
export function readConfig(variables: Variables) {
  return {
    host: variables.text('HOST', { fallback: '127.0.0.1', about: 'The address to listen on.' }),
    webPort: variables.integer('INBOX_PORT', { fallback: 4402, about: 'The port of the page.' }),
    smtpPort: variables.integer('SMTP_PORT', { fallback: 4403, about: 'The port of SMTP.' }),
    returnsPort: variables.optionalInteger('INBOX_RETURNS_PORT', {
      about: 'The port of `inbound`, to which mails to `bounce@returns.example` come back.',
      unset: 'nothing comes back',
    }),
    folder: variables.text('INBOX_FOLDER', {
      fallback: '.postrider/inbox',
      about: 'Where mails are kept.',
    }),
    mailsMax: readMailsMax(variables),
  };
}

export function readMailsMax(variables: Variables): number {
  return variables.integer('INBOX_MAILS_MAX', {
    fallback: 10_000,
    about: 'Mails that the inbox keeps.',
  });
}
