import { invalidField } from '#lib/errors/errors.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Quotas } from '#lib/quotas/quotas.ts';
import { Template, type TemplateSource } from '../template.ts';
import { findNewest } from '../template-queries.ts';
import { takeRoom } from './room.ts';
import type { StoredContent } from './stored-content.ts';

/** Adds the version after `newest`, whose template is locked. */
export async function addVersion(
  em: EntityManager,
  { quotas, now }: { quotas: Quotas; now: () => Date },
  newest: TemplateSource,
  content: StoredContent,
): Promise<Template> {
  const { workspace_id, id, version, integration_id, created_at } = newest;
  takeRoom(quotas, workspace_id, content);
  await query(
    em,
    'update templates set is_newest = false where workspace_id = $1 and id = $2 and is_newest',
    [workspace_id, id],
  );
  const key = { workspace_id, id, version: version + 1, integration_id, created_at };
  const template = em.create(Template, { ...content, ...key, updated_at: now(), is_newest: true });
  await em.flush();
  return template;
}

/** The newest version, which has to be of the same channel and editor as its successor. */
export async function findChangeable(
  em: EntityManager,
  key: { workspaceId: string; id: string },
  next: { channel: string; editorMode: string | undefined },
): Promise<TemplateSource> {
  const newest = await findNewest(em, key);
  if (newest.channel !== next.channel) {
    throw invalidField(
      'channel',
      `cannot change channel: template was created for '${newest.channel}'`,
    );
  }
  const mode = editorModeOf(newest);
  if (next.editorMode !== undefined && mode !== undefined && next.editorMode !== mode) {
    throw invalidField(
      'email.editor_mode',
      `cannot change editor mode: template was created in '${mode}' mode`,
    );
  }
  return newest;
}

function editorModeOf({ email }: TemplateSource): string | undefined {
  if (email === null || typeof email !== 'object' || Array.isArray(email)) return undefined;
  return typeof email.editor_mode === 'string' ? email.editor_mode : 'visual';
}
