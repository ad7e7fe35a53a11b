/** SQL of the hash by which an address is remembered. */
export const addressHashSql = (key: string, email: string) =>
  `sha256(${key} || convert_to(${email}, 'UTF8'))`;

/**
 * Steps that remember what a contact, which is deleted in `deleted`, has refused: of `left_lists`,
 * its memberships, and of all mail. Without them, the next import would mail to somebody who has
 * left.
 */
export const rememberSteps = ({ workspace, email }: Record<'workspace' | 'email', string>) => `
  left_mail as (
    delete from opt_outs where workspace_id = ${workspace} and email = ${email} returning created_at
  ),
  refused as materialized (
    select list_id, status, updated_at as refused_at from left_lists
    where status in ('unsubscribed', 'bounced', 'complained')
    union all
    select '', 'unsubscribed', created_at from left_mail
  ),
  refusal_key as (
    insert into refusal_keys as known (workspace_id, key)
    select ${workspace}, uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
    where exists (select from refused)
    on conflict (workspace_id) do update set key = known.key
    returning key
  ),
  remembered as (
    insert into refusals (workspace_id, address, list_id, status, refused_at)
    select ${workspace}, ${addressHashSql('key', email)}, list_id, status, refused_at from refused, refusal_key
    on conflict do nothing
  )`;

/**
 * Steps that give contacts of `written` that are new what they had refused before they were
 * deleted: removed memberships, whose status a return doesn't lift, and opt-outs.
 */
export const restoreSteps = (workspace: string) => `
  restored as (
    delete from refusals refusal using (
      select written.email, found.address, found.list_id
      from written
      cross join (select key from refusal_keys where workspace_id = ${workspace}) secret
      cross join lateral (
        select address, list_id from refusals
        where workspace_id = ${workspace} and address = ${addressHashSql('secret.key', 'written.email')} offset 0
      ) found
      where written.is_new
    ) known
    where refusal.workspace_id = ${workspace} and refusal.address = known.address and refusal.list_id = known.list_id
    returning known.email, refusal.list_id, refusal.status, refusal.refused_at
  ),
  restored_lists as (
    insert into memberships (workspace_id, list_id, email, status, first_status, created_at, updated_at, deleted_at)
    select ${workspace}, list_id, email, status, status, refused_at, refused_at, refused_at from restored
    where list_id <> ''
    order by list_id collate "C", email collate "C"
    on conflict do nothing
  ),
  restored_opt_outs as (
    insert into opt_outs (workspace_id, email, created_at)
    select ${workspace}, email, refused_at from restored where list_id = ''
    on conflict do nothing
  )`;
