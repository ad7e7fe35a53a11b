import { create } from '@bufbuild/protobuf';
import {
  GetQuotasResponseSchema,
  ReportQuotaUseResponseSchema,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { type QuotaContext, Quotas } from '#lib/quotas/quotas.ts';
import { createLog } from '../log.ts';

/** Quotas that a test sets, by resource; without them the defaults count. */
export function testQuotas(
  { store, counts }: Pick<QuotaContext, 'store' | 'counts'>,
  quotas: Record<string, bigint> = {},
): Quotas {
  return new Quotas({
    store,
    counts,
    log: createLog('test', 'silent'),
    workspaces: {
      getQuotas: async () => create(GetQuotasResponseSchema, { quotas }),
      reportQuotaUse: async () => create(ReportQuotaUseResponseSchema),
    },
  });
}
