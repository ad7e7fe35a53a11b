import type { EntityManager } from '@mikro-orm/postgresql';
import { CompiledQuery, type Kysely } from 'kysely';

/**
 * Runs one statement with bound parameters in the unit of work's transaction, if it has one.
 * Timestamps and 64-bit numbers come back as text.
 */
export async function query<Row>(
  em: EntityManager,
  text: string,
  values: readonly unknown[],
): Promise<Row[]> {
  const client = em.getTransactionContext<Kysely<unknown>>() ?? (await connectedClient(em));
  const result = await client.executeQuery<Row>(CompiledQuery.raw(text, [...values]));
  return result.rows;
}

async function connectedClient(em: EntityManager): Promise<Kysely<unknown>> {
  const connection = em.getConnection();
  await connection.ensureConnection();
  return connection.getClient();
}
