import type { Variables } from '#lib/env.ts';

export type TelemetryConfig = {
  /** The address of `/metrics`, beside its port. */
  metricsHost: string;
  /** The port of `/metrics`; absent for none. */
  metricsPort: number | undefined;
  /** How many integrations, and their workspaces, have metrics of their own. */
  metricsOfIntegrations: number;
  /** Where traces are sent; absent for none. */
  tracesEndpoint: string | undefined;
  /** The name of the process in traces; empty for the one that follows from what it runs. */
  tracesName: string;
};

export function readTelemetry(variables: Variables, host: string): TelemetryConfig {
  return {
    metricsHost: host,
    metricsPort: variables.optionalInteger('METRICS_PORT', {
      from: 0,
      to: 65_535,
      unset: 'none',
      about:
        'A port for `/metrics`, in the format of Prometheus, at the address of `HOST`. It asks for no token: let only your Prometheus reach it.',
    }),
    metricsOfIntegrations: variables.integer('METRICS_INTEGRATIONS', {
      fallback: 0,
      from: 0,
      to: 100,
      about:
        'How many integrations, the busiest, have metrics of their own in messages, with their ids and those of their workspaces.',
    }),
    ...readTraces(variables),
  };
}

function readTraces(variables: Variables): Pick<TelemetryConfig, 'tracesEndpoint' | 'tracesName'> {
  const tracesEndpoint = readTracesEndpoint(variables);
  const tracesName = variables.text('OTEL_SERVICE_NAME', {
    fallback: '',
    unset: '`postrider-<word>`',
    about: 'The name of the process in traces.',
  });
  // The SDK reads these by itself, as it does the other variables of OpenTelemetry.
  variables.text('OTEL_EXPORTER_OTLP_HEADERS', {
    fallback: '',
    about: 'Headers for the collector: `name=value`, several separated by commas.',
  });
  variables.text('OTEL_TRACES_SAMPLER', {
    fallback: 'parentbased_always_on',
    about:
      'Which traces are sent; `parentbased_traceidratio` for a share of those that no caller has begun.',
  });
  variables.text('OTEL_TRACES_SAMPLER_ARG', {
    fallback: '1',
    about: 'That share, from 0 to 1.',
  });
  return { tracesEndpoint, tracesName };
}

/** Absent for no traces. */
export function readTracesEndpoint(variables: Variables): string | undefined {
  const name = 'OTEL_EXPORTER_OTLP_ENDPOINT';
  const given = variables.text(name, {
    fallback: '',
    unset: 'no traces',
    about:
      'Where traces are sent, by OTLP over HTTP, such as `http://127.0.0.1:4318`. The SDK reads the other variables of OpenTelemetry by itself.',
  });
  variables.derived(() => {
    if (given !== '' && !URL.canParse(given))
      throw new Error(`${name} must be like http://127.0.0.1:4318`);
  });
  return given || undefined;
}
