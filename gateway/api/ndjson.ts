import { create, type DescMethodUnary, getOption, type Message } from '@bufbuild/protobuf';
import { type Ndjson, operation } from '#gen/postrider/options/v1/options_pb.ts';
import { type CsvWriter, csvWriterOf } from '../csv/export.ts';
import { bodyFieldEncoder } from '../json/encode.ts';
import { fieldOf } from '../json/in-json.ts';
import { enumWords } from '../json/values.ts';

/** How an operation that answers by pages is streamed. */
export type Paging = {
  /** The form that the request asks for. */
  formOf(request: Message): Form;
  /** The items of a page, as their JSON is made from them. */
  itemsOf(page: Message): unknown[];
  /** The request for the page after this one; undefined after the last. */
  requestAfter(request: Message, page: Message): Message | undefined;
};

/** An item as text, and the text before, between, after each of, and behind all items. */
type Form = {
  contentType: string;
  textOf: (item: unknown) => string;
  begin: string;
  between: string;
  after: string;
  end: string;
};

const lines: Form = {
  contentType: 'application/x-ndjson',
  textOf: (item) => JSON.stringify(item),
  begin: '',
  between: '',
  after: '\n',
  end: '',
};

const documentOf = (items: string): Form => ({
  contentType: 'application/json; charset=utf-8',
  textOf: (item) => JSON.stringify(item),
  begin: `{"${items}":[\n`,
  between: ',\n',
  after: '',
  end: '\n]}\n',
});

function fileOf({ header, rowOf }: CsvWriter): Form {
  const contentType = 'text/csv; charset=utf-8';
  return { contentType, textOf: rowOf, begin: header, between: '', after: '', end: '' };
}

/** A slow client takes each within the time that it has. */
const textMinBytes = 64 * 1024;

/** Undefined for operations with one answer. */
export function pagingOf(method: DescMethodUnary): Paging | undefined {
  const { ndjson } = getOption(method, operation);
  if (!ndjson) return undefined;
  const { input, output } = method;
  const items = bodyFieldEncoder(output, ndjson.items);
  const cursor = fieldOf(input, ndjson.cursor).localName;
  const next = fieldOf(output, ndjson.next).localName;
  const usual = ndjson.document ? documentOf(ndjson.items) : lines;
  return {
    formOf: ndjson.format === '' ? () => usual : formByFormat(method, ndjson),
    itemsOf(page) {
      const found: unknown = items(page);
      return Array.isArray(found) ? found : [];
    },
    requestAfter(request, page) {
      const at: unknown = Reflect.get(page, next);
      if (typeof at !== 'string' || at === '') return undefined;
      return create(input, { ...request, [cursor]: at });
    },
  };
}

/** Of an operation whose request may ask for a CSV file. */
function formByFormat({ input, output }: DescMethodUnary, { items, format }: Ndjson) {
  const { message: item } = fieldOf(output, items);
  const { enum: words, localName: name } = fieldOf(input, format);
  if (!item || !words) throw new Error(`${input.typeName} has no formats`);
  const csv = enumWords(words).get('csv');
  const file = fileOf(csvWriterOf(item));
  return (request: Message) => (Reflect.get(request, name) === csv ? file : lines);
}

/**
 * All pages from the first on, which was read already. Each is read when the one before has been
 * taken.
 */
export async function* streamedPages(
  { formOf, itemsOf, requestAfter }: Paging,
  first: { request: Message; page: Message },
  read: (request: Message) => Promise<Message>,
): AsyncIterable<string> {
  let { request, page }: { request: Message | undefined; page: Message } = first;
  const form = formOf(first.request);
  let text = form.begin;
  let between = '';
  for (;;) {
    for (const item of itemsOf(page)) {
      text += `${between}${form.textOf(item)}${form.after}`;
      between = form.between;
      if (text.length < textMinBytes) continue;
      yield text;
      text = '';
    }
    request = request && requestAfter(request, page);
    if (!request) break;
    if (text !== '') yield text;
    text = '';
    page = await read(request);
  }
  text += form.end;
  if (text !== '') yield text;
}
