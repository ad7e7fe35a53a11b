import { create, type DescMessage, fromBinary, toBinary } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { BroadcastSchema, BroadcastStatus } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import {
  ContactListSchema,
  ContactSchema,
  type ImportContactsRequest,
  ImportContactsRequestSchema,
  ImportContactsResponseSchema,
  MembershipStatus,
  type UpsertContactRequest,
  UpsertContactRequestSchema,
} from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { ListListsResponseSchema } from '#gen/postrider/contacts/v1/lists_pb.ts';
import { SendTransactionalRequestSchema } from '#gen/postrider/messages/v1/transactional_pb.ts';
import {
  type CreateTemplateRequest,
  CreateTemplateRequestSchema,
  TemplateSchema,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import { InviteMemberRequestSchema } from '#gen/postrider/workspaces/v1/members_pb.ts';
import {
  CreateAPIKeyRequestSchema,
  CreateWorkspaceRequestSchema,
  ListWorkspacesResponseSchema,
  SignInRootRequestSchema,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { parseJson } from '#lib/json/text.ts';
import { decoderOf, turnsDecoderOf } from './decode.ts';
import { bodyFieldEncoder, encoderOf } from './encode.ts';
import { FieldError } from './field-error.ts';

function decode(desc: DescMessage, text: string) {
  return decoderOf(desc)(parseJson(Buffer.from(text)), 1);
}

function decodeContact(fields: string) {
  const text = `{"contact":{"email":"a@b.co"${fields && `,${fields}`}}}`;
  return (decode(UpsertContactRequestSchema, text) as UpsertContactRequest).contact;
}

function problem(desc: DescMessage, text: string): string {
  try {
    decode(desc, text);
  } catch (error) {
    if (error instanceof FieldError) return error.text;
    throw error;
  }
  return 'no problem';
}

const contactProblem = (fields: string) =>
  problem(UpsertContactRequestSchema, `{"contact":{${fields}}}`);

function print(desc: DescMessage, value: object): unknown {
  return JSON.parse(JSON.stringify(encoderOf(desc)(create(desc, value as never))));
}

describe('a request', () => {
  test('may leave out a list that must not be empty', () => {
    const channels = (json: string) =>
      problem(SendTransactionalRequestSchema, `{"notification":{"id":"receipt"${json}}}`);
    expect(channels(',"channels":[]')).toBe('notification.channels: must not be empty');
    expect(channels(',"channels":["email"]')).toBe('no problem');
    expect(channels('')).toBe('no problem');
  });

  test('is read by snake_case names only', () => {
    const contact = decodeContact('"first_name":"Ada","lastName":"Lovelace"');
    expect(contact?.firstName).toBe('Ada');
    expect(contact?.lastName).toBeUndefined();
  });

  test('may have unknown fields, also ones named like properties of objects', () => {
    const contact = decodeContact('"with_contact_lists":1,"__proto__":{"email":1},"constructor":2');
    expect(contact?.email).toBe('a@b.co');
    expect(({} as { email?: unknown }).email).toBeUndefined();
  });

  test.each([
    ['"first_name":7', 'contact.first_name: must be a string'],
    ['"custom_number_1":"7"', 'contact.custom_number_1: must be a number'],
    ['"custom_number_1":1e400', 'contact.custom_number_1: must be a finite number'],
    [
      '"custom_number_1":12345678901234567890',
      'contact.custom_number_1: must not hold an integer beyond 9007199254740991',
    ],
    ['"first_name":12345678901234567890', 'contact.first_name: must be a string'],
    [
      '"custom_datetime_1":12345678901234567890',
      'contact.custom_datetime_1: must be an RFC 3339 time',
    ],
    ['"custom_json_1":12345678901234567890', 'contact.custom_json_1: must be an object'],
    ['"first_name":"a\\u0000b"', 'contact.first_name: must not contain NUL characters'],
    ['"first_name":"\\ud800"', 'contact.first_name: must be valid Unicode text'],
    ['"custom_datetime_1":5', 'contact.custom_datetime_1: must be an RFC 3339 time'],
    ['"custom_json_1":[]', 'contact.custom_json_1: must be an object'],
    ['"custom_json_1":{"a":["\\u0000"]}', 'contact.custom_json_1: must not contain NUL characters'],
    ['"custom_json_1":{"\\u0000":1}', 'contact.custom_json_1: must not contain NUL characters'],
    ['"custom_json_1":{"a":"\\udc00"}', 'contact.custom_json_1: must be valid Unicode text'],
    ['"custom_json_1":{"a":1e999}', 'contact.custom_json_1: must hold finite numbers only'],
    [
      '"custom_json_1":{"a":[9007199254740993]}',
      'contact.custom_json_1: must not hold an integer beyond 9007199254740991',
    ],
  ])('with %s gets an error that names the field', (fields, text) => {
    expect(contactProblem(fields)).toBe(text);
  });

  test('names the element of a list that is wrong', () => {
    const text = '{"subscribe_to_lists":["a",null]}';
    expect(problem(ImportContactsRequestSchema, text)).toBe(
      'subscribe_to_lists[1]: must be a string',
    );
    expect(problem(ImportContactsRequestSchema, '{"subscribe_to_lists":"a"}')).toBe(
      'subscribe_to_lists: must be an array',
    );
  });

  test('keeps integers up to 2^53 - 1 exactly, also in free-form objects', () => {
    const contact = decodeContact(
      '"custom_number_1":-9007199254740991,"custom_json_1":{"n":9007199254740991}',
    );
    expect(contact?.customNumber1).toBe(-9007199254740991);
    expect(contact?.customJson1).toEqual({ n: 9007199254740991 });
  });

  test('may have many digits in texts and in fractions', () => {
    const contact = decodeContact(
      '"phone":"12345678901234567890","custom_number_1":0.12345678901234567',
    );
    expect(contact?.phone).toBe('12345678901234567890');
    expect(contact?.customNumber1).toBeCloseTo(0.123456789);
  });

  test('reads 64-bit integers as numbers and never as texts', () => {
    const request = decode(SignInRootRequestSchema, '{"timestamp":1735689600}');
    expect(request).toMatchObject({ timestamp: 1735689600n });
    expect(problem(SignInRootRequestSchema, '{"timestamp":"1735689600"}')).toBe(
      'timestamp: must be an integer',
    );
    expect(problem(SignInRootRequestSchema, '{"timestamp":9007199254740993}')).toMatch(
      /^timestamp: must be between/,
    );
    expect(problem(SignInRootRequestSchema, '{"timestamp":1.5}')).toBe(
      'timestamp: must be an integer',
    );
  });

  test('keeps the names of nullable fields that were null, and reads other nulls as absent', () => {
    const contact = decodeContact('"first_name":null,"custom_json_1":null,"email_hmac":null');
    expect(contact?.nullFields?.paths).toEqual(['first_name', 'custom_json_1']);
    expect(contact?.emailHmac).toBe('');
    expect(decodeContact('')?.nullFields).toBeUndefined();
  });

  test('cannot set the fields that the gateway fills', () => {
    const contact = decodeContact('"null_fields":{"paths":["email"]},"row_error":"mine"');
    expect(contact?.nullFields).toBeUndefined();
    expect(contact?.rowError).toBe('');
  });

  test('with a long list is read as others are, and others have turns meanwhile', async () => {
    const rows = Array.from({ length: 20_000 }, (_, at) => ({
      email: `r${at}@b.co`,
      phone: `${at}`,
    }));
    const text = JSON.stringify({ contacts: rows, workspace_id: 'w', subscribe_to_lists: ['a'] });
    let hadTurn = false;
    setImmediate(() => {
      hadTurn = true;
    });
    const read = await turnsDecoderOf(ImportContactsRequestSchema)(parseJson(Buffer.from(text)));
    expect(hadTurn).toBe(true);
    expect(read).toEqual(decode(ImportContactsRequestSchema, text));
    const wrong = JSON.stringify({ subscribe_to_lists: [...Array(999).fill('a'), 7] });
    await expect(
      turnsDecoderOf(ImportContactsRequestSchema)(parseJson(Buffer.from(wrong))),
    ).rejects.toMatchObject({ text: problem(ImportContactsRequestSchema, wrong) });
  });

  test('gives a row that cannot be read its own error, and keeps its address and the other rows', () => {
    const { contacts } = decode(
      ImportContactsRequestSchema,
      `{"contacts":[{"email":"a@b.co"},{"email":"c@d.co","custom_number_1":"x"},{"email":7},null]}`,
    ) as ImportContactsRequest;
    expect(contacts.map(({ email, rowError }) => [email, rowError])).toEqual([
      ['a@b.co', ''],
      ['c@d.co', 'custom_number_1: must be a number'],
      ['', 'email: must be a string'],
      ['', 'must be an object'],
    ]);
  });

  test.each([
    ['2030-01-02T03:04:05Z', '2030-01-02T03:04:05Z'],
    ['2030-01-02T03:04:05.123456+02:00', '2030-01-02T01:04:05.123456Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['1969-12-31T23:59:59.5Z', '1969-12-31T23:59:59.500Z'],
  ])('reads the time %s and prints it as %s', (given, printed) => {
    const contact = decodeContact(`"custom_datetime_1":"${given}"`);
    expect(print(ContactSchema, { customDatetime1: contact?.customDatetime1 })).toMatchObject({
      custom_datetime_1: printed,
    });
  });

  test.each([
    '2030-02-30T00:00:00Z',
    '2030-13-01T00:00:00Z',
    '2030-01-02',
    '2030-01-02T03:04:05',
    '2030-01-02T24:00:00Z',
    '0000-01-01T00:00:00Z',
    '+2030-01-02T03:04:05Z',
    'tomorrow',
  ])('refuses %s as a time', (text) => {
    expect(contactProblem(`"custom_datetime_1":"${text}"`)).toMatch(/RFC 3339/);
  });

  test('accepts 62 levels in a free-form object and refuses 20,000', () => {
    const nested = (levels: number) =>
      `"custom_json_1":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    expect(decodeContact(nested(62))).toBeDefined();
    expect(contactProblem(nested(20_000))).toBe(
      'contact.custom_json_1: must not be nested deeper than 64 levels',
    );
  });

  test('keeps a key named __proto__ through the wire', () => {
    const request = decode(
      UpsertContactRequestSchema,
      '{"contact":{"custom_json_1":{"__proto__":{"a":1},"b":2}}}',
    );
    const arrived = fromBinary(
      UpsertContactRequestSchema,
      toBinary(UpsertContactRequestSchema, request as UpsertContactRequest),
    );
    expect(Object.keys(arrived.contact?.customJson1 ?? {})).toEqual(['__proto__', 'b']);
    expect(Object.getPrototypeOf(arrived.contact?.customJson1)).toBe(Object.prototype);
  });

  test.each([
    ['', false],
    [',"permissions":null', false],
    [',"permissions":{"lists":{"read":true}}', false],
    [',"permissions":{}', true],
  ])('knows an empty map from an absent one where that matters: %p', (fields, isEmpty) => {
    for (const desc of [CreateAPIKeyRequestSchema, InviteMemberRequestSchema]) {
      expect(decode(desc, `{"workspace_id":"w1"${fields}}`)).toHaveProperty(
        'noPermissions',
        isEmpty,
      );
    }
    const inJson = decode(CreateAPIKeyRequestSchema, '{"no_permissions":true}');
    expect(inJson).toHaveProperty('noPermissions', false);
  });

  test('reads maps with any key, and names only plain ones in errors', () => {
    const request = decode(
      CreateTemplateRequestSchema,
      '{"translations":{"de":{"email":{"subject":"Hallo"}},"__proto__":{}}}',
    ) as CreateTemplateRequest;
    expect(Object.keys(request.translations)).toEqual(['de', '__proto__']);
    expect(request.translations.de?.email?.subject).toBe('Hallo');
    expect(print(TemplateSchema, { translations: request.translations })).toMatchObject({
      translations: { de: { email: { subject: 'Hallo' } } },
    });
    expect(problem(CreateTemplateRequestSchema, '{"translations":{"de":5}}')).toBe(
      'translations.de: must be an object',
    );
    expect(problem(CreateTemplateRequestSchema, '{"translations":{"a@b.co":5}}')).toBe(
      'translations: must be an object',
    );
  });

  test('names the field in a nested message', () => {
    expect(problem(CreateWorkspaceRequestSchema, '{"settings":5}')).toBe(
      'settings: must be an object',
    );
  });
});

describe('an answer', () => {
  test('has null for absent nullable fields and omits other absent ones', () => {
    const json = print(ContactSchema, { email: 'a@b.co', firstName: '' });
    expect(json).toMatchObject({
      email: 'a@b.co',
      first_name: '',
      last_name: null,
      custom_json_5: null,
    });
    expect(json).not.toHaveProperty('created_at');
  });

  test('always has arrays and plain scalars', () => {
    expect(print(ListListsResponseSchema, {})).toEqual({ lists: [] });
    expect(print(ListListsResponseSchema, { lists: [{ id: 'a' }] })).toEqual({
      lists: [{ id: 'a', name: '', is_double_optin: false, is_public: false, description: '' }],
    });
    expect(print(ImportContactsResponseSchema, {})).toEqual({ operations: [], error: null });
  });

  test('has enums as lower-case words without their prefix', () => {
    const json = print(ContactListSchema, { status: MembershipStatus.UNSUBSCRIBED });
    expect(json).toMatchObject({ status: 'unsubscribed', deleted_at: null });
    expect(print(BroadcastSchema, { status: BroadcastStatus.WINNER_SELECTED })).toMatchObject({
      status: 'winner_selected',
    });
  });

  test('has times in UTC with the digits that they have', () => {
    const createdAt = timestampFromDate(new Date('2030-01-02T03:04:05.120Z'));
    expect(print(ContactSchema, { createdAt })).toMatchObject({
      created_at: '2030-01-02T03:04:05.120Z',
    });
  });

  test('is a single field if the contract says so, also an empty array', () => {
    const encode = bodyFieldEncoder(ListWorkspacesResponseSchema, 'workspaces');
    expect(encode(create(ListWorkspacesResponseSchema))).toEqual([]);
    expect(
      encode(create(ListWorkspacesResponseSchema, { workspaces: [{ id: 'w' }] })),
    ).toMatchObject([{ id: 'w' }]);
  });
});
