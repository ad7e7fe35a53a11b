import type { IncomingMessage } from 'node:http';
import type { Message } from '@bufbuild/protobuf';
import type { RequestAdmission } from '../admission/admission.ts';
import { fileOf, formOf, forms, linesOf, summaryAfter, summaryOf } from '../csv/answers.ts';
import { CsvImport, type FailedRow, Stopped } from '../csv/intake.ts';
import { recordsOf } from '../csv/records.ts';
import { type HttpAnswer, jsonAnswer, restDiscarded, streamAnswer } from '../http/answer.ts';
import type { Exchange } from '../http/exchange.ts';
import type { CsvPlan } from './csv.ts';
import { DoneInPart, failureOf } from './errors.ts';
import { readQuery } from './request.ts';
import type { Route } from './routes.ts';

type Call = (request: Message) => Promise<Message>;

/** Calls an operation for batches of the rows of a CSV file, and answers what became of them. */
export async function answerCsv(
  admission: RequestAdmission,
  { route, plan }: { route: Route; plan: CsvPlan },
  exchange: Exchange,
  call: Call,
): Promise<HttpAnswer> {
  const { request, signal, query } = exchange;
  const { options, map } = optionsOf(plan, route, query);
  const { parts, belongsTo } = admission.beginImport(exchange);
  const taken = new CsvImport({
    columns: plan.columns,
    map,
    rows: plan.rows,
    records: recordsOf(parts),
    signal,
    async call(rows, sizeBytes) {
      const end = await admission.takeBatchTurn(exchange, sizeBytes);
      try {
        return plan.answerOf(await call(plan.requestOf(options, rows)));
      } finally {
        end();
      }
    },
  });
  const keys = { identity: plan.columns.identity, unknown: plan.unknownName };
  const batches = await begun(taken.batches());
  try {
    belongsTo(plan.workspaceOf(options));
  } catch (error) {
    throw new DoneInPart(error, summaryOf(taken, keys));
  }
  const form = formOf(request.headers.accept);
  if (form === 'json') {
    const { summary, stopped } = await summaryAfter(batches, taken, keys);
    if (stopped) throw new DoneInPart(stopped.cause, summary);
    return jsonAnswer(200, summary);
  }
  const tell = ({ cause }: Stopped) => {
    const { status, text, code } = failureOf(cause, route.failureText);
    // Faults of ours are logged, and cut the connection.
    if (status >= 500) throw cause;
    return { error: text, code };
  };
  const text =
    form === 'lines' ? linesOf(batches, taken, { keys, tell }) : fileOf(batches, taken, tell);
  return streamAnswer(forms[form], withRestOf(request, text));
}

/** Waits for the first batch: a refusal of it is an answer like any other. */
async function begun(batches: AsyncGenerator<FailedRow[]>): Promise<AsyncGenerator<FailedRow[]>> {
  const first = await batches.next().catch((error: unknown) => {
    throw error instanceof Stopped ? error.cause : error;
  });
  return (async function* () {
    if (!first.done) yield first.value;
    yield* batches;
  })();
}

/** Of a file that was not read to its end the client still sends, and would not read the answer. */
async function* withRestOf(
  request: IncomingMessage,
  text: AsyncGenerator<string>,
): AsyncGenerator<string> {
  yield* text;
  await restDiscarded(request);
}

const mapPrefix = 'map.';

function optionsOf(plan: CsvPlan, route: Route, query: URLSearchParams) {
  const map = new Map<string, string>();
  const others = new URLSearchParams();
  for (const [name, value] of query) {
    if (name.startsWith(mapPrefix)) map.set(name.slice(mapPrefix.length), value);
    else if (!plan.listNames.has(name)) others.append(name, value);
    else for (const each of value.split(',')) if (each !== '') others.append(name, each.trim());
  }
  return { options: readQuery(route, others), map };
}
