import { parseArgs } from 'node:util';
import { givenBroadcast } from '../stack/given.ts';
import { ownerToken } from '../stack/owner.ts';
import { startStack, type TestStack } from '../stack.ts';
import { installSchemathesis, isClean } from './schemathesis.ts';

/**
 * `npm run contract -- --seed 1`: thousands of requests generated from /openapi.json, good and bad,
 * against a stack of its own. Exits 0 only if the document promises every answer and no bad request
 * was accepted.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', multiple: true, default: ['1'] },
    examples: { type: 'string', default: '50' },
  },
});

const program = installSchemathesis();
const stack = await startStack({ replicas: 1 });
try {
  const run = {
    program,
    folder: stack.folder,
    baseUrl: stack.settings.BASE_URL ?? '',
    token: await ownerToken(stack.settings),
    examples: Number(values.examples),
    known: await knownIds(stack),
  };
  const dirty = values.seed.filter((seed) => !isClean({ ...run, seed: Number(seed) }));
  console.log(dirty.length === 0 ? '\nClean.' : `\nNot clean with seed ${dirty.join(', ')}.`);
  process.exitCode = dirty.length === 0 ? 0 : 1;
} finally {
  await stack.stop();
}

/** Existing resources: generated requests alone would never get past a 404. */
async function knownIds(stack: TestStack): Promise<Record<string, string>> {
  const { id, listId, templateId, emails } = await givenBroadcast(stack, 3);
  return {
    workspace_id: stack.workspaceId,
    'workspaces.id': stack.workspaceId,
    email: emails[0] ?? '',
    list: listId,
    list_id: listId,
    'lists.id': listId,
    template_id: templateId,
    'templates.id': templateId,
    broadcast_id: id,
    'broadcasts.id': id,
  };
}
