import { expect, test } from '@jest/globals';
import { signRequest } from './sign.ts';

const given = {
  ...{ method: 'GET', url: 'https://example.amazonaws.com/', headers: {}, body: '' },
  ...{ service: 'service', region: 'us-east-1', accessKey: 'AKIDEXAMPLE' },
  secretKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  now: new Date('2015-08-30T12:36:00Z'),
};
const signatureOf = (over: Partial<typeof given>) =>
  signRequest({ ...given, ...over }).authorization?.split('Signature=')[1];

// The test suite that AWS publishes for Signature Version 4.
test.each<[string, object, string]>([
  ['get-vanilla', {}, '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  [
    'get-vanilla-query-order-key-case',
    { url: 'https://example.amazonaws.com/?Param2=value2&Param1=value1' },
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  [
    'post-vanilla',
    { method: 'POST' },
    '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  ],
  [
    'get-header-value-trim',
    { headers: { 'my-header1': ' value1', 'my-header2': ' "a   b   c"' } },
    'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
  ],
  [
    'post-x-www-form-urlencoded',
    {
      ...{ method: 'POST', body: 'Param1=value1' },
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    },
    'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  ],
])('%s of the published vectors has its signature', (_, over, signature) => {
  expect(signatureOf(over)).toBe(signature);
});

test('the scope and the time are in the headers, beside those that were given', () => {
  expect(signRequest({ ...given, headers: { accept: 'application/json' } })).toMatchObject({
    accept: 'application/json',
    'x-amz-date': '20150830T123600Z',
    authorization: expect.stringContaining(
      'Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=accept;host;x-amz-date,',
    ),
  });
});
