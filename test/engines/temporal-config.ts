export const roles = ['frontend', 'history', 'matching', 'worker'] as const;
export type Role = (typeof roles)[number];
type Ports = Record<Role, { grpc: number; membership: number }>;

/** The configuration that all roles of the cluster share. */
export function clusterConfig(postgresPort: number, { username, password }: URL, ports: Ports) {
  const store = (databaseName: string) => ({
    sql: {
      pluginName: 'postgres12_pgx',
      databaseName,
      connectAddr: `127.0.0.1:${postgresPort}`,
      connectProtocol: 'tcp',
      user: username,
      password: decodeURIComponent(password),
      maxConns: 20,
      maxIdleConns: 20,
    },
  });
  const frontend = `127.0.0.1:${ports.frontend.grpc}`;
  const services = roles.map((role) => {
    const { grpc, membership } = ports[role];
    return [role, { rpc: { grpcPort: grpc, membershipPort: membership, bindOnLocalHost: true } }];
  });
  return {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: 4,
      datastores: { default: store('temporal'), visibility: store('visibility') },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: Object.fromEntries(services),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: frontend,
        },
      },
    },
    publicClient: { hostPort: frontend },
  };
}
