import type { MessagesWhyQuery } from '../typescript/src/made/messages.ts';
import { explainMail, explanationText } from './explain-messages.ts';
import { type Caller, type CommonOptions, callerOf, type Invocation } from './invocation.ts';
import type { CliOperation } from './operation.ts';
import { textForPeople } from './output.ts';
import { requestOf } from './request.ts';
import { write } from './terminal.ts';

/** Its answer is in words, and the command adds what else holds mail back. */
const whyPath = '/api/messages.why';

export type CallOptions = CommonOptions & {
  data?: string;
  idempotencyKey?: string;
  flags: Record<string, string | string[] | true | undefined>;
};

/** Calls an operation and prints its answer: a table on a terminal, else JSON. */
export async function callOperation(
  invocation: Invocation,
  operation: CliOperation,
  { places, ...options }: CallOptions & { places: readonly string[] },
): Promise<void> {
  const { terminal } = invocation;
  const { data, flags, workspace } = options;
  const request = requestOf(operation, { data, flags, places, workspace });
  const caller = callerOf(invocation, options);
  if (operation.isStream) return printStream(invocation, caller, { operation, request });
  const { idempotencyKey } = options;
  const isForPeople = terminal.stdout.isTTY && !options.json;
  if (operation.operation.path === whyPath) {
    const query = request as MessagesWhyQuery;
    const explanation = await explainMail(caller.http, query);
    const text = isForPeople
      ? explanationText(query.email, explanation)
      : JSON.stringify(explanation);
    return write(terminal, `${text}\n`);
  }
  const answer = await caller.http.call(operation.operation, request, { idempotencyKey });
  const text = isForPeople
    ? textForPeople(answer, terminal.stdout.columns)
    : JSON.stringify(answer, null, terminal.stdout.isTTY ? 2 : undefined);
  await write(terminal, `${text}\n`);
}

async function printStream(
  { terminal }: Invocation,
  { http }: Caller,
  { operation: { operation }, request }: { operation: CliOperation; request: object },
): Promise<void> {
  const stream = await http.stream(operation, request);
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    await write(terminal, value);
  }
}
