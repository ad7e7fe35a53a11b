import { setTimeout as sleep } from 'node:timers/promises';
import { invalidField } from '#lib/errors/errors.ts';
import type { EgressAnswer } from '#lib/outside/egress.ts';
import type { ReportAccount } from '../../reports/account.ts';
import { listIn, textIn } from '../../reports/event.ts';
import { ask, type Registrar, type ReportTarget, SetUpFailed } from '../../reports/registrar.ts';
import type { ReportType } from '../../reports/report.ts';
import type { ReportUrl } from '../../reports/url.ts';
import { awsHost } from './host.ts';
import { signRequest } from './sign.ts';
import { topicIn } from './sns.ts';

/*
 * SES reports by a configuration set, with which mails are sent: an event destination of it
 * publishes to a topic of SNS, which posts to a subscription. The destination and the topic have
 * the name of the integration. The configuration set may be shared, and stays.
 *
 * Order: the topic is stored before anything is subscribed to it, since the confirmation comes at
 * once and must be of a known topic. A subscription to an earlier URL ends when the new one is
 * confirmed, so that no event is lost between them.
 */

export const sesRegistrar: Registrar = {
  require({ ses }) {
    if (ses?.configurationSet) return;
    throw invalidField(
      'provider.ses.configuration_set',
      'SES reports by a configuration set: name one in provider.ses.configuration_set',
    );
  },
  async setUp(account, target) {
    const topic = await topicOf(account, target);
    const endpoint = target.withKey(target.key);
    const isConfirmed = (all: readonly Subscription[]) =>
      all.some((each) => each.endpoint === endpoint && each.isConfirmed);
    if (!isConfirmed(await subscriptionsTo(account, topic))) {
      await subscribe(account, topic, endpoint);
    }
    await setDestination(account, topic, target.types);
    let subscriptions = await subscriptionsTo(account, topic);
    for (let look = 0; look < looksMax && !isConfirmed(subscriptions); look += 1) {
      await sleep(lookEveryMs);
      subscriptions = await subscriptionsTo(account, topic);
    }
    if (!isConfirmed(subscriptions)) {
      throw new SetUpFailed('SNS has not confirmed the subscription yet');
    }
    const others = subscriptions.filter((each) => each.endpoint !== endpoint && each.isConfirmed);
    for (const { arn, endpoint: earlier } of others) {
      if (target.isOurs(earlier)) await unsubscribe(account, arn);
    }
  },
  async remove(account, url) {
    if (account.provider.ses?.configurationSet) {
      await ses(account, { method: 'DELETE', path: destinationPath(account), unless: [404] });
    }
    const topic = topicIn(account);
    if (topic) await leaveTopic(account, topic, url);
  },
};

/** SNS sends the confirmation within a second, mostly. */
const looksMax = 4;
const lookEveryMs = 500;

const nameOf = ({ integrationId }: ReportAccount) => `postrider-${integrationId}`;

/** The topic in the settings, which is as its owner has made it, or one of our own. */
async function topicOf(account: ReportAccount, { learn }: ReportTarget): Promise<string> {
  const given = account.provider.ses?.topicArn;
  if (given) return given;
  const topic = tagIn(
    await sns(account, { Action: 'CreateTopic', Name: nameOf(account) }),
    'TopicArn',
  );
  if (!topic) throw new SetUpFailed('SNS has answered no topic');
  await learn({ topic_arn: topic });
  const attributes = { Policy: policyOf(topic), SignatureVersion: '2' };
  for (const [AttributeName, AttributeValue] of Object.entries(attributes)) {
    const named = { TopicArn: topic, AttributeName, AttributeValue };
    await sns(account, { Action: 'SetTopicAttributes', ...named });
  }
  return topic;
}

/** Only SES may publish, and only for the account of the topic. */
function policyOf(topic: string): string {
  return JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      {
        ...{ Sid: 'postrider', Effect: 'Allow', Principal: { Service: 'ses.amazonaws.com' } },
        ...{ Action: 'SNS:Publish', Resource: topic },
        Condition: { StringEquals: { 'AWS:SourceAccount': topic.split(':')[4] } },
      },
    ],
  });
}

/** 50 retries within 57 minutes: SNS allows 100 within an hour. */
const deliveryPolicy = JSON.stringify({
  healthyRetryPolicy: {
    ...{ minDelayTarget: 5, maxDelayTarget: 120, numRetries: 50, backoffFunction: 'linear' },
    ...{ numNoDelayRetries: 1, numMinDelayRetries: 9, numMaxDelayRetries: 15 },
  },
});

async function subscribe(account: ReportAccount, topic: string, endpoint: string): Promise<void> {
  await sns(account, {
    ...{ Action: 'Subscribe', TopicArn: topic, Protocol: 'https', Endpoint: endpoint },
    'Attributes.entry.1.key': 'DeliveryPolicy',
    'Attributes.entry.1.value': deliveryPolicy,
  });
}

async function unsubscribe(account: ReportAccount, arn: string): Promise<void> {
  await sns(account, { Action: 'Unsubscribe', SubscriptionArn: arn });
}

