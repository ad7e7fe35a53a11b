/** All of it is assumed, none measured. */
export const load = {
  tenants: 10_000,
  /** Of all mails; the others are broadcasts. */
  transactionalShare: 0.1,
  /** Opens and clicks, those of programs too. */
  hitsPerMail: 0.6,
  callbacksPerMail: 0.5,
  importsPerMail: 0.02,
  readsPerTenantPerSecond: 0.05,
  contactsPerTenant: 50_000,
  broadcastsPerTenantPerDay: 1,
  /** Sizes of broadcasts: the n-th largest tenant sends 1/n of what the largest sends. */
  zipf: 1,
  /** Broadcasts that start at a full hour; the others at any minute of it. */
  atFullHour: 0.6,
  /** Shares of the day's mail by hour, Europe and America one after the other. */
  hours: [1, 1, 1, 1, 2, 3, 5, 8, 10, 9, 7, 6, 6, 7, 8, 8, 6, 4, 3, 2, 1, 1, 1, 1],
  messageDays: 90,
  deliveryDays: 30,
} as const;

/**
 * How much of a server may be in use, so that a burst and the loss of another server do not stop
 * it.
 */
export const usableShare = 0.7;
/** Factor for PostgreSQL's work beside statements: vacuum, checkpoints, a replica. Not measured. */
export const databaseFactor = 1.5;
/** A day is good if all but 5 % of its mail has left so soon after its time. */
export const latenessMinutesMax = 15;

/** A larger database takes too long to back up, restore and vacuum. */
export const databaseTbMax = 2;

/** Monthly, in US dollars, rounded to what large clouds ask. */
export const prices = { core: 30, diskGb: 0.12, sentGb: 0.05 };
/** Per thousand mails: what a relay costs that is not one's own. */
export const relayPerThousand = 0.1;
