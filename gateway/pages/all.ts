import type { Transport } from '@connectrpc/connect';
import type { Route } from '../routes.ts';
import { confirmPage } from './confirm.ts';
import { documentsPage } from './documents.ts';
import type { Page } from './page.ts';
import { preferencesPage } from './preferences.ts';
import { unsubscribePage } from './unsubscribe.ts';

/** Every page: the documents, and what stands behind the links of mails, which messages knows. */
export function allPages(
  routes: ReadonlyMap<string, readonly Route[]>,
  messages: Transport,
): Page[] {
  return [
    documentsPage(routes),
    unsubscribePage(messages),
    confirmPage(messages),
    preferencesPage(messages),
  ];
}
