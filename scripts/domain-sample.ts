import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  DomainTestState,
  GetNewestDomainTestResponseSchema,
} from '#gen/postrider/messages/v1/domain_tests_pb.ts';
import {
  DomainKeyState,
  DomainRecordPurpose,
  DomainRecordState,
  DomainState,
  GetDomainPageResponseSchema,
} from '#gen/postrider/workspaces/v1/domains_pb.ts';

const name = 'news.example.com';
const checkedAtMs = Date.UTC(2026, 10, 26, 12);
const publicKey = 'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA'.padEnd(392, 'k2Xv7Q');
const { OK, MISSING, WRONG, CONFLICT, UNREACHABLE } = DomainRecordState;
const { OWNERSHIP, DKIM, RETURN_PATH, SPF, DMARC, TRACKING } = DomainRecordPurpose;

/** A page with a record in each state. */
export function sampleDomain() {
  const at = (seconds: number) => timestampFromMs(checkedAtMs + seconds * 1_000);
  const records = [
    {
      ...{ purpose: OWNERSHIP, type: 'TXT', host: `_postrider.${name}`, required: true },
      ...{ value: 'postrider-domain=0fa83c', found: ['postrider-domain=0fa83c'], state: OK },
      explanation: 'Nothing is to be done.',
    },
    {
      ...{ purpose: DKIM, type: 'TXT', host: `pr5f3a90c1._domainkey.${name}`, required: true },
      ...{
        value: `v=DKIM1; k=rsa; p=${publicKey}`,
        found: ['v=DKIM1; k=rsa; p=abc'],
        state: WRONG,
      },
      explanation: 'Another value stands at this host: replace it by the wanted one.',
    },
    {
      ...{ purpose: RETURN_PATH, type: 'CNAME', host: `bounces.${name}`, required: true },
      ...{ value: 'acme.bounces.example.net', found: [], state: MISSING },
      explanation: 'Add this CNAME record; until it is seen everywhere it may take hours.',
    },
    {
      ...{ purpose: SPF, type: 'TXT', host: `bounces.${name}`, required: false },
      ...{ value: 'v=spf1 … -all', found: ['v=spf1 -all', 'v=spf1 a -all'], state: CONFLICT },
      explanation: 'Two SPF records stand at this host, and receivers take neither: keep one.',
    },
    {
      ...{ purpose: DMARC, type: 'TXT', host: `_dmarc.${name}`, required: false },
      ...{ value: 'v=DMARC1; p=none', found: ['v=DMARC1; p=none'], state: OK },
      explanation: `Mails of ${name} align with it.`,
    },
    {
      ...{ purpose: TRACKING, type: 'CNAME', host: `links.${name}`, required: true },
      ...{ value: 'mail.example.net', found: [], state: UNREACHABLE, knownState: OK },
      explanation: 'No DNS server answers for this host now.',
    },
  ];
  const keyOf = (selector: string, state: DomainKeyState, since: number) => ({
    ...{ selector, algorithm: 'rsa', state, since: at(since) },
  });
  return create(GetDomainPageResponseSchema, {
    domain: {
      ...{ name, state: DomainState.BROKEN, dkimAlgorithms: ['rsa'] },
      records: records.map((record) => ({ knownState: record.state, ...record })),
      zone: records
        .filter(({ purpose }) => purpose !== SPF)
        .map(({ host, type, value }) => {
          return `${host}. IN ${type} ${type === 'TXT' ? `"${value}"` : `${value}.`}\n`;
        })
        .join(''),
      keys: [
        keyOf('pr5f3a90c1', DomainKeyState.SIGNING, -86_400),
        keyOf('pr11223344', DomainKeyState.WAITING, -300),
      ],
      ...{ checkedAt: at(0), nextCheckAt: at(300), failingSince: at(-7_200) },
    },
    workspaceName: 'Acme Gazette',
    expiresAt: at(30 * 86_400),
  });
}

/** A mail that has arrived, of which one signature fails. */
export function sampleTest() {
  const keyOf = (selector: string, algorithm: string) => ({ domain: name, selector, algorithm });
  return create(GetNewestDomainTestResponseSchema, {
    isOffered: true,
    test: {
      ...{ name, sender: `hello@${name}`, state: DomainTestState.ARRIVED },
      createdAt: timestampFromMs(checkedAtMs),
      result: {
        spf: { result: 'pass', domain: `bounces.${name}` },
        dkim: [
          { ...keyOf('pr5f3a90c1', 'rsa-sha256'), result: 'pass' },
          {
            ...keyOf('pr11223344', 'ed25519-sha256'),
            ...{ result: 'neutral', reason: 'body hash did not verify' },
          },
        ],
        dmarc: { result: 'pass', policy: 'quarantine', isSpfAligned: true, isDkimAligned: true },
        oneClick: { isRight: true, isSigned: true },
        ...{ sizeBytes: 3_412, isEncrypted: true, spamScore: 0.4 },
      },
    },
  });
}
