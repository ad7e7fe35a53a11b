import type { ServiceImpl } from '@connectrpc/connect';
import type { TemplateContentService } from '#gen/postrider/templates/v1/templates_pb.ts';
import type { Context } from '../context.ts';
import { categoryOf, channelWords } from '../template-message.ts';
import { findVersion } from './get.ts';

export function getTemplateContent({
  store,
}: Context): ServiceImpl<typeof TemplateContentService>['getTemplateContent'] {
  return async (request) => {
    const { version, category, channel, compiled, settings } = await findVersion(
      store.fork(),
      request,
    );
    return {
      version,
      category: categoryOf(category),
      channel: channelWords[channel],
      subject: compiled?.subject ?? '',
      html: compiled?.html ?? '',
      mjml: compiled?.mjml ?? '',
      text: compiled?.text ?? '',
      senderId: compiled?.sender_id ?? '',
      replyTo: compiled?.reply_to ?? '',
      trackingDisabled: settings?.tracking_enabled === false,
    };
  };
}