type Subscription = { arn: string; endpoint: string; isConfirmed: boolean };

/** A page has a hundred; topics of ours have few. */
const pagesMax = 10;

async function subscriptionsTo(account: ReportAccount, topic: string): Promise<Subscription[]> {
  const found: Subscription[] = [];
  let next: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const xml = await sns(account, {
      ...{ Action: 'ListSubscriptionsByTopic', TopicArn: topic },
      ...(next && { NextToken: next }),
    });
    for (const [, member = ''] of xml.matchAll(/<member>([\s\S]*?)<\/member>/g)) {
      const [arn = '', endpoint = ''] = ['SubscriptionArn', 'Endpoint'].map((name) =>
        tagIn(member, name),
      );
      found.push({ arn, endpoint, isConfirmed: arn.startsWith('arn:') });
    }
    next = tagIn(xml, 'NextToken');
    if (!next) break;
  }
  return found;
}

/** Deletes a topic of our own unless others are subscribed to it. */
async function leaveTopic(account: ReportAccount, topic: string, url: ReportUrl): Promise<void> {
  const all = await subscriptionsTo(account, topic);
  const ours = all.filter(({ endpoint }) => url.isOurs(endpoint));
  const isOwn = topic === account.learned.topic_arn && !account.provider.ses?.topicArn;
  if (isOwn && ours.length === all.length) {
    await sns(account, { Action: 'DeleteTopic', TopicArn: topic });
    return;
  }
  for (const { arn, isConfirmed } of ours) if (isConfirmed) await unsubscribe(account, arn);
}

const ofType: Readonly<Record<ReportType, readonly string[]>> = {
  delivered: ['DELIVERY'],
  bounce: ['BOUNCE', 'REJECT', 'RENDERING_FAILURE'],
  complaint: ['COMPLAINT', 'SUBSCRIPTION'],
};

const setPath = ({ provider }: ReportAccount) =>
  `/v2/email/configuration-sets/${encodeURIComponent(provider.ses?.configurationSet ?? '')}`;
const destinationPath = (account: ReportAccount) =>
  `${setPath(account)}/event-destinations/${encodeURIComponent(nameOf(account))}`;

/** Makes the configuration set if there is none, and our destination of it, or changes it. */
async function setDestination(
  account: ReportAccount,
  topic: string,
  types: readonly ReportType[],
): Promise<void> {
  const path = `${setPath(account)}/event-destinations`;
  const listed = await ses(account, { method: 'GET', path, unless: [404] });
  if (listed.status === 404) {
    const json = { ConfigurationSetName: account.provider.ses?.configurationSet };
    await ses(account, { method: 'POST', path: '/v2/email/configuration-sets', json });
  }
  const destination = {
    ...{ Enabled: true, MatchingEventTypes: types.flatMap((type) => ofType[type]) },
    SnsDestination: { TopicArn: topic },
  };
  const name = nameOf(account);
  const isThere = listIn(JSON.parse(listed.body.toString() || '{}'), 'EventDestinations').some(
    (each) => textIn(each, 'Name') === name,
  );
  const json = { EventDestination: destination };
  await (isThere
    ? ses(account, { method: 'PUT', path: destinationPath(account), json })
    : ses(account, { method: 'POST', path, json: { EventDestinationName: name, ...json } }));
}

type SesCall = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  json?: unknown;
  unless?: readonly number[];
};

function ses(account: ReportAccount, { method, path, json, unless }: SesCall) {
  const region = account.provider.ses?.region ?? '';
  return signedCall(account, {
    ...{ method, service: 'ses', url: `https://${awsHost('email', region)}${path}` },
    ...{ type: 'application/json', body: json === undefined ? '' : JSON.stringify(json) },
    ...(unless && { unless }),
  });
}

/** Gives the answer, which is XML. */
async function sns(account: ReportAccount, query: Record<string, string>): Promise<string> {
  const { body } = await signedCall(account, {
    ...{ method: 'POST', service: 'sns' },
    url: `https://${awsHost('sns', account.provider.ses?.region ?? '')}/`,
    type: 'application/x-www-form-urlencoded',
    body: new URLSearchParams({ ...query, Version: '2010-03-31' }).toString(),
  });
  return body.toString();
}

type SignedCall = Pick<SesCall, 'method' | 'unless'> & {
  service: string;
  url: string;
  type: string;
  body: string;
};

function signedCall(
  account: ReportAccount,
  { method, service, url, type, body, unless = [] }: SignedCall,
): Promise<EgressAnswer> {
  const { region = '', accessKey = '', secretKey = '' } = account.provider.ses ?? {};
  const headers = signRequest({
    ...{ method, url, body, service, region, accessKey, secretKey },
    ...{ headers: body === '' ? {} : { 'content-type': type }, now: new Date() },
  });
  const call = { method, url, headers, ...(body !== '' && { body }) };
  return ask(account, call, { unless });
}

/** The text of the first element of a name. */
function tagIn(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return text
    ?.replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}
