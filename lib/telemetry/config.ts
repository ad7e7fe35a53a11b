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
};

/**
 * The SDK reads the variables of OpenTelemetry by itself; those that are read here are the
 * documented ones.
 */
export function readTelemetry(variables: Variables): TelemetryConfig {
  const port = variables.text('METRICS_PORT', '');
  const tracesEndpoint = variables.text('OTEL_EXPORTER_OTLP_ENDPOINT', '') || undefined;
  variables.derived(() => {
    if (tracesEndpoint !== undefined && !URL.canParse(tracesEndpoint)) {
      throw new Error('OTEL_EXPORTER_OTLP_ENDPOINT must be like http://127.0.0.1:4318');
    }
  });
  for (const name of ['OTEL_EXPORTER_OTLP_HEADERS', ...samplerVariables]) variables.text(name, '');
  return {
    metricsHost: variables.text('HOST', '127.0.0.1'),
    metricsPort:
      port === '' ? undefined : variables.integer('METRICS_PORT', 0, { from: 0, to: 65_535 }),
    metricsOfIntegrations: variables.integer('METRICS_INTEGRATIONS', 0, { from: 0, to: 100 }),
    tracesEndpoint,
  };
}

const samplerVariables = ['OTEL_TRACES_SAMPLER', 'OTEL_TRACES_SAMPLER_ARG'];
