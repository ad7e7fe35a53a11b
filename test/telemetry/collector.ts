import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { urlOf } from '../../services/webhooks/test/given-endpoint.ts';

/** A span as OTLP has it in JSON. */
export type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: object }[];
};

/** Receives traces by OTLP over HTTP. */
export async function givenCollector() {
  const spans: Span[] = [];
  const server = createServer(async (request, response) => {
    spans.push(...spansIn(JSON.parse(await text(request))));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  const { origin } = new URL(await urlOf(server));
  return { endpoint: origin, spans };
}

type Export = { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };

function spansIn({ resourceSpans }: Export): Span[] {
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}
