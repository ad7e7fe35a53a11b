import { create, type DescMethodUnary, getOption, type Message } from '@bufbuild/protobuf';
import { json, operation } from '#gen/postrider/options/v1/options_pb.ts';
import { type Columns, columnsOf } from '../csv/columns.ts';
import type { BatchAnswer } from '../csv/intake.ts';
import { type RowDecoder, rowDecoderOf } from '../json/decode.ts';
import { fieldOf } from '../json/in-json.ts';

/** How an operation for many rows takes a CSV file. */
export type CsvPlan = {
  columns: Columns;
  rows: RowDecoder;
  /** The field of the answer with names in rows that nothing has; empty if it has none. */
  unknownName: string;
  /** Parameters of the query that hold values between commas. */
  listNames: ReadonlySet<string>;
  requestOf(options: Message, rows: Message[]): Message;
  workspaceOf(options: Message): string;
  answerOf(message: Message): BatchAnswer;
};

/** Undefined for operations that take JSON only. */
export function csvPlanOf(method: DescMethodUnary): CsvPlan | undefined {
  const { csv, workspaceField } = getOption(method, operation);
  if (!csv) return undefined;
  const { input, output } = method;
  const rows = fieldOf(input, csv.rows);
  if (!rows.message) throw new Error(`${input.typeName}.${csv.rows} has no messages`);
  const outcomes = fieldOf(output, csv.outcomes).localName;
  const unknown = csv.unknown === '' ? undefined : fieldOf(output, csv.unknown).localName;
  const workspace = fieldOf(input, workspaceField || 'workspace_id').localName;
  return {
    columns: columnsOf(rows.message),
    rows: rowDecoderOf(rows.message),
    unknownName: csv.unknown,
    listNames: new Set(
      input.fields
        .filter(({ fieldKind }) => fieldKind === 'list')
        .flatMap((field) => [field.name, getOption(field, json).queryName]),
    ),
    requestOf: (options, batch) => create(input, { ...options, [rows.localName]: batch }),
    workspaceOf: (options) => String(Reflect.get(options, workspace)),
    answerOf: (message) => ({
      outcomes: Reflect.get(message, outcomes),
      unknown: (unknown && Reflect.get(message, unknown)?.names) ?? [],
    }),
  };
}
