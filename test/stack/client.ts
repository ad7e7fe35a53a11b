export type Answer = {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers as any client of a JSON API does.
  body: any;
  headers: Headers;
};

export type Call = (
  operation: string,
  body?: object,
  options?: { headers?: Record<string, string>; token?: string; query?: Record<string, string> },
) => Promise<Answer>;

const callMsMax = 30_000;

/** Calls operations as any client does: by POST with a body, by GET without. */
export function createCall(baseUrl: string, defaultToken: string): Call {
  return async (operation, body, { headers = {}, token = defaultToken, query = {} } = {}) => {
    const url = new URL(`/api/${operation}`, baseUrl);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const answer = await fetch(url, {
      method: body ? 'POST' : 'GET',
      headers: {
        'content-type': 'application/json',
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(callMsMax),
    });
    const text = await answer.text();
    return { status: answer.status, body: JSON.parse(text), headers: answer.headers };
  };
}
