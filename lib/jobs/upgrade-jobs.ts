import { schemaOf } from '../postgres/job-schema.ts';

/** `after` is an interval of PostgreSQL. */
type UpgradeJob = { task: string; key: string; after: string };

/**
 * SQL of a migration: queues jobs, with an empty payload, for data from before it. A service that
 * is new has none, and no queue yet.
 */
export function upgradeJobs(service: string, jobs: readonly UpgradeJob[]): string {
  const schema = schemaOf(service);
  const adds = jobs.map(
    ({ task, key, after }) =>
      `perform ${schema}.add_job('${task}', payload := '{}', job_key := '${key}', run_at := now() + interval '${after}');`,
  );
  return `
    do $$
    begin
      if exists (
        select from pg_proc where proname = 'add_job' and pronamespace = to_regnamespace('${schema}')
      ) then
        ${adds.join('\n        ')}
      end if;
    end
    $$`;
}
