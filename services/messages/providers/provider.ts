import type { EmailProvider } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { ReportAccount } from '../reports/account.ts';
import type { Registrar } from '../reports/registrar.ts';
import type { Report, ReportRequest, UnreadableReport } from '../reports/report.ts';
import type { Outgoing } from './outgoing.ts';

/**
 * A kind of provider: whatever takes mail and delivers it. A folder beside this file has one, and
 * `all.ts` lists it.
 */
export type MailProvider = {
  /** As in the API. */
  kind: string;
  /** Reads an integration's settings, with its secrets opened. Throws where they are missing. */
  transport(provider: EmailProvider): Transport;
  /** Absent where it says nothing later about mails that it took. */
  reports?: ReadReports;
  /** Sets the provider up to report; absent where that is done by hand. */
  registrar?: Registrar;
};

/**
 * Reads what a provider says about mails that it took, from a request whose key is right. Throws
 * `WrongSignature` where the provider has not signed it, and `UnreadableBody` where nothing can be
 * read; a report that cannot be read holds up no others.
 */
export type ReadReports = (
  request: ReportRequest,
  account: ReportAccount,
) => readonly (Report | UnreadableReport)[] | Promise<readonly (Report | UnreadableReport)[]>;

/** Mails in MIME beyond these are refused before they are taken. */
export type MimeLimits = {
  /** Absent where it takes what we take. */
  sizeMaxMb?: number;
  isUtf8Only?: true;
};

/** The way to one account of a provider. */
export type Transport = {
  kind: string;
  /** The same for the same settings. It holds secrets. */
  key: string;
  /** Whether it uses the envelope sender that it is given. */
  takesReturnPath?: true;
  /** Whether it delivers to the receivers' mail hosts itself, so that they are paced here. */
  isDirect?: true;
  /** Whether mails go on as we write them, so that a signature stays right. */
  keepsMails?: true;
  /** Which mails it takes that were written elsewhere; absent for none. */
  takesMime?: MimeLimits;
  open(host: SenderHost): Sender;
};

/** The part of the process that a sender uses. */
export type SenderHost = {
  /** The workspace whose mail is sent: it has a share of what the process holds. */
  workspaceId?: string;
  /** The address of a host that may be called; throws where none may. */
  resolve: (host: string) => Promise<{ address: string; family: 4 | 6 }>;
  /**
   * Whether messages may be begun; asked before each, and again four times a second. Always if
   * absent.
   */
  mayStart?: () => boolean;
  /**
   * Whether messages that are not urgent may be begun; asked likewise, and at `resume`. Always if
   * absent.
   */
  mayStartBulk?: () => boolean;
};

/**
 * An integration's connections in this process. Messages are rendered when there is room for them;
 * callers bound how many wait. A sender whose settings have changed is replaced and not closed: one
 * that has been idle for a while holds no connection and no timer.
 */
export type Sender = {
  /** Sends each message once there is room; every one is settled, whatever happens. */
  send(messages: readonly Outgoing[], order?: { isUrgent?: boolean }): void;
  /** Messages that were held may be begun again. */
  resume(): void;
  /** Settles what was not begun and may not be begun any more. */
  dropOver(): void;
  /** How many messages it hands over at a time, at its provider's speed. */
  readonly atOnce: number;
  /** How long the provider takes for a message, as far as is known; 0 at first. */
  readonly messageMs: number;
  /** Whether it sends one message at a time, since many were refused alike. */
  readonly isProbing: boolean;
  /** Messages that wait for room. */
  readonly waiting: number;
  /** Open connections, or requests without an answer. */
  readonly connections: number;
  /** How many messages a minute go out at most; undefined without a limit. */
  perMinute: number | undefined;
  /** Settles what was not begun, and ends. */
  close(): void;
};
