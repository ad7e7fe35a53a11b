import type { DescFile } from '@bufbuild/protobuf';
import { file_postrider_broadcasts_v1_broadcasts } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { file_postrider_broadcasts_v1_system } from '#gen/postrider/broadcasts/v1/system_pb.ts';
import { file_postrider_contacts_v1_contacts } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { file_postrider_contacts_v1_custom_events } from '#gen/postrider/contacts/v1/custom_events_pb.ts';
import { file_postrider_contacts_v1_lists } from '#gen/postrider/contacts/v1/lists_pb.ts';
import { file_postrider_contacts_v1_segments } from '#gen/postrider/contacts/v1/segments_pb.ts';
import { file_postrider_contacts_v1_subscriptions } from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import { file_postrider_contacts_v1_timeline } from '#gen/postrider/contacts/v1/timeline_pb.ts';
import { file_postrider_messages_v1_domain_tests } from '#gen/postrider/messages/v1/domain_tests_pb.ts';
import { file_postrider_messages_v1_messages } from '#gen/postrider/messages/v1/messages_pb.ts';
import { file_postrider_messages_v1_receivers } from '#gen/postrider/messages/v1/receivers_pb.ts';
import { file_postrider_messages_v1_reports } from '#gen/postrider/messages/v1/reports_pb.ts';
import { file_postrider_messages_v1_suppressions } from '#gen/postrider/messages/v1/suppressions_pb.ts';
import { file_postrider_messages_v1_transactional } from '#gen/postrider/messages/v1/transactional_pb.ts';
import { file_postrider_templates_v1_blocks } from '#gen/postrider/templates/v1/blocks_pb.ts';
import { file_postrider_templates_v1_templates } from '#gen/postrider/templates/v1/templates_pb.ts';
import { file_postrider_webhooks_v1_listeners } from '#gen/postrider/webhooks/v1/listeners_pb.ts';
import { file_postrider_webhooks_v1_webhooks } from '#gen/postrider/webhooks/v1/webhooks_pb.ts';
import { file_postrider_workspaces_v1_api_keys } from '#gen/postrider/workspaces/v1/api_keys_pb.ts';
import { file_postrider_workspaces_v1_audit } from '#gen/postrider/workspaces/v1/audit_pb.ts';
import { file_postrider_workspaces_v1_deletion } from '#gen/postrider/workspaces/v1/deletion_pb.ts';
import { file_postrider_workspaces_v1_domains } from '#gen/postrider/workspaces/v1/domains_pb.ts';
import { file_postrider_workspaces_v1_members } from '#gen/postrider/workspaces/v1/members_pb.ts';
import { file_postrider_workspaces_v1_sessions } from '#gen/postrider/workspaces/v1/sessions_pb.ts';
import { file_postrider_workspaces_v1_usage } from '#gen/postrider/workspaces/v1/usage_pb.ts';
import { file_postrider_workspaces_v1_workspaces } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';

/** The files that hold public operations. */
export const contracts: readonly DescFile[] = [
  file_postrider_broadcasts_v1_broadcasts,
  file_postrider_broadcasts_v1_system,
  file_postrider_contacts_v1_contacts,
  file_postrider_contacts_v1_custom_events,
  file_postrider_contacts_v1_lists,
  file_postrider_contacts_v1_segments,
  file_postrider_contacts_v1_subscriptions,
  file_postrider_contacts_v1_timeline,
  file_postrider_messages_v1_messages,
  file_postrider_messages_v1_transactional,
  file_postrider_messages_v1_suppressions,
  file_postrider_messages_v1_receivers,
  file_postrider_messages_v1_reports,
  file_postrider_templates_v1_templates,
  file_postrider_templates_v1_blocks,
  file_postrider_webhooks_v1_webhooks,
  file_postrider_webhooks_v1_listeners,
  file_postrider_workspaces_v1_workspaces,
  file_postrider_workspaces_v1_api_keys,
  file_postrider_workspaces_v1_sessions,
  file_postrider_workspaces_v1_members,
  file_postrider_workspaces_v1_audit,
  file_postrider_workspaces_v1_deletion,
  file_postrider_workspaces_v1_domains,
  file_postrider_messages_v1_domain_tests,
  file_postrider_workspaces_v1_usage,
];
