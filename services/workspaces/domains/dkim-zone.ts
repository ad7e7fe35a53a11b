import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { DomainKey } from './domain.ts';
import { delegatedHost, publicRecord } from './records.ts';
import { zoneLine } from './zone.ts';

const pageRows = 1_000;

type KeyRow = Pick<DomainKey, 'workspace_id' | 'host' | 'selector' | 'algorithm' | 'state'> & {
  public_key: string;
  id: string;
};

/** The records of the operator's zone, a line each: the keys of all domains that are proven. */
export async function* dkimZoneLines(store: Store, zone: string): AsyncGenerator<string> {
  let after: Pick<KeyRow, 'workspace_id' | 'host'> | undefined = { workspace_id: '', host: '' };
  while (after) {
    const rows: KeyRow[] = await query<KeyRow>(
      store.fork(),
      `select keys.workspace_id, keys.host, keys.selector, keys.algorithm, keys.state, keys.public_key, domains.id
       from dkim_keys as keys
       join sending_domains as domains
         on domains.workspace_id = keys.workspace_id and domains.name = keys.domain
       join domain_owners as owners
         on owners.name = keys.domain and owners.workspace_id = keys.workspace_id
       where (keys.workspace_id, keys.host) > ($1, $2)
       order by keys.workspace_id, keys.host limit ${pageRows}`,
      [after.workspace_id, after.host],
    );
    for (const key of rows) {
      const host = delegatedHost(key, zone);
      yield `${zoneLine({ host, type: 'TXT', value: publicRecord(key) })}\n`;
    }
    after = rows.length < pageRows ? undefined : rows.at(-1);
  }
}
