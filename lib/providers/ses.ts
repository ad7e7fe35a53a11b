import { create } from '@bufbuild/protobuf';
import { SesSettingsSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { checkedKey, checkedText } from './checks.ts';
import { kindOfProvider } from './kind.ts';

/** Amazon SES. */
export const ses = kindOfProvider({
  kind: 'ses',
  schema: SesSettingsSchema,
  missing: 'SES settings required when email provider kind is ses',
  secrets: ['secret_key'],
  account: ['region', 'access_key'],
  check(given, path) {
    const place = { of: 'SES', path };
    // The region is a part of the host's name.
    const region = {
      ...{ name: 'region', form: /^[a-z]{2}(-[a-z]+)+-\d$/, saying: 'such as eu-west-1' },
      isRequired: true,
    };
    const accessKey = {
      ...{ name: 'access_key', form: /^\w{1,128}$/, saying: '1 to 128 letters and digits' },
      isRequired: true,
    };
    const configurationSet = {
      ...{ name: 'configuration_set', form: /^[A-Za-z0-9_-]{1,64}$/ },
      saying: '1 to 64 letters, digits, hyphens and underscores',
    };
    const topicArn = {
      ...{ name: 'topic_arn', saying: 'the ARN of a topic' },
      form: /^arn:aws[a-z-]{0,20}:sns:[a-z0-9-]{1,40}:\d{12}:[A-Za-z0-9_-]{1,256}$/,
    };
    return create(SesSettingsSchema, {
      region: checkedText(given.region, region, place),
      accessKey: checkedText(given.accessKey, accessKey, place),
      secretKey: checkedKey(given.secretKey, 'secret_key', place),
      configurationSet: checkedText(given.configurationSet, configurationSet, place),
      topicArn: checkedText(given.topicArn, topicArn, place),
    });
  },
});
