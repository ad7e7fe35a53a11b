import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import {
  type CustomEvent,
  CustomEventSchema,
} from '#gen/postrider/contacts/v1/custom_events_pb.ts';

export function customEventMessage(json: string): CustomEvent {
  const value: JsonValue = JSON.parse(json);
  return fromJson(CustomEventSchema, value);
}
