import { type Client, Code, ConnectError } from '@connectrpc/connect';
import type { RelayService } from '#gen/postrider/messages/v1/relay_pb.ts';
import type { WorkspaceService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { RequestLimits } from '#lib/limits/request-limits.ts';
import type { Authorization } from '#lib/rpc/client/transport.ts';
import { clientAddressHeader, clientAddressTokenHeader } from '#lib/rpc/wire.ts';

/** An API key that may be used now, and its workspace. */
export type RelayCaller = { key: string; subject: string; workspaceId: string };

/** The part of the services that decides. Both throw a `ConnectError`. */
export type MailTaker = {
  /** Undefined where it is no API key that may be used from there. */
  callerOf(key: string, address: string): Promise<RelayCaller | undefined>;
  /** The ids of the messages, which are stored. */
  relay(caller: RelayCaller, mail: ReceivedMail): Promise<readonly string[]>;
};

export type ReceivedMail = { recipients: readonly string[]; bytes: Buffer; address: string };

type Options = {
  verifyToken: Keyring['verifyToken'];
  workspaces: Pick<Client<typeof WorkspaceService>, 'listWorkspaces'>;
  messages: Pick<Client<typeof RelayService>, 'relayMail'>;
  /** The token of the gateway, which vouches for the address of its client. */
  authorization: Authorization;
  requestLimits: RequestLimits;
};

const keyTimeoutMs = 30_000;
/**
 * Longer than messages may take to store a mail, so that one which is stored is not refused and
 * sent again, each time that the database is slow. Clients wait for ten minutes (RFC 5321,
 * 4.5.3.2.6).
 */
export const mailTimeoutMs = 75_000;

/** Calls services by the client's own key: they check it at each mail, and count its requests. */
export function takeMails(options: Options): MailTaker {
  const { verifyToken, workspaces, messages, requestLimits } = options;
  const headersOf = async (key: string, address: string) => ({
    authorization: `Bearer ${key}`,
    [clientAddressHeader]: address,
    [clientAddressTokenHeader]: await options.authorization(),
  });
  return {
    async callerOf(key, address) {
      requestLimits.take('address', address);
      const claims = await verifyToken(key, address);
      if (claims?.type !== 'api_key') return undefined;
      const { subject } = claims;
      try {
        const headers = await headersOf(key, address);
        const answer = await workspaces.listWorkspaces({}, { headers, timeoutMs: keyTimeoutMs });
        const [workspace] = answer.workspaces;
        return workspace && { key, subject, workspaceId: workspace.id };
      } catch (error) {
        const { code } = ConnectError.from(error);
        const isRefused = code === Code.Unauthenticated || code === Code.PermissionDenied;
        if (isRefused) return undefined;
        throw error;
      }
    },
    async relay({ key, subject, workspaceId }, { recipients, bytes, address }) {
      requestLimits.take('address', address);
      requestLimits.take('key', subject);
      const headers = await headersOf(key, address);
      const request = { workspaceId, recipients: [...recipients], mail: bytes };
      const within = { headers, timeoutMs: mailTimeoutMs };
      return (await messages.relayMail(request, within)).messageIds;
    },
  };
}
