import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Calls the public API as any client does, and repeats a read for a minute while a service cannot
 * be reached, as on a busy machine. Errors have the text of the answer.
 */
export type DemoApi = <Answer>(operation: string, request: Request) => Promise<Answer>;
/** A body that is a text is JSON already. */
type Request = { body: object | string } | { query: Record<string, string> };

const callMsMax = 60_000;

export function createApi(baseUrl: string, token?: string): DemoApi {
  return async <Answer>(operation: string, request: Request): Promise<Answer> => {
    const url = new URL(`/api/${operation}`, baseUrl);
    if ('query' in request) url.search = new URLSearchParams(request.query).toString();
    const signal = AbortSignal.timeout(callMsMax);
    const ask = () =>
      fetch(url, {
        method: 'body' in request ? 'POST' : 'GET',
        headers: {
          'content-type': 'application/json',
          ...(token ? { authorization: `Bearer ${token}` } : {}),
        },
        ...('body' in request ? { body: jsonOf(request.body) } : {}),
        signal,
      });
    let response = await ask();
    while (response.status === 503 && 'query' in request) {
      await response.body?.cancel();
      await sleep(Number(response.headers.get('retry-after') ?? 1) * 1_000, undefined, { signal });
      response = await ask();
    }
    const answer = (await response.json()) as Answer & { error?: string };
    if (!response.ok) throw new Error(`${operation} answered ${response.status}: ${answer.error}`);
    return answer;
  };
}

function jsonOf(body: object | string): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}
