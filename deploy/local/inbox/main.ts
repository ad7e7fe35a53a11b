import { Mailbox } from './mailbox.ts';
import { startSmtp } from './smtp.ts';
import { startWeb } from './web.ts';

const {
  HOST: host = '127.0.0.1',
  INBOX_PORT,
  SMTP_PORT,
  INBOX_FOLDER,
  INBOX_MAILS_MAX,
} = process.env;
const folder = INBOX_FOLDER ?? '.postrider/inbox';
const limits = { mailsMax: Number(INBOX_MAILS_MAX ?? 10_000), bytesMax: 1_000_000_000 };

const box = await Mailbox.open(folder, limits);
const smtp = await startSmtp(box, { host, port: Number(SMTP_PORT ?? 4403) });
const web = await startWeb(box, { host, port: Number(INBOX_PORT ?? 4402) });
process.once('SIGTERM', async () => {
  await Promise.all([smtp.stop(), web.stop()]);
  await box.close();
  process.exit(0);
});
process.send?.('ready');
