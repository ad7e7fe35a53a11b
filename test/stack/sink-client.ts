import type { Behaviour } from '../sink-conversation.ts';

export type Mail = { atMs: number; email: string; messageId: string };
type Status = { total: number; recipients: number; connections: number; connections_peak: number };

export type SinkClient = {
  status(): Promise<Status>;
  received(email: string): Promise<{ count: number; messageIds: string[] }>;
  /** The complete mails to an address, newest last; the sink keeps only the last few of all. */
  bodies(email: string): Promise<string[]>;
  behave(behaviour: Partial<Behaviour>): Promise<void>;
};

/** Calls the control endpoint of the sink. */
export function createSinkClient(port: number): SinkClient {
  const ask = async <T>(path: string, body?: object): Promise<T> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: body ? 'POST' : 'GET',
      body: body && JSON.stringify(body),
    });
    return (await answer.json()) as T;
  };
  return {
    status: () => ask('/status'),
    received: (email) => ask(`/recipient?email=${encodeURIComponent(email)}`),
    bodies: (email) => ask(`/bodies?to=${encodeURIComponent(email)}`),
    behave: async (behaviour) => {
      await ask('/behaviour', behaviour);
    },
  };
}

/** The sink's journal: every accepted mail, in order. */
export function readMails(text: string): Mail[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [atMs = '', email = '', messageId = ''] = line.split(' ');
      return { atMs: Number(atMs), email, messageId };
    });
}
