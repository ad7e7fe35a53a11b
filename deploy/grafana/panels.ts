import { eventLoopSampleMs } from '#lib/process/serve-metrics.ts';

/** A panel: what it shows, its unit, and its queries by the text of their legend. */
export type Panel = { title: string; unit: string; queries: Record<string, string> };

export type Dashboard = { uid: string; title: string; panels: Panel[] };

const rate = (name: string, by = '', labels = '') =>
  `sum ${by && `by (${by}) `}(rate(${name}${labels}[$__rate_interval]))`;
const p99 = (name: string, by: string) =>
  `histogram_quantile(0.99, ${rate(`${name}_bucket`, `le, ${by}`)})`;

const http = 'http_server_request_duration_seconds';
const served = 'grpc_server_handling_seconds';
const called = 'grpc_client_handling_seconds';
const waits = 'db_client_connection_wait_time_seconds';
const attempts = 'postrider_webhook_attempt_duration_seconds';

const requests: Dashboard = {
  uid: 'postrider-requests',
  title: 'Postrider: requests',
  panels: [
    {
      title: 'Requests',
      unit: 'reqps',
      queries: { '{{http_route}}': rate(`${http}_count`, 'http_route') },
    },
    {
      title: 'Statuses',
      unit: 'reqps',
      queries: {
        '{{http_response_status_code}}': rate(`${http}_count`, 'http_response_status_code'),
      },
    },
    { title: 'Slowest of 100', unit: 's', queries: { '{{http_route}}': p99(http, 'http_route') } },
    {
      title: 'In progress',
      unit: 'short',
      queries: { '{{process}}': 'http_server_active_requests' },
    },
    {
      title: 'Calls',
      unit: 'reqps',
      queries: { '{{grpc_service}}': rate(`${served}_count`, 'grpc_service') },
    },
    {
      title: 'Failed calls',
      unit: 'reqps',
      queries: {
        '{{grpc_method}} {{grpc_code}}': rate(
          `${served}_count`,
          'grpc_method, grpc_code',
          '{grpc_code!="OK"}',
        ),
      },
    },
    {
      title: 'Slowest of 100 calls',
      unit: 's',
      queries: { '{{grpc_method}}': p99(served, 'grpc_method') },
    },
    {
      title: 'Slowest of 100 calls, as their callers see them',
      unit: 's',
      queries: { '{{grpc_method}}': p99(called, 'grpc_method') },
    },
  ],
};

const sending: Dashboard = {
  uid: 'postrider-sending',
  title: 'Postrider: mails and webhooks',
  panels: [
    {
      title: 'Messages',
      unit: 'mps',
      queries: { '{{status}}': rate('postrider_messages_total', 'status') },
    },
    {
      title: 'Reports of providers',
      unit: 'cps',
      queries: {
        '{{type}} {{class}}': rate('postrider_reports_total', 'type, class', '{state="applied"}'),
        '{{state}}': rate('postrider_reports_total', 'state', '{state!="applied"}'),
      },
    },
    {
      title: 'Integrations',
      unit: 'short',
      queries: { '{{state}}': 'sum by (state) (postrider_integrations)' },
    },
    {
      title: 'On hold: nothing is sent',
      unit: 'short',
      queries: { 'on hold': 'max(postrider_on_hold)' },
    },
    {
      title: 'Waiting',
      unit: 'short',
      queries: {
        'batches without room': 'sum(postrider_batches_waiting)',
        'messages without a connection': 'sum(postrider_provider_messages_waiting)',
        'messages held': 'sum(postrider_messages_held)',
        'outcomes not stored': 'sum(postrider_outcomes_unstored)',
      },
    },
    {
      title: 'DKIM: time until a mail is signed, p99',
      unit: 's',
      queries: { '{{process}}': p99('postrider_signing_duration_seconds', 'process') },
    },
    {
      title: 'Connections to mail servers',
      unit: 'short',
      queries: { '{{process}}': 'postrider_provider_connections_open' },
    },
    {
      title: 'Busiest integrations: held, of their window',
      unit: 'short',
      queries: {
        '{{integration_id}} held': 'postrider_integration_messages_held',
        '{{integration_id}} window': 'postrider_integration_window_messages',
      },
    },
    {
      title: 'Busiest integrations: batches waiting',
      unit: 'short',
      queries: { '{{integration_id}}': 'postrider_integration_batches_waiting' },
    },
    {
      title: 'Busiest integrations: breaker open',
      unit: 'short',
      queries: { '{{integration_id}}': 'postrider_integration_provider_breaker_open' },
    },
    {
      title: 'Busiest integrations: rate limit of a process',
      unit: 'mps',
      queries: { '{{integration_id}}': 'postrider_integration_rate_limit_per_second' },
    },
    {
      title: 'Webhook attempts',
      unit: 'ops',
      queries: { '{{result}}': rate(`${attempts}_count`, 'result') },
    },
    {
      title: 'Slowest of 100 webhook attempts',
      unit: 's',
      queries: { '{{result}}': p99(attempts, 'result') },
    },
    {
      title: 'Webhook deliveries due',
      unit: 'short',
      queries: {
        '{{kind}}': 'max by (kind) (postrider_webhook_deliveries_due)',
        'results not stored': 'sum(postrider_webhook_results_unstored)',
      },
    },
    {
      title: 'Webhook circuits open',
      unit: 'short',
      queries: { circuits: 'max(postrider_webhook_circuits_open)' },
    },
  ],
};

