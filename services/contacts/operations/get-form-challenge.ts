import type { JsonObject } from '@bufbuild/protobuf';
import type { Context, Methods } from '../context.ts';

export function getFormChallenge({ challenges }: Context): Methods['getFormChallenge'] {
  return async ({ workspaceId }) => {
    const { parameters, signature } = await challenges.create(workspaceId);
    return { parameters: { ...parameters } as JsonObject, signature: signature ?? '' };
  };
}
