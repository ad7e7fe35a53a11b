import { refusal } from '#lib/errors/reasons.ts';
import { categoryOf } from '../content/category.ts';
import type { Context, Methods } from '../context.ts';
import type { CompiledMail, Template } from '../template.ts';
import { findVersion } from '../template-queries.ts';
import { channelWords } from '../views/template.ts';

export function getTemplateContent({ store }: Context): Methods['getTemplateContent'] {
  return async (request) => {
    const template = await findVersion(store.fork(), request);
    const { version, category, channel, settings, compiled_translations } = template;
    const compiled = compiledIn(template, request.language);
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
      languages: Object.keys(compiled_translations),
    };
  };
}

function compiledIn(
  { compiled, compiled_translations: translations }: Template,
  language: string,
): CompiledMail | null | undefined {
  if (language === '') return compiled;
  if (!Object.hasOwn(translations, language)) {
    throw refusal('TRANSLATION_NOT_FOUND', 'the template is not translated into the language');
  }
  return translations[language];
}
