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
  UpdateContactListStatus: 'data',
  RemoveContactFromList: 'data',
  Subscribe: 'data, of anybody',
  SendTransactional: 'a message, which the history has',
  SendTransactionalBatch: 'messages, which the history has',
  CancelTransactional: 'a message, which the history has',
  RetryMessage: 'a message, which the history has',
  SendToIndividual: 'a message, which the history has',
  TestTemplate: 'a message, which the history has',
  TestRecipientFeed: 'stores nothing',
  RefreshGlobalFeed: 'data, fetched again',
  PlaceHold: 'the whole installation, by its operator; the log of messages has it',
  ReleaseHold: 'the whole installation, by its operator; the log of messages has it',
  TestWebhookSubscription: 'a delivery, which the list of deliveries has',
  UnsubscribeByLink: 'data, by a recipient',
  ConfirmByLink: 'data, by a recipient',
  UpdateByLink: 'data, by a recipient',
  SignIn: 'asks for a code, which opens nothing',
  DeleteWorkspace: 'the log is erased; the deletion keeps who and when',
};

test('every operation that changes something is audited, or has a reason not to be', () => {
  const silent = methods.filter((method) => changes(method) && !isAudited(method));
  expect(silent.map(({ name }) => name).toSorted()).toEqual(Object.keys(unaudited).toSorted());
});

const root = resolve(import.meta.dirname, '../..');
const fileOf = (name: string) =>
  name.replace(/([a-z0-9])([A-Z])|([A-Z]+)([A-Z][a-z])/g, '$1$3-$2$4').toLowerCase();

test('audited operations record their change in its own transaction', () => {
  const bare = methods.filter(isAudited).filter(({ name }) => {
    const [file = ''] = globSync(`services/*/operations/${fileOf(name)}.ts`, { cwd: root });
    const text = readFileSync(join(root, file), 'utf8');
    return !/recordChange\(|auditedTransaction\(|writeForMember\(|\bonce\(|change\w+\([\s\S]*call,?\s*\)/.test(
      text,
    );
  });
  // A read has no transaction: a process that is killed right after it may lose the entry.
  expect(bare.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['ExportContact', 'ExportMessages']),
  );
  expect(bare).toHaveLength(2);
});
