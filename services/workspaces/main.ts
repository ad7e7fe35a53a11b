import { createClient } from '@connectrpc/connect';
import {
  CredentialService,
  MailSettingsService,
  SystemMailService,
} from '#gen/postrider/messages/v1/messages_pb.ts';
import { oldTokenVerifier } from '#lib/keys/secret-key.ts';
import { clockWatch } from '#lib/keys/tokens.ts';
import { createEgress } from '#lib/outside/egress.ts';
import { servicePart } from '#lib/process/run-service.ts';
import { writeEntries } from './audit/entries.ts';
import { readConfig } from './config.ts';
import { dataServicesOf } from './deletion/erase.ts';
import { dnsServers } from './domain-checks/dns.ts';
import { newPair } from './domains/keys.ts';
import { createSetupLinks } from './domains/setup-link.ts';
import { integrationUsesOf } from './integrations/uses.ts';
import { LastUse } from './keys/last-use.ts';
import { sealedColumns } from './keys/sealed.ts';
import { createAuthorize } from './members/authorize.ts';
import { services, workspacesRoutes } from './service.ts';
import { openWorkspacesStore } from './store.ts';
import { checkDomains } from './tasks/check-domains.ts';
import { addAuditClearing, clearAudit } from './tasks/clear-audit.ts';
import { continueDeletions } from './tasks/continue-deletions.ts';
import { eraseWorkspace } from './tasks/erase-workspace.ts';
import { sendDomainNotice } from './tasks/send-domain-notice.ts';
import { sendInvitation } from './tasks/send-invitation.ts';
import { sendQuotaNotice } from './tasks/send-quota-notice.ts';
import { sendSignInCode } from './tasks/send-sign-in-code.ts';
import { createReportUsage } from './usage/report-usage.ts';

export const part = servicePart(
  readConfig,
  async ({ keyring, log, peer, peerIfDeployed }, config) => {
    const { databaseUrl, databaseConnections } = config;
    const { rootEmails, rootSignInsMax, publicUrl, quotas, secretKeys } = config;
    const { bounceDomain, dkimZone, seenForMs, egress } = config;
    const now = () => new Date();
    const store = await openWorkspacesStore(databaseUrl, databaseConnections);
    const lastUse = new LastUse(store, log);
    const dataServices = dataServicesOf({ peer, peerIfDeployed });
    const context = {
      store,
      keyring,
      egress: createEgress(egress),
      lastUse,
      systemMail: createClient(SystemMailService, peer('messages')),
      dataServices,
      usageCounters: dataServices,
      integrationUses: integrationUsesOf({ peer }),
      credentials: createClient(CredentialService, peer('messages')),
      mailSettings: createClient(MailSettingsService, peer('messages')),
      now,
      installation: { bounceDomain, dkimZone, publicUrl },
      dnsServers: dnsServers(egress.dnsServers),
      makePair: newPair,
      seenForMs,
      setupLinks: createSetupLinks({ keyring, publicUrl, now }),
      rootEmails,
      rootSignInsMax,
      publicUrl,
      quotas,
      log,
      secretKeys,
      verifyOld: oldTokenVerifier(secretKeys, clockWatch(log)),
    };
    return {
      store,
      services,
      routes: workspacesRoutes(context),
      sealed: sealedColumns(context),
      tasks: {
        clearAudit: clearAudit(context, { log }),
        continueDeletions: continueDeletions(context),
      },
      minutely: ['continueDeletions'],
      slowTasks: {
        sendSignInCode: sendSignInCode(context, { log }),
        sendInvitation: sendInvitation(context, { log }),
        sendQuotaNotice: sendQuotaNotice(context, { log }),
        checkDomains: checkDomains(context, { log }),
        sendDomainNotice: sendDomainNotice(context, { log }),
        eraseWorkspace: eraseWorkspace(context, { log }),
      },
      authorize: createAuthorize(context),
      audit: writeEntries,
      reportUsage: createReportUsage(store),
      async prepare() {
        await addAuditClearing(store.fork(), 0);
        lastUse.start();
      },
      close: () => lastUse.close(),
    };
  },
);
