import { TemplateChannel } from '#gen/postrider/templates/v1/templates_pb.ts';
import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';
import { findVersions } from '../template-queries.ts';
import { categoryWord, toTemplate } from '../views/template.ts';

const templatesMax = 1_000;
const channels = new Map<TemplateChannel, string>([
  [TemplateChannel.EMAIL, 'email'],
  [TemplateChannel.WEB, 'web'],
]);

export function listTemplates({ store }: Context): Methods['listTemplates'] {
  return async ({ workspaceId, category, channel }) => {
    const em = store.fork();
    const newest = await query<{ id: string; version: number }>(
      em,
      `select id, version from (
         select distinct on (id) id, version, category, channel, updated_at, deleted_at
         from templates where workspace_id = $1 order by id, version desc
       ) as newest
       where deleted_at is null
         and ($2::text is null or category = $2) and ($3::text is null or channel = $3)
       order by updated_at desc, id limit ${templatesMax}`,
      [workspaceId, categoryWord(category) ?? null, channels.get(channel) ?? null],
    );
    const templateOf = await findVersions(em, workspaceId, newest);
    return { templates: newest.flatMap((key) => templateOf(key) ?? []).map(toTemplate) };
  };
}
