/** Its event is a callback of about 1 KB. */
export function contact(name: string, number: number): object {
  return {
    email: `${name}${number}@example.com`,
    external_id: `${name}-${number}`,
    timezone: 'Europe/Paris',
    language: 'fr',
    first_name: `Person ${number}`,
    last_name: 'Müller',
    phone: '+33 1 23 45 67 89',
    address_line_1: `${number} Station Road`,
    country: 'FR',
    postcode: '75001',
    job_title: 'Night rider',
    custom_string_1: 'Ashford',
    custom_number_1: number,
    custom_datetime_1: '2026-01-01T12:00:00Z',
    custom_json_1: { plan: 'gold', seats: number % 10, tags: ['a', 'b'] },
  };
}
