/**
 * A variable of the environment; test/variables.test.ts compares the table with what the processes
 * read.
 */
export type DocumentedVariable = {
  name: string;
  fallback: string;
  about: string;
  /** Whether the variable with `_FILE` after its name may have the path of a file instead. */
  secret?: true;
};

const required = 'required';

/** By the processes that read them. `<NAME>` is a service in capitals, such as `CONTACTS`. */
export const variables: readonly [processes: string, rows: readonly DocumentedVariable[]][] = [
  [
    'Every process',
    [
      {
        name: 'SERVICE_KEYS',
        fallback: required,
        secret: true,
        about:
          'The keys of this service, and of no other: `npm run keys` makes them. Workers have those of their service. A process that runs several services has the keys of each, separated by white space.',
      },
      {
        name: '<NAME>_ADDR',
        fallback: required,
        about:
          'Where a service is: `host:port`, several separated by commas. Calls are spread over all addresses behind a name, which are looked up every 5 s. Only of services that the process calls; `WEBHOOKS_ADDR` may be left out of contacts, messages and workspaces where webhooks is not deployed.',
      },
      { name: 'LOG_LEVEL', fallback: 'info', about: '`debug`, `info`, `warn` or `error`.' },
      {
        name: 'LOG_FORMAT',
        fallback: 'json',
        about: '`json`, one object a line, or `pretty` for people.',
      },
      {
        name: 'HOST',
        fallback: '127.0.0.1',
        about: 'The address to listen on; `0.0.0.0` in a container.',
      },
      {
        name: 'HEALTH_PORT',
        fallback: '0',
        about:
          'A port for `/healthz` (200 while the process runs) and `/readyz` (200, or 503 with what is missing), in plain HTTP; `0` for none.',
      },
      {
        name: 'SHUTDOWN_DELAY_SECONDS',
        fallback: '1',
        about:
          'How long a service or the gateway serves on after SIGTERM while its health says that it goes: a little longer than a load balancer takes to notice. 0 to 60.',
      },
      {
        name: 'DEMO_MODE',
        fallback: 'false',
        about: '`true` refuses operations that would let strangers abuse a public demo.',
      },
      {
        name: 'REQUESTS_PER_SECOND_OF_KEY',
        fallback: '500',
        about:
          'Requests of one API key or user, over all processes; twice as many at once. The same value in the gateway and every service; `0` for no limit. Workers have none.',
      },
      {
        name: 'REQUESTS_PER_SECOND_OF_WORKSPACE',
        fallback: '1000',
        about: 'The same for one workspace.',
      },
      {
        name: 'REQUESTS_PER_SECOND_OF_ADDRESS',
        fallback: '2000',
        about:
          'The same for one client address (a /64 of IPv6); links and pictures of mails don\u2019t count. Behind a proxy that `TRUSTED_PROXIES` doesn\u2019t name, all clients are one.',
      },
      {
        name: 'METRICS_PORT',
        fallback: '',
        about:
          'A port for `/metrics`, in the format of Prometheus, at the address of `HOST`; without it there is none. It asks for no token: let only your Prometheus reach it.',
      },
      {
        name: 'METRICS_INTEGRATIONS',
        fallback: '0',
        about:
          'How many integrations, the busiest, have metrics of their own in messages, with their ids and those of their workspaces; at most 100.',
      },
      {
        name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
        fallback: '',
        about:
          'Where traces are sent, by OTLP over HTTP, such as `http://127.0.0.1:4318`; without it there are none. The SDK reads the other variables of OpenTelemetry by itself.',
      },
      {
        name: 'OTEL_EXPORTER_OTLP_HEADERS',
        fallback: '',
        about: 'Headers for the collector: `name=value`, several separated by commas.',
      },
      {
        name: 'OTEL_TRACES_SAMPLER',
        fallback: 'parentbased_always_on',
        about:
          'Which traces are sent; `parentbased_traceidratio` for a share of those that no caller has begun.',
      },
      { name: 'OTEL_TRACES_SAMPLER_ARG', fallback: '1', about: 'That share, from 0 to 1.' },
      {
        name: 'TLS_CA_FILE',
        fallback: '',
        about: 'The authority of services\u2019 certificates; calls to services then use TLS.',
      },
      {
        name: 'TLS_CERT_FILE',
        fallback: '',
        about: 'The certificate of a service, also shown to services that ask for one.',
      },
      { name: 'TLS_KEY_FILE', fallback: '', about: 'The key of that certificate.' },
    ],
  ],
  [
    'Gateway',
    [
      { name: 'GATEWAY_PORT', fallback: required, about: 'The port of the API and the pages.' },
      {
        name: 'GATEWAY_GRPC_PORT',
        fallback: '',
        about: 'A port for gRPC, which passes calls to all services; without it there is none.',
      },
      {
        name: 'PUBLIC_URL',
        fallback: '',
        about: 'Its address as browsers see it; with `https:` they are told to stay with HTTPS.',
      },
      {
        name: 'CONNECTIONS_MAX',
        fallback: '4096',
        about:
          'Connections of each of its two ports. A new one beyond it replaces the one that has waited longest for a request. 16 to 100,000.',
      },
      {
        name: 'CONNECTIONS_OF_ADDRESS_MAX',
        fallback: '512',
        about:
          'The same of one client address (a /64 of IPv6); those of `TRUSTED_PROXIES` have no limit of their own. 8 to 100,000.',
      },
      {
        name: 'TRUSTED_PROXIES',
        fallback: '',
        about: 'Ranges in CIDR notation, separated by commas, whose `X-Forwarded-For` is trusted.',
      },
      {
        name: 'GATEWAY_TLS_CERT_FILE',
        fallback: '',
        about: 'The certificate that browsers see; without it the gateway speaks plain HTTP.',
      },
      { name: 'GATEWAY_TLS_KEY_FILE', fallback: '', about: 'The key of that certificate.' },
      {
        name: 'GATEWAY_TLS_CLIENT_CA_FILE',
        fallback: '',
        about: 'Clients of the API must have a certificate of this authority.',
      },
    ],
  ],
  [
    'Every service, and the workers of workflows',
    [
      {
        name: '<NAME>_DATABASE_URL',
        fallback: required,
        secret: true,
        about:
          'PostgreSQL 15 or later, `postgres://user:password@host:port/database?sslmode=verify-full`, with a role that has rights to nothing else. `postrider migrate --provision` makes such roles.',
      },
      {
        name: 'DATABASE_URL',
        fallback: '',
        secret: true,
        about:
          'One URL for every service that has none of its own: its role owns the schemas of all, which are named like the services. Simpler, but a leak of it is a leak of everything.',
      },
      {
        name: 'DATABASE_CONNECTIONS',
        fallback: '10',
        about: 'Connections of a process to PostgreSQL at most, for calls and activities.',
      },
      {
        name: 'JOB_CONNECTIONS',
        fallback: '6',
        about:
          'The same for its jobs; twice as many in messages and workspaces, which have two lanes of jobs. Contacts and messages have three more for events, workers none.',
      },
      {
        name: '<NAME>_PORT',
        fallback: required,
        about: 'The port for gRPC and Connect. Workers do not listen.',
      },
      {
        name: 'TLS_CLIENT_CA_FILE',
        fallback: '',
        about: 'Callers must have a certificate of this authority.',
      },
      { name: 'REFLECTION', fallback: 'true', about: '`false` turns gRPC reflection off.' },
      {
        name: 'MIGRATE_ON_START',
        fallback: 'false',
        about: '`true` migrates the schema at the start; else `postrider migrate` does.',
      },
    ],
  ],
  [
    'Workspaces',
    [
      {
        name: 'SECRET_KEY',
        fallback: required,
        secret: true,
        about:
          'Signs in roots, at least 32 characters. Several, separated by commas: old ones, too, verify API keys and open data from before `SERVICE_KEYS`. No other process has it.',
      },
      {
        name: 'ROOT_EMAIL',
        fallback: '',
        about: 'Addresses that may sign in as root, separated by commas.',
      },
      {
        name: 'ROOT_SIGN_INS_MAX',
        fallback: '5',
        about:
          'Root sign-ins of one address in five minutes: those with a right signature. Failed ones are counted apart.',
      },
      {
        name: 'QUOTAS',
        fallback: '',
        about:
          'Quotas of every workspace that differ from the defaults, separated by commas, such as `contacts:1000000,queued_bytes:1073741824`. `workspaces.setQuotas` sets those of one workspace.',
      },
      {
        name: 'PUBLIC_URL',
        fallback: required,
        about:
          'The gateway as recipients of mails reach it: the base of links, unless a workspace has its own.',
      },
      {
        name: 'EGRESS_ALLOW',
        fallback: '',
        about: 'Private ranges in CIDR notation that mail servers of tenants may be in.',
      },
      {
        name: 'DNS_SERVERS',
        fallback: '',
        about:
          'The DNS servers for names that tenants choose: `address` or `address:port`, several separated by commas; those of `/etc/resolv.conf` by default.',
      },
    ],
  ],
  [
    'Webhooks',
    [
      {
        name: 'WEBHOOKS_PENDING_MAX',
        fallback: '100000',
        about: 'Pending deliveries of a subscription. Beyond it the oldest become `failed`.',
      },
    ],
  ],
  [
    'Broadcasts, and its worker of workflows',
    [
      {
        name: 'PUBLIC_URL',
        fallback: '',
        about:
          'The gateway as people reach it: the base of links to the pages of broadcasts; empty for no such links.',
      },
    ],
  ],
  [
    'Messages',
    [
      {
        name: 'HOLD_ON_RESTORE',
        fallback: 'true',
        about:
          'A database that was restored is put on hold: nothing is sent until `system.releaseHold`. `false` where replicas without loss are promoted routinely, which looks the same.',
      },
      {
        name: 'MESSAGES_JOURNAL',
        fallback: '',
        about:
          'A folder on a disk that outlives the process, for what was begun and sent; empty for none. At most 85 characters.',
      },
      {
        name: 'SYSTEM_SMTP_URL',
        fallback: '',
        secret: true,
        about:
          'The mail server for mail of the installation itself (sign-in codes, invitations, notices to owners), `smtps://user:password@host:465`; empty for no such mail.',
      },
      {
        name: 'MESSAGES_OUTCOME_CONNECTIONS',
        fallback: '4',
        about: 'Connections of its own for what was sent, beside those of `DATABASE_CONNECTIONS`.',
      },
      {
        name: 'MESSAGES_FACT_CONNECTIONS',
        fallback: '2',
        about: 'Connections of its own for what segments and timelines read.',
      },
      {
        name: 'SYSTEM_MAIL_FROM',
        fallback: 'postrider@localhost',
        about: 'The sender of that mail.',
      },
      {
        name: 'EGRESS_ALLOW',
        fallback: '',
        about: 'Private ranges in CIDR notation that mail servers and feeds may be in.',
      },
      {
        name: 'DNS_SERVERS',
        fallback: '',
        about:
          'The DNS servers for names that tenants choose: `address` or `address:port`, several separated by commas; those of `/etc/resolv.conf` by default.',
      },
    ],
  ],
  [
    'Services with workflows',
    [
      {
        name: 'TEMPORAL_ADDRESS',
        fallback: required,
        about: 'The frontend of Temporal, `host:port`.',
      },
      { name: 'TEMPORAL_NAMESPACE', fallback: 'default', about: 'Its namespace.' },
      {
        name: 'TEMPORAL_API_KEY',
        fallback: '',
        secret: true,
        about: 'The key of Temporal Cloud; with it, TLS is on.',
      },
      {
        name: 'TEMPORAL_TLS',
        fallback: '',
        about: '`true` for TLS by the authorities that Node knows; files below turn it on, too.',
      },
      {
        name: 'TEMPORAL_TLS_SERVER_NAME',
        fallback: '',
        about: 'The name in the server\u2019s certificate, where it is not that of the address.',
      },
      {
        name: 'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
        fallback: '',
        about: 'The authority of the server\u2019s certificate.',
      },
      {
        name: 'TEMPORAL_TLS_CLIENT_CERT_PATH',
        fallback: '',
        about: 'Our certificate, for servers that ask for one.',
      },
      { name: 'TEMPORAL_TLS_CLIENT_KEY_PATH', fallback: '', about: 'The key of that certificate.' },
      {
        name: 'WORKER_BUILD_ID',
        fallback: '',
        about:
          'Turns on worker versioning: the build of a worker in its deployment (`postrider-broadcasts`, `postrider-contacts`, `postrider-webhooks`). It takes no run before it is made the current version.',
      },
      {
        name: 'CACHE_FOLDER',
        fallback: '.postrider/cache',
        about: 'Where workers keep the bundle of workflows.',
      },
      {
        name: 'EGRESS_ALLOW',
        fallback: '',
        about: 'Private ranges in CIDR notation that feeds and webhook endpoints may be in.',
      },
      {
        name: 'DNS_SERVERS',
        fallback: '',
        about:
          'The DNS servers for names that tenants choose: `address` or `address:port`, several separated by commas; those of `/etc/resolv.conf` by default.',
      },
    ],
  ],
  [
    'Migrations',
    [
      {
        name: 'SUPERUSER_DATABASE_URL',
        fallback: '',
        secret: true,
        about:
          'For `--provision` alone: an account that may make databases and roles. The passwords of the new roles are those of the other URLs.',
      },
    ],
  ],
];
