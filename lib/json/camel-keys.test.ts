import { expect, test } from '@jest/globals';
import { CreateBroadcastRequestSchema } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { ContactInputSchema } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { camelKeys } from './camel-keys.ts';

test('keys are renamed as generated code names fields, values and nested keys stay', () => {
  const row = { is_public: true, name: 'News', further_lists: [{ list_id: 1 }], email: null };
  expect(camelKeys(row)).toEqual({
    isPublic: true,
    name: 'News',
    furtherLists: [{ list_id: 1 }],
    email: null,
  });
});

test.each([ContactInputSchema, CreateBroadcastRequestSchema])(
  'the fields of $typeName get the names that they have in generated code',
  ({ fields }) => {
    const row = Object.fromEntries(fields.map(({ name, localName }) => [name, localName]));
    for (const [key, localName] of Object.entries(camelKeys(row))) expect(key).toBe(localName);
  },
);
