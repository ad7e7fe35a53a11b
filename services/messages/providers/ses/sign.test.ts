import { expect, test } from '@jest/globals';
import { signed } from './sign.ts';

// The key, the time and the signatures of AWS's test suite of Signature Version 4.
const key = {
  accessKey: 'AKIDEXAMPLE',
  secretKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
  service: 'service',
};
const now = new Date('2015-08-30T12:36:00Z');
const host = 'example.amazonaws.com';

test.each([
  [
    'get-vanilla',
    'GET',
    {},
    '',
    '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  ],
  [
    'post-vanilla',
    'POST',
    {},
    '',
    '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  ],
  [
    'get-header-value-trim',
    'GET',
    { 'my-header1': ' value1', 'my-header2': ' "a   b   c"' },
    '',
    'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
  ],
  [
    'post-x-www-form-urlencoded',
    'POST',
    { 'content-type': 'application/x-www-form-urlencoded' },
    'Param1=value1',
    'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  ],
])('%s has the signature that AWS publishes', (_, method, headers, body, signature) => {
  const request = { method, path: '/', headers: { host, ...headers }, body };
  const { authorization = '' } = signed(request, key, now);
  const names = ['host', 'x-amz-date', ...Object.keys(headers)].toSorted().join(';');
  expect(authorization).toBe(
    `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${names}, Signature=${signature}`,
  );
});
