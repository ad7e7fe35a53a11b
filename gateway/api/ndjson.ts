import { create, type DescMethodUnary, getOption, type Message } from '@bufbuild/protobuf';
import { operation } from '#gen/postrider/options/v1/options_pb.ts';
import { bodyFieldEncoder } from '../json/encode.ts';

/** How an operation that answers by pages is streamed. */
export type Paging = {
  /** The items of a page as lines of JSON, some in each text. */
  linesOf(page: Message): Iterable<string>;
  /** The request for the page after this one; undefined after the last. */
  requestAfter(request: Message, page: Message): Message | undefined;
};

/** A slow client takes each within the time that it has. */
const textMinBytes = 64 * 1024;

/** Undefined for operations with one answer. */
export function pagingOf(method: DescMethodUnary): Paging | undefined {
  const { ndjson } = getOption(method, operation);
  if (!ndjson) return undefined;
  const { input, output } = method;
  const items = bodyFieldEncoder(output, ndjson.items);
  const cursor = localName(input, ndjson.cursor);
  const next = localName(output, ndjson.next);
  return {
    linesOf: (page) => joined(items(page)),
    requestAfter(request, page) {
      const at: unknown = Reflect.get(page, next);
      if (typeof at !== 'string' || at === '') return undefined;
      return create(input, { ...request, [cursor]: at });
    },
  };
}

function localName(desc: DescMethodUnary['input'], name: string): string {
  const field = desc.fields.find((candidate) => candidate.name === name);
  if (!field) throw new Error(`${desc.typeName} has no field ${name}`);
  return field.localName;
}

function* joined(items: unknown): Iterable<string> {
  let text = '';
  for (const item of Array.isArray(items) ? items : []) {
    text += `${JSON.stringify(item)}\n`;
    if (text.length < textMinBytes) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

/** All pages from the first on, which was read already. Each is read when the one before has been taken. */
export async function* streamedPages(
  paging: Paging,
  first: { request: Message; page: Message },
  read: (request: Message) => Promise<Message>,
): AsyncIterable<string> {
  let { request, page }: { request: Message | undefined; page: Message } = first;
  for (;;) {
    yield* paging.linesOf(page);
    request = request && paging.requestAfter(request, page);
    if (!request) return;
    page = await read(request);
  }
}
