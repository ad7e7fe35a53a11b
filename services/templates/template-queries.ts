import type { MessageInitShape } from '@bufbuild/protobuf';
import type { TemplateSchema } from '#gen/postrider/templates/v1/templates_pb.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { Template } from './template.ts';
import { templateMessage } from './views/template.ts';

type Version = { id: string; version: number };
type TemplateOf = (key: Version) => MessageInitShape<typeof TemplateSchema> | undefined;

/** Many versions, as the API shows them. */
export async function findVersions(
  em: EntityManager,
  workspaceId: string,
  versions: readonly Version[],
): Promise<TemplateOf> {
  if (versions.length === 0) return () => undefined;
  const found = await em.find(Template, {
    workspace_id: workspaceId,
    $or: versions.map(({ id, version }) => ({ id, version })),
  });
  const known = new Map(found.map((each) => [`${each.id} ${each.version}`, templateMessage(each)]));
  return ({ id, version }) => known.get(`${id} ${version}`);
}
