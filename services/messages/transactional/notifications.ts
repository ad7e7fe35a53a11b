import { LruMap } from '#lib/collections/lru-map.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';

/** The settings of a notification that sending uses. */
export type Sendable = {
  id: string;
  name: string;
  templateId: string;
  utm: Record<string, string>;
  isTracked: boolean;
  sendToBounced: boolean;
  /** Empty for the transactional provider of the settings. */
  integrationId: string;
  /**
   * How long its messages may wait for the mail server; undefined for as long as they are tried.
   */
  ttlSeconds: number | undefined;
  tags: readonly string[];
};

/** Of a mail that names no notification. */
export const withoutNotification: Sendable = {
  ...{ id: '', name: '', templateId: '', utm: {}, integrationId: '' },
  ...{ isTracked: false, sendToBounced: false, ttlSeconds: undefined },
  tags: [],
};

type NotificationRow = {
  id: string;
  name: string;
  channels: { email?: { template_id?: string } };
  tracking_settings: Record<string, unknown>;
  send_to_bounced: boolean;
  integration_id: string;
  ttl_seconds: number | null;
  tags: string[] | null;
};

/** A change in another process applies after so long; one in this process at once. */
const keepMs = 1_000;
const entriesMax = 10_000;
const utmKeys = ['source', 'medium', 'campaign', 'term', 'content'];

/** Notifications as they are sent, kept for a moment. */
export class SendableNotifications {
  readonly #store: Store;
  readonly #known = new LruMap<Sendable>({ max: entriesMax, ttl: keepMs });

  constructor(store: Store) {
    this.#store = store;
  }

  /** Finds those that exist, by id. */
  async find(workspaceId: string, ids: readonly string[]): Promise<Map<string, Sendable>> {
    const found = new Map<string, Sendable>();
    const missing: string[] = [];
    for (const id of new Set(ids)) {
      const known = this.#known.get(keyOf(workspaceId, id));
      if (known) found.set(id, known);
      else missing.push(id);
    }
    for (const sendable of await this.#read(workspaceId, missing)) {
      found.set(sendable.id, sendable);
      this.#known.set(keyOf(workspaceId, sendable.id), sendable);
    }
    return found;
  }

  /** It has changed or is gone. */
  forget(workspaceId: string, id: string): void {
    this.#known.delete(keyOf(workspaceId, id));
  }

  async #read(workspaceId: string, ids: readonly string[]): Promise<Sendable[]> {
    if (ids.length === 0) return [];
    const rows = await query<NotificationRow>(
      this.#store.fork(),
      `select id, name, channels, tracking_settings, send_to_bounced, integration_id, ttl_seconds, tags
       from notifications
       where workspace_id = $1 and id = any($2::text[])`,
      [workspaceId, ids],
    );
    return rows.map(toSendable);
  }
}

const keyOf = (workspaceId: string, id: string) => `${workspaceId} ${id}`;

function toSendable(row: NotificationRow): Sendable {
  const { id, name, channels, tracking_settings, send_to_bounced: sendToBounced } = row;
  const templateId = channels.email?.template_id ?? '';
  const given = utmKeys.flatMap((key): [string, string][] => {
    const value = tracking_settings[`utm_${key}`];
    return typeof value === 'string' && value !== '' ? [[key, value]] : [];
  });
  const utm = given.length > 0 ? { content: templateId, ...Object.fromEntries(given) } : {};
  const isTracked = tracking_settings.enable_tracking !== false;
  const ttlSeconds = row.ttl_seconds ?? undefined;
  const { integration_id: integrationId } = row;
  const settings = { isTracked, sendToBounced, integrationId, ttlSeconds, tags: row.tags ?? [] };
  return { id, name, templateId, utm, ...settings };
}
