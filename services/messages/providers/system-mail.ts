import { createTransport } from 'nodemailer';

export type SystemMailServer = {
  /** With user and password where the server wants them. */
  url: string;
  /** The sender's address. */
  from: string;
};

export type SystemMail = {
  /** Settles when the server has accepted the mail. */
  send(mail: { key: string; to: string; subject: string; text: string }): Promise<void>;
  close(): void;
};

const waitMs = 10_000;

/** Mail of the installation itself is rare, so a library's client serves it. */
export function openSystemMail({ url, from }: SystemMailServer): SystemMail {
  const timeouts = { connectionTimeout: waitMs, greetingTimeout: waitMs, socketTimeout: waitMs };
  const transport = createTransport(url, { from });
  Object.assign(transport.options, timeouts);
  const domain = from.slice(from.lastIndexOf('@') + 1);
  return {
    async send({ key, ...mail }) {
      const messageId = `<${key.replaceAll('/', '.')}@${domain}>`;
      await transport.sendMail({ ...mail, messageId });
    },
    close: () => transport.close(),
  };
}
