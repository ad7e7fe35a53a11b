const email = 'test@example.com';

/** Data of a test, in the shape that events of the type have. */
export function madeUpData(type: string, now: Date): object {
  const kind = type.split('.', 1)[0] ?? '';
  const at = now.toISOString();
  switch (kind) {
    case 'contact':
      return { contact: contactAt(at) };
    case 'list':
      return {
        email,
        list_id: 'test-list',
        list_name: 'Test list',
        status: listStatuses[type] ?? 'active',
        previous_status: previousStatuses[type] ?? null,
        event_timestamp: at,
      };
    case 'segment':
      return {
        email,
        segment_id: 'test-segment',
        segment_name: 'Test segment',
        event_timestamp: at,
      };
    case 'email':
      return {
        email,
        message_id: '00000000-0000-4000-8000-000000000000',
        template_id: 'test-template',
        broadcast_id: 'test-broadcast',
        list_id: 'test-list',
        channel: 'email',
        event_timestamp: at,
      };
    case 'custom_event':
      return { custom_event: customEventAt(at, type.endsWith('.deleted')) };
    default:
      return { message: 'This is a test of a webhook', event_type: type, created_at: at };
  }
}

const listStatuses: Record<string, string> = {
  'list.unsubscribed': 'unsubscribed',
  'list.bounced': 'bounced',
  'list.complained': 'complained',
  'list.pending': 'pending',
};

const previousStatuses: Record<string, string> = {
  'list.unsubscribed': 'active',
  'list.confirmed': 'pending',
  'list.resubscribed': 'unsubscribed',
  'list.bounced': 'active',
  'list.complained': 'active',
  'list.removed': 'active',
};

const five = (kind: string) =>
  Object.fromEntries([1, 2, 3, 4, 5].map((number) => [`custom_${kind}_${number}`, null]));

function contactAt(at: string): object {
  return {
    email,
    external_id: 'test-contact',
    timezone: 'Europe/Paris',
    language: 'en',
    first_name: 'Test',
    last_name: 'User',
    full_name: 'Test User',
    phone: null,
    address_line_1: null,
    address_line_2: null,
    country: null,
    postcode: null,
    state: null,
    job_title: null,
    ...five('string'),
    ...five('number'),
    ...five('datetime'),
    ...five('json'),
    created_at: at,
    updated_at: at,
    db_created_at: at,
    db_updated_at: at,
  };
}

function customEventAt(at: string, isDeleted: boolean): object {
  return {
    event_name: 'orders/fulfilled',
    external_id: 'test-order',
    email,
    properties: { product_id: 'test-product', currency: 'EUR' },
    occurred_at: at,
    source: 'api',
    integration_id: null,
    goal_name: 'Purchase',
    goal_type: 'purchase',
    goal_value: 99.99,
    deleted_at: isDeleted ? at : null,
    created_at: at,
    updated_at: at,
  };
}
