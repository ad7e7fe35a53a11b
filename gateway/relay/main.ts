import { createClient } from '@connectrpc/connect';
import { RelayService } from '#gen/postrider/messages/v1/relay_pb.ts';
import {
  WorkspaceDirectoryService,
  WorkspaceService,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { readEnv } from '#lib/config.ts';
import { createKeyring } from '#lib/keys/keyring.ts';
import { RequestLimits } from '#lib/limits/request-limits.ts';
import { shareUsage, usageReporter } from '#lib/limits/share-usage.ts';
import { createLog } from '#lib/log.ts';
import { type ProcessPart, type RunningProcess, ready } from '#lib/process/part.ts';
import { serviceToken } from '#lib/rpc/client/client.ts';
import { oldTokenVerifier } from '#lib/rpc/client/old-tokens.ts';
import { connectServices } from '../api/transports.ts';
import { selfSigned } from '../smtp/certificate.ts';
import { readCertificate, watchCertificate } from './certificate-files.ts';
import { type RelayConfig, readConfig } from './config.ts';
import { listenForRelay } from './listener.ts';
import { takeMails } from './mail-taker.ts';

/** The door for mails of programs. It has the keys of the gateway, and does nothing if off. */
export const part: ProcessPart = {
  configure(env) {
    const config = readEnv(env, readConfig);
    return () => start(config);
  },
};

async function start(config: RelayConfig): Promise<RunningProcess> {
  const log = createLog('relay', config.logLevel, config.logFormat);
  const isOn = config.ports.smtp > 0 || config.ports.smtps > 0;
  const relay = isOn ? await listen(config, log) : undefined;
  const off = 'off: neither RELAY_SMTP_PORT nor RELAY_SMTPS_PORT is set';
  log.info(relay?.ports ?? {}, relay ? 'ready' : off);
  return { log, readiness: async () => ready, stop: async () => relay?.stop() };
}

async function listen(config: RelayConfig, log: RunningProcess['log']) {
  const { host, hostname, allowsPlaintext, proxies, ports } = config;
  const transportFor = connectServices(config.addresses, config.clientTls);
  const directory = createClient(WorkspaceDirectoryService, transportFor('workspaces'));
  const verifyOld = oldTokenVerifier(async (token) =>
    directory.authorize({ token }, { headers: { authorization: await authorization() } }),
  );
  const keyring = createKeyring(config.keyset, { log, verifyOld });
  const authorization = serviceToken(keyring);
  const requestLimits = new RequestLimits(config.requestRates);
  const sharing = shareUsage(requestLimits, usageReporter(directory, authorization), log);
  const files = config.certificate;
  const certificate = files ? await readCertificate(files) : selfSigned(hostname);
  const listener = await listenForRelay({
    ...{ host, hostname, allowsPlaintext, proxies, certificate, log },
    ports: { smtp: ports.smtp || undefined, smtps: ports.smtps || undefined },
    taker: takeMails({
      verifyToken: keyring.verifyToken,
      workspaces: createClient(WorkspaceService, transportFor('workspaces')),
      messages: createClient(RelayService, transportFor('messages')),
      ...{ authorization, requestLimits },
    }),
  });
  const stopWatching =
    files && watchCertificate({ files, known: certificate, log, changed: listener.useCertificate });
  return {
    ports: listener.ports,
    async stop() {
      stopWatching?.();
      await listener.stop();
      sharing.stop();
    },
  };
}
