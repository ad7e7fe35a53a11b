import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { getOption } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import { operation } from '#gen/postrider/options/v1/options_pb.ts';
import { methods, ruleOf } from './operations.ts';

const isAudited = (method: (typeof methods)[number]) =>
  getOption(method, operation).audit !== undefined;

/** Whether people or keys can change something by it. */
function changes(method: (typeof methods)[number]): boolean {
  const rule = ruleOf(method);
  if (rule.case === 'member') return rule.value.write;
  return rule.case !== 'service' && method.idempotency !== 1;
}

/** Operations that write and are not in the audit log, with the reason. */
const unaudited: Record<string, string> = {
  UpsertContact: 'data',
  ImportContacts: 'data',
  UpsertCustomEvent: 'data',
  ImportCustomEvents: 'data',
  SubscribeContact: 'data',
  Subscribe: 'data, of anybody',
  SendTransactional: 'a message, which the history has',
  SendTransactionalBatch: 'messages, which the history has',
  CancelTransactional: 'a message, which the history has',
  RetryMessage: 'a message, which the history has',
  UnsubscribeByLink: 'data, by a recipient',
  ConfirmByLink: 'data, by a recipient',
  UpdateByLink: 'data, by a recipient',
  TakeWebhookEvents: 'takes from a listener, whose start is audited',
  TriggerWebhookEvent: 'a made-up event, for listeners only',
  VerifyDomain: 'looks at DNS, as jobs do',
  SignIn: 'asks for a code, which opens nothing',
  DeleteWorkspace: 'the log is erased; the deletion keeps who and when',
};

test('every operation that changes something is audited, or has a reason not to be', () => {
  const silent = methods.filter((method) => changes(method) && !isAudited(method));
  expect(silent.map(({ name }) => name).toSorted()).toEqual(Object.keys(unaudited).toSorted());
});

/**
 * Operations that list what belongs to people by pages and are not in the audit log, with the
 * reason.
 */
const unauditedLists: Record<string, string> = {
  ListTimeline: 'of one person',
  ListAuditLog: 'the log itself, of members',
};

/**
 * Whether the elements of a page may have the address of a person, or are payloads about people.
 */
function listsPeople(method: (typeof methods)[number]): boolean {
  const hasPages = method.input.fields.some(({ name }) => name === 'cursor' || name === 'offset');
  const isOfPeople = method.output.fields.some((field) => {
    if (field.fieldKind !== 'list') return false;
    if (field.name === 'emails') return true;
    const texts = field.message?.fields.filter((each) => each.fieldKind === 'scalar') ?? [];
    return texts.some(({ name }) => /^(contact_)?email$|^client_address$|^payload/.test(name));
  });
  return hasPages && isOfPeople && ruleOf(method).case !== 'service';
}

test('every operation that lists people by pages is audited, or has a reason not to be', () => {
  const silent = methods.filter((method) => listsPeople(method) && !isAudited(method));
  expect(silent.map(({ name }) => name).toSorted()).toEqual(Object.keys(unauditedLists).toSorted());
});

/**
 * They send or read, outside of any transaction: a process that is killed right after it may lose
 * the entry.
 */
const recordedLate = [
  'ExportContact',
  'ExportList',
  'ExportMessages',
  'ExportSegment',
  'ListContactListsByList',
  'ListContacts',
  'ListCustomEvents',
  'ListInboundReports',
  'ListMessages',
  'ListSegmentContacts',
  'ListSuppressions',
  'ListWebhookDeliveries',
  'RefreshGlobalFeed',
  'SendDomainTest',
  'SendToIndividual',
  'TestRecipientFeed',
  'TestTemplate',
  'TestWebhookSubscription',
];

const root = resolve(import.meta.dirname, '../..');
const fileOf = (name: string) =>
  name.replace(/([a-z0-9])([A-Z])|([A-Z]+)([A-Z][a-z])/g, '$1$3-$2$4').toLowerCase();

test('audited operations record their change in its own transaction', () => {
  const bare = methods.filter(isAudited).filter(({ name, parent }) => {
    const [, service] = parent.file.name.split('/');
    const [file = ''] = globSync(`services/${service}/operations/${fileOf(name)}.ts`, {
      cwd: root,
    });
    const text = readFileSync(join(root, file), 'utf8');
    return !/recordChange\(|audited(?:Transaction|Together)\(|writeForMember\(|\bonce\(|change\w+\([\s\S]*call,?\s*\)/.test(
      text,
    );
  });
  expect(bare.map(({ name }) => name).toSorted()).toEqual(recordedLate);
});
