import { createClient } from '@connectrpc/connect';
import { TestMailService } from '#gen/postrider/messages/v1/domain_tests_pb.ts';
import { InboundReportService } from '#gen/postrider/messages/v1/reports_pb.ts';
import { readEnv } from '#lib/config.ts';
import { createKeyring } from '#lib/keys/keyring.ts';
import { createLog } from '#lib/log.ts';
import { type ProcessPart, type RunningProcess, ready } from '#lib/process/part.ts';
import { connectToService } from '#lib/rpc/client/client.ts';
import { selfSigned } from '../smtp/certificate.ts';
import { type ReturnedMailConfig, readConfig } from './config.ts';
import { listenForReturnedMail } from './listener.ts';
import { takeTestMails } from './test-mail.ts';
import { startVerifier } from './verification/verifier.ts';

/** The door for mails that come back. It has the keys of the gateway, and does nothing if off. */
export const part: ProcessPart = {
  configure(env) {
    const config = readEnv(env, readConfig);
    return () => start(config);
  },
};

async function start(config: ReturnedMailConfig): Promise<RunningProcess> {
  const log = createLog('inbound', config.logLevel, config.logFormat);
  const listener = config.smtp && (await listen(config, config.smtp, log));
  log.info({ port: listener?.port }, listener ? 'ready' : 'off: BOUNCE_SMTP_PORT is not set');
  return {
    log,
    readiness: async () => ready,
    stop: async () => listener?.stop(),
  };
}

async function listen(
  config: ReturnedMailConfig,
  { port, domain }: { port: number; domain: string },
  log: RunningProcess['log'],
) {
  const { keyset, addresses, clientTls: tls, certificate, host, dnsServers, spamd } = config;
  const keyring = createKeyring(keyset, { log });
  const transport = connectToService(addresses.get('messages') ?? [], { keyring, tls });
  const messages = createClient(InboundReportService, transport);
  const verifier = startVerifier();
  const listener = await listenForReturnedMail({
    ...{ host, port, domain, log, certificate: certificate ?? selfSigned(domain) },
    taker: {
      isKnown: async (returnPath) =>
        (await messages.checkReturnPath({ returnPath }, { timeoutMs: callTimeoutMs })).isKnown,
      record: async (returnPath, mail) => {
        const call = messages.recordReturnedMail(
          { returnPath, mail },
          { timeoutMs: callTimeoutMs },
        );
        return (await call).isRecorded;
      },
    },
    takeTest: takeTestMails({
      messages: createClient(TestMailService, transport),
      ...{ verifier, spamd, host: domain, dnsServers, timeoutMs: callTimeoutMs },
    }),
  });
  return {
    port: listener.port,
    stop: async () => {
      await listener.stop();
      await verifier.close();
    },
  };
}

const callTimeoutMs = 20_000;