const processes: Dashboard = {
  uid: 'postrider-processes',
  title: 'Postrider: processes, database, jobs, workflows',
  panels: [
    {
      title: 'Processor',
      unit: 'percentunit',
      queries: { '{{process}}': rate('process_cpu_seconds_total', 'process') },
    },
    { title: 'Memory', unit: 'bytes', queries: { '{{process}}': 'process_resident_memory_bytes' } },
    {
      title: 'Event loop in use',
      unit: 'percentunit',
      queries: { '{{process}}': 'nodejs_eventloop_utilization_ratio' },
    },
    {
      title: 'Event loop delay, 99 of 100',
      unit: 's',
      queries: {
        '{{process}}': `nodejs_eventloop_lag_p99_seconds - ${eventLoopSampleMs / 1_000}`,
      },
    },
    {
      title: 'Garbage collection',
      unit: 'percentunit',
      queries: { '{{process}}': rate('nodejs_gc_duration_seconds_sum', 'process') },
    },
    {
      title: 'Database connections',
      unit: 'short',
      queries: {
        '{{pool}} {{state}}': 'sum by (pool, state) (db_client_connection_count)',
        '{{pool}} at most': 'sum by (pool) (db_client_connection_max)',
      },
    },
    {
      title: 'Waiting for a connection',
      unit: 'short',
      queries: { '{{pool}}': 'sum by (pool) (db_client_connection_pending_requests)' },
    },
    {
      title: 'Slowest of 100 waits for a connection',
      unit: 's',
      queries: { '{{pool}}': p99(waits, 'pool') },
    },
    {
      title: 'Age of the oldest due job',
      unit: 's',
      queries: { '{{task}}': 'max by (task) (postrider_job_lag_seconds)' },
    },
    {
      title: 'Jobs due, and failing',
      unit: 'short',
      queries: {
        '{{task}} due': 'max by (task) (postrider_jobs_due)',
        '{{task}} failing': 'max by (task) (postrider_jobs_failing)',
      },
    },
    {
      title: 'Jobs',
      unit: 'ops',
      queries: {
        '{{task}} {{result}}': rate('postrider_job_duration_seconds_count', 'task, result'),
      },
    },
    {
      title: 'Workflow tasks: wait for a worker, 99 of 100',
      unit: 's',
      queries: {
        '{{task_queue}}': p99(
          'temporal_workflow_task_schedule_to_start_latency_seconds',
          'task_queue',
        ),
      },
    },
    {
      title: 'Activities: wait for a worker, 99 of 100',
      unit: 's',
      queries: {
        '{{task_queue}}': p99('temporal_activity_schedule_to_start_latency_seconds', 'task_queue'),
      },
    },
    {
      title: 'Free slots of workers',
      unit: 'short',
      queries: {
        '{{task_queue}} {{worker_type}}':
          'min by (task_queue, worker_type) (temporal_worker_task_slots_available)',
      },
    },
  ],
};

export const dashboards: readonly Dashboard[] = [requests, sending, processes];
