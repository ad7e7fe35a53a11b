import type { TestStack } from '../stack.ts';

/** The offsets of the ports of `/metrics`, with one process of each service. */
const offsets = {
  gateway: 100,
  'broadcasts-worker': 101,
  'contacts-worker': 102,
  'webhooks-worker': 103,
  workspaces: 110,
  contacts: 111,
  templates: 112,
  broadcasts: 113,
  messages: 114,
  webhooks: 115,
};

/** The metrics of every process of a stack, by its name. */
export async function scrapeAll({ settings }: TestStack): Promise<[name: string, text: string][]> {
  const base = Number(new URL(settings.BASE_URL ?? '').port);
  return Promise.all(
    Object.entries(offsets).map(async ([name, offset]): Promise<[string, string]> => {
      const answer = await fetch(`http://127.0.0.1:${base + offset}/metrics`);
      return [name, await answer.text()];
    }),
  );
}
