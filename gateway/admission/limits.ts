import type { PlaceLimits } from './caller-places.ts';

/**
 * Numbers of the limits that `admission.ts` lists, for all clients together and for one, in the
 * order in which a request passes them.
 */
export type GatewayLimits = {
  /** Connections of all clients together. */
  connectionsMax: number;
  /** Connections of one client address, trusted proxies excepted. */
  connectionsPerAddressMax: number;
  /** Requests in progress; a request whose body has not arrived yet does not count. */
  inFlightMax: number;
  /**
   * Of the bodies of all callers, until their requests are answered; a caller has half, or an
   * eighth of what is over.
   */
  bodiesMaxBytes: number;
  /** How long a body may pause while it arrives. */
  bodyStallMs: number;
  /** Bytes of a file of rows that have to arrive in each `bodyStallMs` that it is waited for. */
  importMinBytes: number;
  /** Streams at once. */
  streamsMax: number;
  /** Streams of one caller. */
  streamsPerCallerMax: number;
  /** How long a client may read nothing of a stream, or of a whole answer beside its size. */
  readStallMs: number;
  /** Of a whole answer, which adds time by its size. */
  readMinBytesPerSecond: number;
};

export const limitsDefault: GatewayLimits = {
  connectionsMax: 4_096,
  connectionsPerAddressMax: 512,
  inFlightMax: 1_024,
  // Enough for eight of the largest at one time.
  bodiesMaxBytes: 128 * 1024 * 1024,
  bodyStallMs: 10_000,
  importMinBytes: 16 * 1024,
  streamsMax: 16,
  streamsPerCallerMax: 4,
  readStallMs: 60_000,
  readMinBytesPerSecond: 16 * 1024,
};

export const veryLargeBytes = 1024 * 1024;
/**
 * Very large bodies of a caller are read one after the other, and not at all before: they would
 * fill the memory while they wait for their turns, and collecting it stops everybody. Each caller
 * has places of its own, so that slow ones hold up nobody else.
 */
export const veryLargeBodies = {
  places: 1_024,
  aloneMax: 4,
  tenantWaitingMax: 64,
  // Shorter than the pause of a body that counts as the client's.
  waitMaxMs: 9_000,
  besideOthers: { places: 2, restTimes: 0, restMaxMs: 0 },
};

/**
 * As many operations of a caller in progress as a sender needs that keeps to its rate: 500 a
 * second, of 16 ms each, while others are active. More would not be answered sooner, and those of
 * everybody else would wait behind them.
 */
export const placesDefault: PlaceLimits = {
  aloneMax: 64,
  besideOthersMax: 8,
  /** Of an address without a token, whose calls are small and few unless it attacks. */
  unauthenticatedMax: 4,
  waitingMax: 512,
  waitMaxMs: 10_000,
};

/** Of an address without a token: a form has less. */
export const unauthenticatedLargeBytes = 16 * 1024;
/**
 * Large bodies take turns, since nothing else runs while one is decoded. Of a caller two, so that
 * one is read while another is written; one while others are active, and none for twice as long
 * after it.
 */
export const largeBodies = {
  places: 6,
  aloneMax: 2,
  tenantWaitingMax: 64,
  waitMaxMs: 10_000,
  besideOthers: { places: 1, restTimes: 2, restMaxMs: 1_000 },
};

/**
 * Files of rows that are read at once: each has two batches in memory, of a few MiB. Until the
 * first batch is written nobody knows whether the caller may write to the workspace, and the file
 * counts for its client network.
 */
export const imports = { max: 16, perCallerMax: 2, perNetworkMax: 8, perWorkspaceMax: 4 };

/** Statuses that a caller avoids by other requests, or fewer: the brake holds them. */
export const pacedStatuses = new Set([400, 401, 403, 405, 408, 413, 415, 429]);

/** Wrong links of an address: programs that fetch the links of many readers have right ones. */
export const wrongLinks = { perSecond: 10, burst: 50 };
/** Clicks have no share, so those that wait for the messages service could take all the room. */
export const waitingClicksMax = 256;
/**
 * Requests with reports of providers in progress, of all, of one client network, and of the
 * workspace that the URL names, whoever sends them.
 */
export const reportRequests = { max: 64, perNetworkMax: 16, perWorkspaceMax: 32 };
