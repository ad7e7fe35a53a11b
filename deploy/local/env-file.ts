import { join } from 'node:path';
import { serviceNames } from '../postrider/parts.ts';
import { writePrivately } from '../private-file.ts';
import { workspaceId } from './first-workspace.ts';
import { gatewayUrl, smtpUrl, temporalAddress } from './parts.ts';
import type { StackConfig } from './stack-config.ts';

export type Keys = { token: string; secretKey: string };

export function temporalUiUrl({ own, ports }: StackConfig): string {
  return own.temporalAddress ? (own.temporalUi ?? '') : `http://127.0.0.1:${ports.temporalUi}`;
}

export function inboxUrl({ ports }: StackConfig): string {
  return `http://127.0.0.1:${ports.inbox}`;
}

/** Received webhooks; subscriptions send to `in/<name>` below it. */
export function webhooksUrl(config: StackConfig): string {
  return `${inboxUrl(config)}/webhooks`;
}

/** Writes the variables that tools need to use the running stack. */
export function writeEnvFile(config: StackConfig, { token, secretKey }: Keys): void {
  const services = serviceNames.map((name) => [
    `${name.toUpperCase()}_GRPC_ADDR`,
    `127.0.0.1:${config.ports.services[name][0]}`,
  ]);
  const variables = {
    BASE_URL: gatewayUrl(config),
    GRPC_ADDR: `127.0.0.1:${config.ports.grpc}`,
    TOKEN: token,
    WORKSPACE_ID: workspaceId,
    SECRET_KEY: secretKey,
    ROOT_EMAIL: config.rootEmail,
    TEMPORAL_ADDRESS: temporalAddress(config),
    TEMPORAL_UI: temporalUiUrl(config),
    INBOX_URL: inboxUrl(config),
    WEBHOOKS_INBOX: webhooksUrl(config),
    SMTP_URL: smtpUrl(config),
    RELAY_URL: `smtp://127.0.0.1:${config.ports.relay}`,
    ...Object.fromEntries(services),
  };
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
  writePrivately(join(config.folder, 'env'), lines.join(''));
}
