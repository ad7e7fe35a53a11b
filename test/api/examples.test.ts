import { expect, test } from '@jest/globals';
import { isRequired, limitsOf } from '../../gateway/openapi/limits.ts';
import { borrowedStack } from '../stack/shared.ts';
import { exampleOf, exampleSender, inOrder } from './examples.ts';

/**
 * Every example of the reference, sent as it is printed to a workspace in which the earlier ones
 * have been sent.
 */

const stack = borrowedStack();

/** Codes, signatures and invitations cannot be written down in advance. */
const secrets = new Set(['/api/user.rootSignin', '/api/user.verifyCode']);

test('every example is answered with success, or with the 404 of what is not there', async () => {
  const send = await exampleSender(stack);
  const wrong: string[] = [];
  for (const route of inOrder) {
    const { status, error } = await send(route, exampleOf(route));
    const isAnswered =
      status < 300 || status === 404 || (secrets.has(route.path) && status === 401);
    if (!isAnswered) wrong.push(`${route.path}: ${status} ${error}`);
  }
  expect(wrong).toEqual([]);
}, 120_000);

/** Errors about fields of which another one would do. */
const alternatives =
  / or .* is required|no integration of the settings has|for channel 'email'|at least one event type is required/;

test('every field that an operation demands is marked as required', async () => {
  const send = await exampleSender(stack);
  const unmarked: string[] = [];
  for (const route of inOrder) {
    const example = exampleOf(route);
    for (const path of Object.keys(example)) {
      const field = route.method.input.fields.find(({ name }) => name === path);
      if (!field || isRequired(field, limitsOf(field))) continue;
      const { [path]: _, ...rest } = example;
      const told = await send(route, rest);
      const isDemanded = told.status === 400 && !alternatives.test(told.error);
      if (isDemanded) unmarked.push(`${route.path} ${path}: ${told.error}`);
    }
  }
  expect(unmarked).toEqual([]);
}, 120_000);
