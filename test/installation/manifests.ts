import { parseYaml } from '@redocly/openapi-core';
import type { Condition, Container } from './compose-file.ts';

type Pod = {
  containers: {
    args: string[];
    env: { name: string; value?: string }[];
  }[];
  volumes: { name: string; secret?: { items: { path: string }[] } }[];
};
type Manifest = { kind: string; spec: { template: { spec: Pod } } };

/**
 * The containers of a rendered chart: its hook for migrations, and its deployments, which Helm
 * makes after that.
 */
export function readManifests(text: string): Container[] {
  const manifests = text.split(/^---$/m).map((part) => parseYaml(part) as Manifest | undefined);
  return manifests.flatMap((manifest): Container[] => {
    if (manifest?.kind !== 'Deployment' && manifest?.kind !== 'Job') return [];
    const dependsOn: Record<string, Condition> =
      manifest.kind === 'Job' ? {} : { migrate: 'service_completed_successfully' };
    const { containers, volumes } = manifest.spec.template.spec;
    const secrets = volumes.find(({ name }) => name === 'secrets')?.secret?.items ?? [];
    return containers.map(({ args, env }) => ({
      name: args[0] ?? '',
      isOurs: true,
      command: args,
      environment: Object.fromEntries(env.map(({ name, value = '' }) => [name, value])),
      secrets: secrets.map(({ path }) => path),
      secretsFolder: '/secrets',
      dependsOn,
    }));
  });
}
