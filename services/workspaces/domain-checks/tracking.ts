import { installationMark, markPath } from '#lib/installation-mark.ts';
import type { Egress } from '#lib/outside/egress.ts';
import { EgressError } from '#lib/outside/egress-error.ts';
import { NameError } from '#lib/outside/names/resolver.ts';
import type { RecordFinding } from '../domains/domain.ts';
import type { WantedRecord } from '../domains/records.ts';
import { type Asked, missing, shown, unreachable } from './texts.ts';

const callMaxMs = 5_000;
const answerMaxBytes = 256;
const certificateNote =
  'The host leads here, but has no valid certificate: the proxy of the installation needs one for it.';
const answerNote =
  'The host answers by HTTPS, but not as this installation: lead it to the wanted host.';

type HttpsAnswer = 'ours' | 'certificate' | 'other' | 'none';

/** Asks the host as browsers do, at the port of the gateway's own address. */
export async function askTrackingHost(
  { egress, publicUrl }: { egress: Egress; publicUrl: string },
  { host, workspaceId }: { host: string; workspaceId: string },
): Promise<HttpsAnswer> {
  const url = new URL(markPath, publicUrl);
  url.protocol = 'https:';
  url.hostname = host;
  try {
    const { status, body } = await egress.call({
      ...{ workspaceId, method: 'GET', url: url.href, headers: {} },
      ...{ timeoutMs: callMaxMs, sizeMaxBytes: answerMaxBytes },
    });
    const isOurs = status === 200 && body.toString() === installationMark(publicUrl);
    return isOurs ? 'ours' : 'other';
  } catch (error) {
    if (error instanceof NameError) return 'none';
    if (error instanceof EgressError) return 'other';
    const { code = '' } = error as NodeJS.ErrnoException;
    return /CERT|SSL|TLS|SIGNATURE/.test(code) ? 'certificate' : 'none';
  }
}

/** A host behind another network's CNAME is right if it answers as ours. */
export async function lookAtTracking(
  { server, workspaceId }: Asked,
  { host, value }: WantedRecord,
  answer: HttpsAnswer,
): Promise<RecordFinding> {
  const look = await server.target(host, workspaceId);
  const [target] = look === 'unreachable' ? [] : look.values;
  const found = shown(target === undefined ? [] : [target]);
  if (answer === 'ours') return { state: 'ok', found };
  if (look === 'unreachable') return unreachable;
  if (target === undefined && answer === 'none') return missing(undefined);
  if (target !== undefined && target !== value) return { state: 'wrong', found };
  if (answer === 'none') return unreachable;
  return { state: 'wrong', found, note: answer === 'certificate' ? certificateNote : answerNote };
}
