import { type ServiceName, serviceNames } from '../postrider/parts.ts';

/** The ports of a stack: all follow from the first, which is the gateway's. */
export type Ports = {
  gateway: number;
  temporalUi: number;
  inbox: number;
  smtp: number;
  temporal: number;
  postgres: number;
  grpc: number;
  /** SMTP of `inbound`. */
  inbound: number;
  /** SMTP of `relay`. */
  relay: number;
  services: Record<ServiceName, number[]>;
  /** HTTP and gRPC of gateways beside the first. */
  moreGateways: { http: number; grpc: number }[];
  /** Of `/metrics`, by the name of the process. */
  metrics: Record<string, number>;
};

/** The first ten ports are for parts with one process; services follow, replicas ten apart. */
const firstServicePort = 10;
const replicaStep = 10;
/** After the first process of each service. */
const relayPort = 19;
/** The ports of `/metrics` follow those of all processes. */
const firstMetricsPort = 100;

/** Services with workflows, whose workers are processes of their own. */
export const servicesWithWorkflows = ['broadcasts', 'contacts', 'webhooks'] as const;

/** Processes of every kind, and of messages. */
export type ReplicaCounts = { all: number; messages: number };

export function portsFrom(base: number, replicas: ReplicaCounts): Ports {
  const first = base + firstServicePort;
  const ofService = (name: ServiceName, at: number) =>
    Array.from(
      { length: name === 'messages' ? replicas.messages : replicas.all },
      (_, replica) => first + at + replica * replicaStep,
    );
  const services = Object.fromEntries(
    serviceNames.map((name, at) => [name, ofService(name, at)]),
  ) as Ports['services'];
  return {
    metrics: metricsPorts(base, services, replicas.all),
    gateway: base,
    temporalUi: base + 1,
    inbox: base + 2,
    smtp: base + 3,
    temporal: base + 4,
    postgres: base + 5,
    grpc: base + 6,
    inbound: base + 9,
    relay: base + relayPort,
    moreGateways: replicas.all > 1 ? [{ http: base + 7, grpc: base + 8 }] : [],
    services,
  };
}

function metricsPorts(
  base: number,
  services: Ports['services'],
  replicas: number,
): Ports['metrics'] {
  const others = ['gateway', ...servicesWithWorkflows.map((name) => `${name}-worker`)];
  const ofOthers = Array.from({ length: replicas }, (_, replica) =>
    others.map((name, at) => [
      replicaName(name, replica),
      base + firstMetricsPort + at + replica * others.length,
    ]),
  );
  const ofServices = serviceNames.flatMap((name) =>
    services[name].map((port, replica) => [replicaName(name, replica), port + firstMetricsPort]),
  );
  return Object.fromEntries([...ofOthers.flat(), ...ofServices]);
}

/** The name of a process. */
export function replicaName(name: string, replica: number): string {
  return replica === 0 ? name : `${name}-${replica + 1}`;
}
