import { once } from 'node:events';
import { connect } from 'node:net';
import { createTransport } from 'nodemailer';
import { type Finding, ok, reasonOf, warning, wrong } from './finding.ts';

const connectMaxMs = 3_000;

/** Whether something listens where a service should be. */
export async function checkAddress(name: string, address: string): Promise<Finding> {
  const about = `${name.toUpperCase()}_ADDR`;
  const text = await refusalOf(address);
  return text === undefined
    ? ok(about, `${address} accepts connections`)
    : wrong(about, text, `start it: postrider ${name}, with HOST=0.0.0.0 in a container`);
}

/** Why nothing can be asked at an address; undefined if it accepts connections. */
export async function refusalOf(address: string, defaultPort = ''): Promise<string | undefined> {
  const { hostname, port } = new URL(`tcp://${address}`);
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = connect({ host, port: Number(port || defaultPort) });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(connectMaxMs) });
    return undefined;
  } catch (error) {
    return `${address} accepts no connection: ${reasonOf(error)}`;
  } finally {
    socket.destroy();
  }
}

/** Whether the installation's own mail server takes the account. Sends nothing. */
export async function checkMail(url: string): Promise<Finding> {
  const about = 'SYSTEM_SMTP_URL';
  if (url === '') {
    return warning(about, 'is not set: sign-in codes and invitations are not sent', 'set it');
  }
  const transport = createTransport(url, {
    connectionTimeout: connectMaxMs,
    greetingTimeout: connectMaxMs,
    socketTimeout: connectMaxMs,
  } as never);
  try {
    await transport.verify();
    return ok(about, 'the mail server answers and takes the account');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const remedy = code === 'EAUTH' ? 'correct user and password' : 'correct host and port';
    return wrong(about, `the mail server refuses: ${reasonOf(error)}`, remedy);
  } finally {
    transport.close();
  }
}
