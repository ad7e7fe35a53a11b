import { chunksOf } from './body.ts';
import { PostriderError } from './errors.ts';

/** Text, bytes or a stream, that of Node.js too, or the parts of a generator. */
export type Content =
  | string
  | Blob
  | ArrayBuffer
  | Uint8Array<ArrayBuffer>
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array | string>;

/** A body of `fetch`. */
export type SentContent = NonNullable<RequestInit['body']>;

/** As `fetch` of every platform takes it. A stream is closed by the signal. */
export function contentOf(content: Content, signal: AbortSignal): SentContent {
  if (content instanceof ReadableStream) return streamOf(chunksOf(content), signal);
  const isTaken =
    typeof content === 'string' ||
    content instanceof Blob ||
    content instanceof ArrayBuffer ||
    ArrayBuffer.isView(content);
  if (isTaken) return content;
  if (Symbol.asyncIterator in Object(content)) return streamOf(content, signal);
  throw new PostriderError('the content is no text, no bytes and no stream');
}

/**
 * The parts as `fetch` takes them; browsers take no other stream. Of a call that has ended, Node.js
 * reads a stream to its end: the signal closes it.
 */
function streamOf(
  parts: AsyncIterable<Uint8Array | string>,
  signal: AbortSignal,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const iterator = parts[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  const close = async () => {
    await iterator.return?.();
  };
  signal.addEventListener('abort', () => close().catch(() => {}), { once: true });
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next().catch((cause) => {
        throw new PostriderError('the content could not be read', { cause });
      });
      if (done) return controller.close();
      controller.enqueue(
        typeof value === 'string' ? encoder.encode(value) : (value as Uint8Array<ArrayBuffer>),
      );
    },
    cancel: close,
  });
}
