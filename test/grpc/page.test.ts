import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { good, unique } from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';
import { askByReflection } from './stock-client.ts';

const stack = borrowedStack();
beforeAll(async () => {
  const contact = { email: `${unique('readme')}@example.com` };
  good(await stack.call('contacts.upsert', { workspace_id: stack.workspaceId, contact }));
}, 60_000);

/** The lines of the page on gRPC that begin with `grpcurl`, split into arguments by a shell. */
function readLines(): string[][] {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/reference/grpc.md'), 'utf8');
  const [, block = ''] = /```sh\n(grpcurl [^`]+)```/.exec(page) ?? [];
  const print = String.raw`grpcurl() { printf '%s\0' "$@"; printf '\n'; }`;
  const printed = execFileSync('sh', ['-ec', `${print}\n${block}`], {
    env: { ...process.env, ...stack.settings },
    encoding: 'utf8',
  });
  const lines = printed.trimEnd().split('\n');
  return lines.map((line) => line.split('\0').slice(0, -1));
}

const env = { ...process.env, PATH: `${process.env.PATH}:${join(homedir(), 'go/bin')}` };
const hasGrpcurl = spawnSync('grpcurl', ['-version'], { env }).status === 0;

type Client = (args: string[]) => Promise<string>;

const stock: [string, Client] = ['a stock gRPC client', askByReflection];
const real: [string, Client] = [
  'grpcurl',
  async (args) => execFileSync('grpcurl', args, { env, encoding: 'utf8' }),
];

test.each(hasGrpcurl ? [stock, real] : [stock])(
  'the lines of docs/reference/grpc.md, run by %s, list, describe, check health and call',
  async (_, ask) => {
    const answers: string[] = [];
    for (const args of readLines()) answers.push(await ask(args));
    expect(answers).toEqual([
      expect.stringContaining('postrider.contacts.v1.ContactService\n'),
      expect.stringContaining('rpc CountContacts ( .postrider.contacts.v1.CountContactsRequest )'),
      expect.stringMatching(/"status":\s*"SERVING"/),
      expect.stringMatching(/"totalContacts":\s*"?[1-9]/),
    ]);
  },
);
