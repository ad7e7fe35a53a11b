import type { ServerResponse } from 'node:http';

/** Why a stream was cut: its client has read nothing for too long. */
export class ReaderStalled extends Error {}

/**
 * Sends a body as it comes, and asks for more only when the client has read what is there. If it
 * fails, the connection is cut, so that the client can tell.
 */
export async function sendStream(
  response: ServerResponse,
  chunks: AsyncIterable<string>,
  stallMs: number,
): Promise<void> {
  try {
    for await (const chunk of chunks) {
      if (response.destroyed) return;
      if (!response.write(chunk)) await taken(response, stallMs);
    }
    response.end();
  } catch (error) {
    response.destroy();
    throw error;
  }
}

/** Resolves as well when the client has gone. */
function taken(response: ServerResponse, stallMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      clearTimeout(timer);
      response.off('drain', go).off('close', go);
      settle();
    };
    const go = () => end(resolve);
    const timer = setTimeout(() => end(() => reject(new ReaderStalled())), stallMs);
    response.on('drain', go).on('close', go);
  });
}
