import { compareFields } from '../compare/changes.ts';
import { fieldsOf } from '../compare/fields.ts';
import type { Context, Methods } from '../context.ts';
import { findLiveVersion } from '../template-queries.ts';

export function compareTemplateVersions({ store }: Context): Methods['compareTemplateVersions'] {
  return async ({ workspaceId, id, from, to }) => {
    const em = store.fork();
    const before = await findLiveVersion(em, { workspaceId, id, version: from });
    const after = await findLiveVersion(em, { workspaceId, id, version: to });
    return { changes: await compareFields(fieldsOf(before), fieldsOf(after)) };
  };
}
