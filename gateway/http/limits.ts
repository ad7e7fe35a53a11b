/** Limits for all clients together, and for one. */
export type GatewayLimits = {
  /** Requests in progress; a request whose body has not arrived yet does not count. */
  inFlightMax: number;
  /** Connections of all clients together. */
  connectionsMax: number;
  /** Connections of one client address, trusted proxies excepted. */
  connectionsPerAddressMax: number;
  /**
   * Of the bodies of all callers, until their requests are answered; a caller has half, or an
   * eighth of what is over.
   */
  bodiesMaxBytes: number;
  /** How long a body may pause while it arrives. */
  bodyStallMs: number;
  /** How long a client may read nothing of a stream. */
  readStallMs: number;
  /** Streams at once. */
  streamsMax: number;
  /** Those of one caller. */
  streamsPerCallerMax: number;
};

export const limitsDefault: GatewayLimits = {
  inFlightMax: 1_024,
  connectionsMax: 4_096,
  connectionsPerAddressMax: 512,
  // Enough for eight of the largest at one time.
  bodiesMaxBytes: 128 * 1024 * 1024,
  bodyStallMs: 10_000,
  readStallMs: 60_000,
  streamsMax: 16,
  streamsPerCallerMax: 4,
};
