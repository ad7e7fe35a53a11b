import { unique } from '../stack/given.ts';
import { bodyOf, flood, type Running } from './flood.ts';
import { act, givenSendable, type Tenant } from './tenant.ts';

/** Never answered by the DNS server of the bench. */
export const silentZone = 'tarpit.example';

const slowName = () => `${unique('a')}.${silentZone}`;

/** Contacts with all custom fields full, in imports one after the other. */
export function largeContacts(tenant: Tenant): Running {
  const json = { text: 'x'.repeat(30_000) };
  const body = (prefix: string) =>
    bodyOf({
      workspace_id: tenant.workspaceId,
      contacts: Array.from({ length: 100 }, (_, at) => ({
        email: `${prefix}.${at}@example.com`,
        custom_json_1: json,
        custom_json_2: json,
        custom_json_3: json,
      })),
    });
  const bodies = Array.from({ length: 4 }, (_, at) => body(`large${at}`));
  return flood(tenant, {
    connections: 8,
    request: (number) => ({ path: '/api/contacts.import', body: bodies[number % bodies.length] }),
  });
}

/** Imports that each make events for 100 webhooks and changes of 50 segments. */
export async function eventStorm(tenant: Tenant): Promise<Running> {
  const { workspaceId } = tenant;
  for (let each = 0; each < 100; each += 1) {
    await act(tenant, 'webhookSubscriptions.create', {
      name: `Hook ${each}`,
      // Nobody listens there.
      url: `http://127.0.0.1:9/${each}`,
      event_types: ['contact.created', 'contact.updated'],
    });
  }
  for (let each = 0; each < 50; each += 1) {
    const filters = [
      {
        field_name: 'first_name',
        field_type: 'string',
        operator: 'contains',
        string_values: [`${each}`],
      },
    ];
    const leaf = { source: 'contacts', contact: { filters } };
    await act(tenant, 'segments.create', {
      id: `s${each}`,
      name: `Segment ${each}`,
      color: '#000000',
      timezone: 'UTC',
      tree: { kind: 'leaf', leaf },
    });
  }
  const emails = Array.from({ length: 1_000 }, (_, at) => `storm.${at}@example.com`);
  return flood(tenant, {
    connections: 4,
    request: (number) => ({
      path: '/api/contacts.import',
      body: bodyOf({
        workspace_id: workspaceId,
        contacts: emails.map((email) => ({ email, first_name: `Name ${number}` })),
      }),
    }),
  });
}

/** Broadcasts to 5,000 people each, all sent at once. */
export async function manyBroadcasts(tenant: Tenant, count: number): Promise<Running> {
  const { list, template } = await givenSendable(tenant, 5_000);
  const ids: string[] = [];
  for (let each = 0; each < count; each += 1) {
    const { broadcast } = (await act(tenant, 'broadcasts.create', {
      name: `Broadcast ${each}`,
      audience: { list },
      test_settings: { enabled: false, variations: [{ template_id: template }] },
    })) as { broadcast: { id: string } };
    ids.push(broadcast.id);
  }
  const bodies = ids.map((id) => bodyOf({ workspace_id: tenant.workspaceId, id, send_now: true }));
  return flood(tenant, {
    connections: count,
    requestsMax: count,
    request: (number) => ({ path: '/api/broadcasts.schedule', body: bodies[number - 1] }),
  });
}

/** Webhooks to names that are never answered, each with events to deliver. */
export async function webhooksToSlowNames(tenant: Tenant): Promise<Running> {
  for (let each = 0; each < 20; each += 1) {
    await act(tenant, 'webhookSubscriptions.create', {
      name: `Hook ${each}`,
      url: `http://${slowName()}/`,
      event_types: ['contact.created', 'contact.updated'],
    });
  }
  return flood(tenant, {
    connections: 4,
    request: (number) => ({
      path: '/api/contacts.upsert',
      body: bodyOf({
        workspace_id: tenant.workspaceId,
        contact: { email: `slow.${number % 100}@example.com`, first_name: `Name ${number}` },
      }),
    }),
  });
}

/** Tries of feeds at names that are never answered. */
export async function feedsFromSlowNames(tenant: Tenant): Promise<Running> {
  const { list, template } = await givenSendable(tenant, 1);
  const { broadcast } = (await act(tenant, 'broadcasts.create', {
    name: 'Feed',
    audience: { list },
    test_settings: { enabled: false, variations: [{ template_id: template }] },
    data_feed: { global_feed: { enabled: true, url: `https://${slowName()}/` } },
  })) as { broadcast: { id: string } };
  const body = () =>
    bodyOf({
      workspace_id: tenant.workspaceId,
      broadcast_id: broadcast.id,
      url: `https://${slowName()}/`,
    });
  return flood(tenant, {
    connections: 20,
    request: () => ({ path: '/api/broadcasts.refreshGlobalFeed', body: body() }),
  });
}
