import { readEnv } from '#lib/config.ts';
import { Callbacks } from './callbacks.ts';
import { readConfig } from './config.ts';
import { InboxMailbox } from './mailbox.ts';
import { startSmtp } from './smtp.ts';
import { startWeb } from './web.ts';

const { host, webPort, smtpPort, returnsPort, folder, mailsMax } = readEnv(process.env, readConfig);
const box = await InboxMailbox.open(folder, { mailsMax, bytesMax: 1_000_000_000 });
const callbacks = new Callbacks({ countMax: 10_000, bytesMax: 100_000_000 });
const smtp = await startSmtp(box, { host, port: smtpPort, returnsPort });
const web = await startWeb({ box, callbacks }, { host, port: webPort });
process.once('SIGTERM', async () => {
  await Promise.all([smtp.stop(), web.stop()]);
  await box.close();
  process.exit(0);
});
process.send?.('ready');
