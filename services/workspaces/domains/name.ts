import { domainToASCII } from 'node:url';
import { getDomain, parse } from 'tldts';
import validator from 'validator';
import { invalidField } from '#lib/errors/errors.ts';
import { type Algorithm, algorithms } from './domain.ts';

/** Leaves room for `<selector>._domainkey.` within the 253 characters of a host. */
const nameLengthMax = 220;
const hostLengthMax = 253;
/** Characters that `domainToASCII` would treat as escapes, ports or paths. */
const notOfDomain = /[%:/?#[\]\\@\s]/;

/** The one form of a host: lower case, ASCII, no dot at its end. Undefined if it is none. */
export function canonicalHost(text: string): string | undefined {
  const given = text.trim().toLowerCase();
  if (given.length > hostLengthMax || notOfDomain.test(given)) return undefined;
  const host = domainToASCII(given.replace(/\.$/, ''));
  return host.length <= hostLengthMax && validator.isFQDN(host) ? host : undefined;
}

/** The name of a new domain. */
export function checkedName(text: string): string {
  const name = canonicalHost(text);
  if (!name) throw invalidField('name', 'name is not a domain, such as news.example.com');
  if (name.length > nameLengthMax) {
    throw invalidField('name', `name must have at most ${nameLengthMax} characters`);
  }
  if (!getDomain(name, { allowPrivateDomains: true }) || parse(name).isIp) {
    throw invalidField('name', 'name is a public suffix, below which others have their domains');
  }
  return name;
}

/** The domain below the public suffix, where a policy of DMARC may stand. */
export function organisationalDomain(name: string): string {
  return getDomain(name, { allowPrivateDomains: true }) ?? name;
}

/** Each once, in a fixed order. */
export function checkedAlgorithms(given: readonly string[]): Algorithm[] {
  const wrong = given.find((each) => !algorithms.some((known) => known === each));
  if (wrong !== undefined) {
    throw invalidField('dkim_algorithms', `an algorithm is one of ${algorithms.join(', ')}`);
  }
  return algorithms.filter((each) => given.includes(each));
}

type Hosts = { returnPathHost: string; trackingHost: string };

export function checkedHosts(
  name: string,
  given: Hosts,
  { bounceDomain }: { bounceDomain: string },
): { return_path_host: string; tracking_host: string } {
  const hosts = {
    return_path_host: checkedHost('return_path_host', given.returnPathHost, name),
    tracking_host: checkedHost('tracking_host', given.trackingHost, name),
  };
  if (hosts.return_path_host !== '' && bounceDomain === '') {
    throw invalidField(
      'return_path_host',
      'this installation takes no mails back: its operator has not set BOUNCE_DOMAIN',
    );
  }
  if (hosts.tracking_host !== '' && hosts.tracking_host === hosts.return_path_host) {
    throw invalidField('tracking_host', 'tracking_host and return_path_host must differ');
  }
  return hosts;
}

function checkedHost(field: string, text: string, name: string): string {
  if (text === '') return '';
  const host = canonicalHost(text);
  if (!host?.endsWith(`.${name}`))
    throw invalidField(field, `${field} is not a host below ${name}`);
  return host;
}
