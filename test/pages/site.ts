import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import type { TestStack } from '../stack.ts';

export type Site = { url: string; close(): void };

/** A web site with a subscription form, on another origin than the stack. */
export async function startSite(
  { settings, workspaceId }: TestStack,
  listIds: readonly string[],
): Promise<Site> {
  const page = pageOf(`${settings.BASE_URL}/subscribe`, workspaceId, listIds);
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8').end(page);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, close: () => void server.close() };
}

function pageOf(endpoint: string, workspaceId: string, listIds: readonly string[]): string {
  const request = { workspace_id: workspaceId, list_ids: listIds };
  return `<!doctype html>
<html lang="fr"><title>Lettre</title><link rel="icon" href="data:,">
<form><label>Email <input type="email" name="email" required></label><button>Sign up</button></form>
<p role="status"></p>
<script>
document.querySelector('form').addEventListener('submit', async (event) => {
  event.preventDefault();
  const contact = { email: event.target.email.value, language: document.documentElement.lang };
  const answer = await fetch(${JSON.stringify(endpoint)}, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...${JSON.stringify(request)}, contact }),
  });
  const { success, error } = await answer.json();
  document.querySelector('[role=status]').textContent = success ? 'Look into your inbox' : error;
});
</script></html>`;
}

/** Fills in the form and returns the message of the site. */
export async function signUp(page: Page, site: Site, email: string): Promise<string> {
  await page.goto(site.url);
  await page.getByRole('textbox', { name: 'Email' }).fill(email);
  await page.getByRole('button', { name: 'Sign up' }).click();
  const status = page.getByRole('status').filter({ hasText: /./ });
  return (await status.textContent()) ?? '';
}
