import { create, type JsonObject, type JsonValue, toJson } from '@bufbuild/protobuf';
import {
  ListMessagesRequestSchema,
  MessageContentSchema,
  MessageSchema,
} from '#gen/postrider/messages/v1/messages_pb.ts';
import { type PersonSource, personTable } from '#lib/postgres/person-records.ts';
import { type KeptContext, readKeptContent } from '../archive/kept.ts';
import { readMessages } from '../history/messages.ts';
import { toMessageContent } from '../views/message-content.ts';

/** A mail that is kept may have 2 MiB. */
const messagesMax = 5;

type Person = { workspaceId: string; email: string };

/** What this service keeps about a person. */
export function personSources(context: KeptContext, person: Person): PersonSource[] {
  return [
    personTable(context.store, person, { kind: 'suppression', table: 'suppressions' }),
    personTable(context.store, person, {
      kind: 'confirmation',
      table: 'confirmations',
      key: 'held.list_id',
    }),
    messageSource(context, person),
  ];
}

function messageSource(context: KeptContext, { workspaceId, email }: Person): PersonSource {
  return {
    name: 'message',
    async read(cursor) {
      const request = create(ListMessagesRequestSchema, {
        workspaceId,
        contactEmail: email,
        cursor,
      });
      const { messages, nextCursor } = await readMessages(context, request, messagesMax);
      const records = messages.map(async (message) => {
        const mail = await readKeptContent(context, { workspaceId, id: message.id ?? '' });
        const data = {
          ...objectOf(toJson(MessageSchema, create(MessageSchema, message), inSnakeCase)),
          ...(mail && {
            content: toJson(
              MessageContentSchema,
              create(MessageContentSchema, await toMessageContent(mail)),
              inSnakeCase,
            ),
          }),
        };
        return { kind: 'message', data };
      });
      return { records: await Promise.all(records), next: nextCursor };
    },
  };
}

const inSnakeCase = { useProtoFieldName: true };

function objectOf(json: JsonValue): JsonObject {
  return json !== null && typeof json === 'object' && !Array.isArray(json) ? json : {};
}
